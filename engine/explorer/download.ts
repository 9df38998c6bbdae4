/** The rows of a table as a file: those of its query, with the columns that it shows. */
import { type FormatName, formatNames, formats } from '../contract/formats.js'
import { queryParameters } from '../contract/parameters.js'
import { columnsParameter } from './links.js'
import { labelFields } from './names.js'
import type { Download, ResourceRequest, Visitor } from './page.js'
import { parserOf } from './tableQuery.js'

const downloadIn =
  (format: FormatName) =>
  (_: Visitor, { resource, querystring }: ResourceRequest): Download => {
    const chosen = queryParameters(querystring).get(columnsParameter(resource))?.split(',')
    const chosenFields = chosen?.filter((column) => resource.fields.some(({ name }) => name === column))
    // The table shows these too, whatever is chosen.
    const columns = chosenFields && [...new Set(['id', ...labelFields(resource), ...chosenFields])]
    return { resource, query: parserOf(resource)(querystring), format, columns }
  }

/** A page for each format. */
export const downloadPages = formatNames.map((format) => ({
  segment: `download.${formats[format].extension}`,
  page: downloadIn(format),
}))
