// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the code that is replaced has template strings.
/** Mutants of the rules of reads: parameters, ids, redaction, letter case and the response cache. */
import { mutantsOf } from './mutant.js'

const integers = mutantsOf('engine/contract/integers.js', ['list'], {
  'integer-spaces': {
    rule: 'White space around an integer does not count.',
    find: 'integerGrammar.exec(trim(input))',
    replace: 'integerGrammar.exec(input)',
  },
  'integer-size': {
    rule: 'An integer of more than 4,300 digits is refused by its size.',
    find: 'const maxLength = 4300',
    replace: 'const maxLength = 4301',
  },
})

const parameters = mutantsOf('engine/contract/parameters.js', ['search'], {
  'limit-most': { rule: 'limit is at most 200.', find: '.max(200)', replace: '.max(201)', suites: ['list'] },
  'limit-least': { rule: 'limit is at least 1.', find: '.min(1)', replace: '.min(0)', suites: ['list'] },
  'limit-default': { rule: 'limit is 50 by default.', find: '.default(50)', replace: '.default(20)', suites: ['list'] },
  'offset-least': { rule: 'offset is at least 0.', find: '.min(0)', replace: '.min(-1)', suites: ['list'] },
  'parameter-repeated': {
    rule: 'Of a repeated parameter the last counts.',
    find: 'new Map(new URLSearchParams(querystring))',
    replace: 'new Map([...new URLSearchParams(querystring)].reverse())',
    suites: ['list'],
  },
  'parameter-all-faults': {
    rule: 'All invalid parameters are reported at once.',
    find: 'parametersInvalid(issues)',
    replace: 'parametersInvalid(issues.slice(0, 1))',
    suites: ['list'],
  },
  'filters-ignored': {
    rule: 'Filters apply.',
    find: 'q: String(q).trim(), filters }',
    replace: 'q: String(q).trim(), filters: {} }',
  },
  'q-trimmed': {
    rule: 'White space around q does not count.',
    find: 'String(q).trim()',
    replace: 'String(q)',
  },
  'id-spelling': {
    rule: 'A row has one id: 007 is not 7.',
    find: String.raw`/^[1-9]\d{0,15}$/`,
    replace: String.raw`/^\d{1,16}$/`,
    suites: ['get'],
  },
  'id-nul': {
    rule: 'An id with a NUL is 422.',
    find: 'z.object({ item_id: storableText()',
    replace: 'z.object({ item_id: z.string()',
    suites: ['get'],
  },
})

const queries = mutantsOf('engine/storage/plan.js', ['search'], {
  'filter-beyond-integers': {
    rule: 'An integer that no column can store matches nothing.',
    find: 'value > maxInteger || value < -maxInteger',
    replace: 'false',
  },
  'offset-echo-empty': {
    rule: 'offset is echoed where no row can match.',
    find: '"offset":${offset}}}`',
    replace: '"offset":0}}`',
    suites: ['list'],
  },
  'cache-key-filters': {
    rule: 'Each value of a filter has its own response.',
    find: 'String(filters[name])',
    replace: 'typeof filters[name]',
  },
  'cache-key-search': { rule: 'Each q has its own response.', find: 'return `${key}q=${q}`;', replace: 'return key;' },
})

const cached = mutantsOf('engine/storage/table.js', ['freshness'], {
  'etag-stale-cache': {
    rule: 'A cached response is used only while its table has not changed.',
    find: 'entry !== undefined && entry.tag === (await tag())',
    replace: 'entry !== undefined',
  },
})

const registry = mutantsOf('engine/descriptor/registry.js', ['redaction'], {
  'redaction-searched': {
    rule: 'A redacted field is not searched.',
    find: "field.kind === 'text' && !field.redacted",
    replace: "field.kind === 'text'",
  },
})

const letters = mutantsOf('engine/storage/caseFold.js', ['search'], {
  'q-case': {
    rule: 'Search ignores case.',
    find: 'return text.toLowerCase();',
    replace: 'return text;',
  },
  'q-case-any-script': {
    rule: 'Search ignores case in every script, also where a letter has several lower cases.',
    find: 'regular[irregular.indexOf(part)] ?? part.toLowerCase()',
    replace: 'part.toLowerCase()',
    suites: ['literal'],
  },
  'contains-repeated': {
    rule: 'A long text is found behind a beginning that repeats.',
    find: 'matched = lengths[matched - 1];',
    replace: 'matched = 0;',
    suites: ['caseFold'],
  },
  'contains-prefixes': {
    rule: 'The prefixes of a long text are those that repeat.',
    find: 'length = lengths[length - 1];',
    replace: 'length = 0;',
    suites: ['caseFold'],
  },
  'contains-linear': {
    rule: 'The cost of a search is linear in the text.',
    find: 'if (pattern.length <= shortPattern)',
    replace: 'if (true)',
    suites: ['bounds'],
  },
})

export const reads = [...integers, ...parameters, ...queries, ...cached, ...registry, ...letters]
