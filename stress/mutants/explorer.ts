// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the code that is replaced has template strings.
/** Mutants of the rules of the explorer and of downloads. */
import { mutantsOf } from './mutant.js'

const templates = mutantsOf('engine/explorer/html.js', ['explorer.test'], {
  'html-escaped': {
    rule: 'Every value of a page is escaped.',
    find: '.replaceAll(/[&<>"\']/g',
    replace: '.replaceAll(/[&]/g',
  },
  'html-quotes': {
    rule: 'Quotes are escaped, so that no value leaves its attribute.',
    find: '.replaceAll(/[&<>"\']/g',
    replace: '.replaceAll(/[&<>]/g',
  },
})

const excerpts = mutantsOf('engine/explorer/excerpt.js', ['explorer.test'], {
  'excerpt-length': {
    rule: 'A table has excerpts of long texts.',
    find: 'const excerptLength = 2_000',
    replace: 'const excerptLength = 2_000_000',
  },
})

const downloads = mutantsOf('engine/http/download.js', ['download'], {
  'accept-quality': {
    rule: 'A format that the client refuses is not sent.',
    find: "ctx.accepts('application/json; charset=utf-8', ",
    replace: 'ctx.accepts(',
  },
})

const csv = mutantsOf('engine/http/csv.js', ['download'], {
  'csv-null': {
    rule: 'Null and the empty string differ in CSV.',
    find: "text === '' || ",
    replace: '',
  },
  'csv-quotes': {
    rule: 'Quotes in CSV are doubled.',
    find: `replaceAll('"', '""')`,
    replace: `replaceAll('"', '"')`,
  },
})

const streams = mutantsOf('engine/storage/sqlite/parts.js', ['download'], {
  'stream-parts': {
    rule: 'The next part of a stream begins after the last row that was sent.',
    find: 'last: id }',
    replace: 'last }',
  },
})

export const explorer = [...templates, ...excerpts, ...downloads, ...csv, ...streams]
