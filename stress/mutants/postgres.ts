// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the code that is replaced has template strings.
/** Mutants of the storage on PostgreSQL: the rules that its own SQL carries. */
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
      find: String.raw`text.replaceAll(/[\\%_]/g, String.raw ${'`'}\$&${'`'})`,
      replace: 'text',
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
  ['conditional'],
  {
    'postgres-etag-shape': {
      rule: 'The tag changes with the shape of the rows.',
      find: "createHash('sha256').update(dialect.shape).digest('hex').slice(0, 8)",
      replace: "'shape'",
    },
  },
  'postgres',
)

const functions = mutantsOf(
  'engine/storage/postgres/functions.js',
  ['conditional'],
  {
    'postgres-etag-version': {
      rule: 'The version of a table changes with every change.',
      find: '(random() * 9223372036854775807)::bigint',
      replace: '0',
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
  ['conditional'],
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
  ['idempotency'],
  {
    'postgres-idempotency-lock': {
      rule: 'One key sent many times at once makes one row.',
      find: 'select pg_advisory_xact_lock(723811690, hashtext(?))',
      replace: 'select hashtext(?)',
    },
  },
  'postgres',
)

export const postgres = [
  ...schema,
  ...registry,
  ...search,
  ...queries,
  ...tags,
  ...functions,
  ...statements,
  ...changes,
  ...conflicts,
  ...keys,
  ...creates,
]
