// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the code that is replaced has template strings.
/** Mutants of the storage on PostgreSQL: the rules that its SQL implements. */
import { mutantsOf } from './mutant.js'

const schema = mutantsOf(
  'engine/storage/postgres/schema.js',
  ['redaction'],
  {
    'postgres-redaction-selected': {
      rule: 'A redacted column is never read.',
      find: 'if (redacted)',
      replace: 'if (false)',
    },
  },
  'postgres',
)

const registry = mutantsOf(
  'engine/descriptor/registry.js',
  ['redaction'],
  {
    'postgres-redaction-searched': {
      rule: 'A redacted field is not searched.',
      find: "field.kind === 'text' && !field.redacted",
      replace: "field.kind === 'text'",
    },
  },
  'postgres',
)

const search = mutantsOf(
  'engine/storage/postgres/search.js',
  ['search'],
  {
    'postgres-q-like': {
      rule: '% and _ are ordinary characters.',
      find: String.raw`word.replaceAll(/[\\%_]/g, String.raw ${'`'}\$&${'`'})`,
      replace: 'word',
    },
    'postgres-q-words': {
      rule: 'What is between the words of a search counts.',
      find: '!isLongSearch(q) && Object.values(betweenWords).every((separator) => !separator.test(fold(q)))',
      replace: '!isLongSearch(q)',
    },
  },
  'postgres',
)

const queries = mutantsOf(
  'engine/storage/plan.js',
  ['search'],
  {
    'postgres-q-nul': {
      rule: 'A NUL in q matches nothing.',
      find: 'isUnstorable(q) ||',
      replace: '',
    },
  },
  'postgres',
)

const tags = mutantsOf(
  'engine/storage/table.js',
  ['freshness'],
  {
    'postgres-etag-shape': {
      rule: 'The tag changes with the shape of the rows.',
      find: "createHash('sha256').update(dialect.shape).digest('hex').slice(0, 8)",
      replace: "'shape'",
    },
  },
  'postgres',
)

const changeLog = mutantsOf(
  'engine/storage/postgres/changeLog.js',
  ['freshness'],
  {
    'postgres-etag-version': {
      rule: 'The version of a table changes with every change.',
      find: '(random() * 9223372036854775807)::bigint',
      replace: '0',
    },
  },
  'postgres',
)

const changeSums = mutantsOf(
  'engine/storage/postgres/changeSums.js',
  ['changeLog'],
  {
    'postgres-log-running': {
      rule: 'A transaction that runs during a compaction is counted when it ends.',
      find: ' union all select one, one from unnest(last.ended) as one',
      replace: '',
    },
    'postgres-log-restored': {
      rule: 'A state that another server wrote is not used.',
      find: 'xmin = xid::xid',
      replace: 'true',
    },
    'postgres-log-plans': {
      rule: 'Reads do not go through changes that have been compacted.',
      find: 'set enable_seqscan = off set enable_bitmapscan = off',
      replace: '',
    },
  },
  'postgres',
)

const statements = mutantsOf(
  'engine/storage/postgres/statements.js',
  ['search'],
  {
    'postgres-list-order': {
      rule: 'Lists are ordered by id.',
      find: "string_agg(${rowJson(resource)}, ',' order by id)",
      replace: "string_agg(${rowJson(resource)}, ',' order by id desc)",
    },
    'postgres-filters-or': {
      rule: 'Filters are combined with AND.',
      find: 'query.where(name, named(name, integerType(field)))',
      replace: 'query.orWhere(name, named(name, integerType(field)))',
    },
    'postgres-total': {
      rule: 'total counts all matches, not those of the page.',
      find: "knex('_matches').count()",
      replace: "knex('_found').count()",
    },
  },
  'postgres',
)

const changes = mutantsOf(
  'engine/storage/postgres/changes.js',
  ['freshness'],
  {
    'postgres-blocks-gaps': {
      rule: 'The offset is a key only where no id is missing.',
      find: 'max(id)::numeric - min(id) + 1 = (select total from _state) and ',
      replace: '',
    },
  },
  'postgres',
)

const conflicts = mutantsOf(
  'engine/storage/conflicts.js',
  ['create'],
  {
    'postgres-reference-unchecked': {
      rule: 'A reference names an existing row; otherwise 422.',
      find: 'if (references) {',
      replace: 'if (false) {',
    },
  },
  'postgres',
)

const keys = mutantsOf(
  'engine/storage/keys.js',
  ['idempotency'],
  {
    'postgres-idempotency-long-lifetime': {
      rule: 'A key is forgotten after 24 hours.',
      find: '24 * 60 * 60 * 1000',
      replace: '25 * 60 * 60 * 1000',
    },
    'postgres-idempotency-short-lifetime': {
      rule: 'A key is valid for 24 hours.',
      find: '24 * 60 * 60 * 1000',
      replace: '23 * 60 * 60 * 1000',
    },
    'postgres-idempotency-digest': {
      rule: 'A key with another body is refused.',
      find: 'digest === retry.digest',
      replace: 'true',
    },
  },
  'postgres',
)

const creates = mutantsOf(
  'engine/storage/postgres/create.js',
  ['postgres.pool'],
  {
    'postgres-idempotency-concurrent': {
      rule: 'One key sent many times at once makes one row.',
      find: 'keys.store(key)',
      replace: "keys.store(key).onConflict('key').ignore()",
    },
  },
  'postgres',
)

const slots = mutantsOf(
  'engine/storage/postgres/slots.js',
  ['postgres.pool'],
  {
    'postgres-pool-preempt': {
      rule: 'A locked table does not take all connections.',
      find: 'one.preempt();',
      replace: '',
    },
  },
  'postgres',
)

const connections = mutantsOf(
  'engine/storage/postgres/connections.js',
  ['postgres.pool'],
  {
    'postgres-pool-lock-timeout': {
      rule: 'A request for a locked table gets 503 after POOL_WAIT_MS.',
      find: 'String(Math.min(waitMs, statementMs))',
      replace: "'0'",
    },
    'postgres-pool-leavers': {
      rule: 'A client that leaves cancels its statement.',
      find: "caller?.once('close', cancel);",
      replace: '',
    },
  },
  'postgres',
)

const errors = mutantsOf(
  'engine/storage/postgres/errors.js',
  ['postgres.pool'],
  {
    'postgres-pool-idle-session': {
      rule: 'A session that the server ended because it was idle is replaced.',
      find: '57P01|57P05)$/',
      replace: '57P01)$/',
    },
  },
  'postgres',
)

const migration = mutantsOf(
  'engine/storage/postgres/migration.js',
  ['drift'],
  {
    'postgres-migration-triggers': {
      rule: 'Changes are counted whatever the session_replication_role.',
      find: 'enable always trigger',
      replace: 'enable trigger',
    },
    'postgres-migration-counts': {
      rule: 'The rows of a table are counted again when its triggers were not in use.',
      find: "`select registry_recount('${resource.table}')`",
      replace: "'select 1'",
      suites: ['drift'],
    },
    'postgres-migration-text': {
      rule: 'Searched text that differs from the fields is found.',
      find: 'where ${isSearchedWrong(resource)}',
      replace: 'where false',
      suites: ['drift'],
    },
  },
  'postgres',
)

const migrationSteps = mutantsOf(
  'engine/storage/postgres/migrationSteps.js',
  ['upgrade'],
  {
    'postgres-migration-leftover': {
      rule: 'An index build that was interrupted is repeated.',
      find: '`drop index concurrently if exists ${unfinishedIndex}`',
      replace: "'select 1'",
    },
  },
  'postgres',
)

const drift = mutantsOf(
  'engine/storage/migration/countDrift.js',
  ['drift'],
  {
    'postgres-drift-sample': {
      rule: 'A start notices that stored counts differ from the rows.',
      find: '<> coalesce((select rows from stored where stored.block = sampled.block), 0)',
      replace: '< 0',
    },
  },
  'postgres',
)

export const postgres = [
  ...migration,
  ...migrationSteps,
  ...drift,
  ...schema,
  ...registry,
  ...search,
  ...queries,
  ...tags,
  ...changeLog,
  ...changeSums,
  ...statements,
  ...changes,
  ...conflicts,
  ...keys,
  ...creates,
  ...slots,
  ...connections,
  ...errors,
]
