/** Adds the tags of its rows to the response of a batch: the explorer undoes a change under them. */
import * as errors from '../contract/errors.js'
import { arrayElements } from '../contract/importRows.js'
import { memberTexts } from '../descriptor/jsonText.js'
import { rowTag } from '../storage/makeWrite.js'

export const withTags = (body: Buffer): Buffer => {
  const source = String(body)
  const results = [...arrayElements(source, '{"results":['.length, /^\}$/, () => errors.internalError())]
  const tags = results.map((result) => {
    const row = memberTexts(result).get('body')
    return row === undefined ? null : rowTag(Buffer.from(row))
  })
  return Buffer.from(`${source.slice(0, -1)},"tags":${JSON.stringify(tags)}}`)
}
