/** What PostgreSQL says differently. */
import { isText } from '../../descriptor/kinds/index.js'
import { idField, type Resource } from '../../descriptor/registry.js'
import { fold } from '../caseFold.js'
import type { Dialect, Source } from '../dialect.js'
import type { CatalogueTable } from '../migration/catalogue.js'
import { literal, quoted } from '../schema.js'
import { type Fragment, parameter, sql } from '../sql.js'
import {
  frameSize,
  hiddenSizes,
  idTypeIn,
  isIntegerType,
  joinedText,
  jsonSizes,
  unmanagedColumns,
} from '../unmanaged.js'
import { lettersFoldedTo, maxKeyBytes } from './functions.js'
import { callerIs } from './log.js'
import { prepared } from './prepared.js'
import { findRounded } from './rounded.js'
import { deferReferences } from './rows.js'
import {
  asciiSearchedText,
  columnOf,
  filterIndexCondition,
  hasSequence,
  keyText,
  parameterType,
  rowJson,
  searchedColumn,
  sortKey,
} from './schema.js'
import { asciiPattern, contains, indexedFrom, isLongSearch, searchValues } from './search.js'
import type { SearchIndex } from './trigrams.js'

/** Whether a filter's value is left out of the filter's index. */
const isLongText = (value: unknown): boolean =>
  [value].flat().some((text) => typeof text === 'string' && Buffer.byteLength(text) > maxKeyBytes)

/** The server has no function that tells whether a text is a date. */
const realDay = [
  '^([0-9]{4}-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))',
  '([0-9]{2}(0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)-02-29)',
].join('|')

export const postgresDialect = (index: SearchIndex): Dialect => ({
  compile: prepared,
  columnOf,
  openObject: (json) => sql`left(${json}, -1)`,
  jsonMember: (json, name) => `(${json}::json -> ${name})::text`,
  sortKey,
  keyText,
  // That of a text is the type of its column, which may be an integer's where it is a key or a reference.
  typeOf(field, isList) {
    const type = parameterType(field)
    return type && isList ? `${type}[]` : type
  },
  isIn: (list) => sql`= any(${list})`,
  // An array, so that rows are looked up by id whatever the server estimates.
  isAmong: (query) => sql`= any(array(${query}))`,
  bindList: (values) => values,
  indexPredicate: (field, { value }) => (isLongText(value) ? undefined : filterIndexCondition(field)),
  withoutIndex: (column) => column,
  isNotNull: (key) => `${key} is not null`,
  fence: '',
  isLongSearch,
  contains: (isLong) => contains('_text', isLong),
  searchValues(search) {
    const values = searchValues(index, search)
    return { ...values, ...lettersFoldedTo(values.searchText), searchWords: asciiPattern(search) }
  },
  jsonArray: 'json_agg',
  bytes: (text) => sql`${text}`,
  // With all its places, whatever the column has.
  exactSums: (value, places = 0) => [`round(sum(${value}), ${places})`],
  readSum: ([sum = 0n]) => sum,
  beginsWithDate: (text) => `${text} ~ '${realDay}' and left(${text}, 4) <> '0000'`,
  exactText: (text) => `${text} collate "C"`,
  elements: sql`jsonb_array_elements(${parameter('$rows', 'jsonb')})`,
  element: (index, type) => (type ? `cast(_e.value ->> ${index} as ${type})` : `(_e.value ->> ${index})`),
  forUpdate: ' for update',
  forChange: ' for no key update',
  forShare: ' for share',
  takeTurn: prepared(sql`select pg_advisory_xact_lock(723811692, 0)`),
  tellAgain: ', xid = pg_current_xact_id()',
  deferReferences,
  callerIs,
})

const isBigint = (text: Fragment) => sql`${text}::numeric between -9223372036854775808 and 9223372036854775807`

/** A reference by a text, of the type of the ids, so that their index finds it. */
const idOf = (resource: Resource, table: CatalogueTable | undefined): Pick<Source, 'idOf'> => {
  const type = idTypeIn(resource, table)
  if (!isText(idField(resource))) return {}
  if (isIntegerType(type))
    return {
      idOf: (reference) => sql`case when ${reference} ~ '^(0|(-|)[1-9][0-9]{0,18})$'
        then case when ${isBigint(reference)} then ${reference}::bigint end end`,
    }
  return /^character/.test(type) ? { idOf: (reference) => sql`cast(${reference} as ${type})` } : {}
}

/** That of its text, which the server knows without reading it. */
export const managedSize = (resource: Resource): string =>
  [
    frameSize(resource),
    `coalesce(octet_length(${searchedColumn}), 0)`,
    ...hiddenSizes(resource),
    ...jsonSizes(resource),
  ].join(' + ')

export const managedSource = (index: SearchIndex, resource: Resource): Source => ({
  resource,
  json: rowJson(resource),
  from: quoted(resource.table),
  byId: (alias) => `${quoted(resource.table)} as ${alias}`,
  text: searchedColumn,
  size: managedSize(resource),
  uniqueKey: (field, value) => (isText(field) ? sql`registry_key(${value})` : value),
  state: `select to_hex(state) as version, total from registry_state('${resource.table}')`,
  candidates: (search) =>
    indexedFrom(index, fold(search)) === -1
      ? undefined
      : { where: sql`${searchedColumn} like ${parameter('searchPattern')}` },
})

const takeIds = ({ table }: Resource) =>
  prepared(
    sql`select nextval(pg_get_serial_sequence(${literal(quoted(table))}, 'id')) from generate_series(1, ${parameter('$count', 'integer')})`,
  )

/** A table that the service serves as it is; `hasTrigrams` if an index finds its ASCII words, `isDistributed` if the server is a cluster. */
export const unmanagedSource = (
  resource: Resource,
  table: CatalogueTable | undefined,
  hasTrigrams: boolean,
  isDistributed: boolean,
): Source => ({
  ...unmanagedColumns(resource, table, columnOf, (column) => `${column} is not null`, { smallint: 16, integer: 32 }),
  json: rowJson(resource),
  // A table that the service has created may be distributed later, and has the same statements before.
  isSpread: isDistributed || !resource.existing,
  ...(hasSequence(resource) && { takeIds: takeIds(resource) }),
  ...idOf(resource, table),
  findRounded: findRounded(resource, table),
  // The server folds ASCII letters; of the others, those that occur in the searched text are enough.
  text: sql`translate(lower(${joinedText(resource)} collate "C"), ${parameter('foldedFrom', 'text')}, ${parameter('foldedTo', 'text')})`,
  candidates: (search) =>
    hasTrigrams && !resource.existing && asciiPattern(search) !== undefined
      ? { where: sql`${asciiSearchedText(resource)} like ${parameter('searchWords', 'text')}` }
      : undefined,
})
