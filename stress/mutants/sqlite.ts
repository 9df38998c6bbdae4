// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the code that is replaced has template strings.
/** Mutants of the storage on SQLite: order, totals, search, versions, conflicts, keys, worker threads and deadlines. */
import { mutantsOf } from './mutant.js'

const schema = mutantsOf('engine/storage/sqlite/schema.js', ['freshness'], {
  'redaction-selected': {
    rule: 'A redacted column is never read.',
    find: 'if (redacted)',
    replace: 'if (false)',
    suites: ['redaction'],
  },
  'json-blob': {
    rule: 'Another program can store a blob in a text column; it is served as null.',
    find: `"typeof(??) = 'text'"`,
    replace: "'?? is not null'",
    suites: ['adoption'],
  },
  'q-joined': {
    rule: 'The searched fields are joined by a space.',
    find: "`concat_ws(' '${",
    replace: "`concat_ws(''${",
    suites: ['search'],
  },
  'etag-version': {
    rule: 'The version of a table changes with every change.',
    find: 'state = hex(randomblob(8))',
    replace: 'state = state',
  },
  'etag-version-update': {
    rule: 'An update changes the version.',
    find: "${enter} ${count('+ 0')}",
    replace: '${enter}',
  },
  'total-delete': {
    rule: 'A deleted row no longer counts.',
    find: "${count('- 1')}",
    replace: "${count('- 0')}",
  },
  'search-index-update': {
    rule: 'The search index follows updates.',
    find: '${forget} ${leave} ${find} ${enter}',
    replace: '${forget} ${leave} ${enter}',
  },
  'blocks-delete': {
    rule: 'A deleted row leaves its block of ids.',
    find: '${forget} ${leave} ${count(',
    replace: '${forget} ${count(',
  },
})

const blocks = mutantsOf('engine/storage/sqlite/blocks.js', ['freshness'], {
  'blocks-gaps': {
    rule: 'The offset is a key only where no id is missing.',
    find: 'isExact && last - first + 1 === rows',
    replace: 'true',
  },
  'blocks-skip': {
    rule: 'The rows of the blocks before a page are skipped.',
    find: 'skip -= count;',
    replace: '',
  },
})

const statements = mutantsOf('engine/storage/sqlite/statements.js', ['create'], {
  'list-order': {
    rule: 'Lists are ordered by id.',
    find: 'where id >= ? order by id ${bounded}',
    replace: 'where id >= ? order by id desc ${bounded}',
    suites: ['list'],
  },
  'list-order-search': {
    rule: 'Searches and filters are ordered by id.',
    find: 'json_each(?)) order by id`',
    replace: 'json_each(?)) order by id desc`',
    suites: ['search'],
  },
  'list-total': {
    rule: 'total counts all rows, not those of the page.',
    find: `'],"meta":{"total":', \${rowCount},`,
    replace: `'],"meta":{"total":', min(\${rowCount}, 50),`,
    suites: ['list'],
  },
  'filter-case': {
    rule: 'A filter is exact in case.',
    find: '${quoted(name)} = ?`',
    replace: '${quoted(name)} = ? collate nocase`',
    suites: ['search'],
  },
})

const conflicts = mutantsOf('engine/storage/conflicts.js', ['create'], {
  'reference-unchecked': {
    rule: 'A reference names an existing row; otherwise 422.',
    find: 'if (references) {',
    replace: 'if (false) {',
  },
  'reference-null': {
    rule: 'Null references nothing, so it is not checked.',
    find: '? is not null and',
    replace: '(? is null or true) and',
  },
  'unique-unchecked': {
    rule: 'A unique value that is taken is 422.',
    find: 'if (unique) {',
    replace: 'if (false) {',
  },
  'unique-scope': {
    rule: 'A value is unique only within the fields that the descriptor names.',
    find: ' || unique.includes(name)',
    replace: '',
  },
})

const table = mutantsOf('engine/storage/sqlite/table.js', ['list'], {
  'offset-echo': {
    rule: 'offset is echoed to the last digit.',
    find: 'shownOffset: String(plan.offset)',
    replace: 'shownOffset: String(plan.skip)',
  },
})

const lists = mutantsOf('engine/storage/sqlite/lists.js', ['search'], {
  'offset-echo-search': {
    rule: 'offset is echoed to the last digit for searches and filters too.',
    find: '"offset":${query.offset}}}`',
    replace: '"offset":${Number(query.offset)}}}`',
    suites: ['list'],
  },
  'list-total-search': {
    rule: 'total counts all matches, not those of the page.',
    find: '"total":${total},',
    replace: '"total":${ids.length},',
  },
  'filters-or': {
    rule: 'Filters are combined with AND.',
    find: '${key} between ? and ?`, ...filtered]',
    replace: "${key} between ? and ?`, filtered.join(' or ') || '1']",
  },
  'filters-and-search': {
    rule: 'Filters and q are combined with AND.',
    find: '${key} between ? and ?`, ...filtered]',
    replace: "${key} between ? and ?`, ...(q === '' ? filtered : filtered.map(() => '? is not null'))]",
  },
})

const search = mutantsOf('engine/storage/sqlite/search.js', ['search'], {
  'q-like': {
    rule: '% and _ are ordinary characters.',
    find: 'when instr(lower(text), ?) then 1',
    replace: "when lower(text) like '%' || ? || '%' then 1",
  },
  'q-quotes': {
    rule: 'Quotes are ordinary characters.',
    find: `trigram.replaceAll('"', '""')`,
    replace: 'trigram',
  },
  'q-beyond-ascii': {
    rule: 'Search ignores the case of letters beyond ASCII.',
    find: 'else registry_contains(text) end',
    replace: 'else 0 end',
  },
  'q-other-ascii-case': {
    rule: 'k also matches the Kelvin sign, and s the long s.',
    find: String.raw`[\0-jl-rt-\x7f\P`,
    replace: String.raw`[\0-\x7f\P`,
  },
  'q-unindexed-letters': {
    rule: 'The index is not queried for letters that it folds differently.',
    find: 'if (!unindexed.test(trigram))',
    replace: 'if (true)',
  },
  'q-containment': {
    rule: 'A row that has the trigrams of a text must also contain the text.',
    find: 'when instr(lower(text), ?) then 1',
    replace: "when ? <> '' then 1",
  },
  'q-containment-long': {
    rule: 'A row that has the trigrams of a long text must also contain the text.',
    find: 'then registry_contains(text)',
    replace: 'then 1',
  },
  'deadline-long-texts': {
    rule: 'A search of long texts ends at its deadline.',
    find: 'if (performance.now() > deadline)',
    replace: 'if (false)',
    suites: ['sqlite.deadline'],
  },
})

const steps = mutantsOf('engine/storage/sqlite/steps.js', ['large'], {
  'deadline-many-rows': {
    rule: 'A read of many rows ends at its deadline.',
    find: 'if (started > deadline)',
    replace: 'if (false)',
    suites: ['sqlite.deadline'],
  },
  'page-full': {
    rule: 'A page that is found in several steps has at most limit rows.',
    find: 'from + limit - ids.length',
    replace: 'from + limit',
  },
  'page-offset': {
    rule: 'An offset is counted over all steps.',
    find: 'Math.max(0, skip - total)',
    replace: 'skip',
  },
})

const versions = mutantsOf('engine/storage/sqlite/commitCounter.js', ['freshness'], {
  'etag-other-process': {
    rule: 'The commit of another process expires what was read before.',
    find: 'if (now !== last)',
    replace: 'if (last === undefined)',
  },
})

const keys = mutantsOf('engine/storage/keys.js', ['idempotency'], {
  'idempotency-digest': {
    rule: 'A key with another body is refused.',
    find: 'digest === retry.digest',
    replace: 'true',
  },
  'idempotency-long-lifetime': {
    rule: 'A key is forgotten after 24 hours.',
    find: '24 * 60 * 60 * 1000',
    replace: '25 * 60 * 60 * 1000',
  },
  'idempotency-short-lifetime': {
    rule: 'A key is valid for 24 hours.',
    find: '24 * 60 * 60 * 1000',
    replace: '23 * 60 * 60 * 1000',
  },
})

const writes = mutantsOf('engine/storage/sqlite/writes.js', ['idempotency'], {
  'idempotency-replayed': {
    rule: 'A create with a known key returns the first result and stores nothing.',
    find: 'if (stored)',
    replace: 'if (false)',
  },
  'idempotency-pruned': {
    rule: 'Expired keys are deleted.',
    find: 'prepare(retry.sql.prune).run();',
    replace: '',
  },
  'not-stored-503': {
    rule: '503 means not stored: a file that was moved away takes no commit.',
    find: 'writes.map(tryToStore);\n            checkFile();',
    replace: 'writes.map(tryToStore);',
    suites: ['sqlite.faults'],
  },
  'fails-alone': {
    rule: 'A create that the database refuses fails alone, not those that share its commit.',
    find: 'if (!database.inTransaction)',
    replace: 'if (true)',
    suites: ['constraints'],
  },
})

const errors = mutantsOf('engine/storage/sqlite/errors.js', ['constraints'], {
  'unknown-refusal-500': {
    rule: 'What the database refuses for an unknown reason is 500, never 503.',
    find: 'isTransient(error) ?',
    replace: 'true ?',
  },
})

const writeQueue = mutantsOf('engine/storage/sqlite/writeQueue.js', ['sqlite.workers'], {
  'commit-uncertain': {
    rule: 'A commit whose worker died has an unknown outcome, which the message states.',
    find: 'error instanceof WorkerDied ?',
    replace: 'false ?',
  },
})

const workers = mutantsOf('engine/storage/sqlite/worker.js', ['sqlite.workers'], {
  'worker-reply-id': {
    rule: 'A reply belongs to the task whose id it has.',
    find: 'if (id !== running?.id)',
    replace: 'if (!running)',
  },
  'worker-dead-events': {
    rule: 'The events of a dead worker do not concern its successor.',
    find: 'if (dead !== worker)',
    replace: 'if (false)',
  },
})

const names = mutantsOf('engine/storage/schema.js', ['tableNames'], {
  'names-ambiguous': {
    rule: 'Objects that are derived from two tables have different names.',
    find: "isAmbiguous(table) ? '$_' : '_'",
    replace: "'_'",
  },
})

const uniqueDrift = mutantsOf('engine/storage/migration/uniqueDrift.js', ['changes'], {
  'unique-filled': {
    rule: 'Rows that will share a default are found before the column is added.',
    find: 'isFilled ? null : undefined',
    replace: 'undefined',
  },
})

export const sqlite = [
  ...names,
  ...uniqueDrift,
  ...schema,
  ...blocks,
  ...statements,
  ...conflicts,
  ...table,
  ...lists,
  ...search,
  ...steps,
  ...versions,
  ...keys,
  ...writes,
  ...errors,
  ...writeQueue,
  ...workers,
]
