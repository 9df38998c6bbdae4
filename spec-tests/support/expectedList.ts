/** What a list must return, by the oracle of the fuzzer. */
import type { Resource } from '../../engine/descriptor/registry.js'
import type { Oracle } from '../../support/oracle.js'

export const expectedList = (
  oracle: Oracle,
  resource: Resource,
  parameters: Iterable<[name: string, value: string]>,
) => {
  const given = [...parameters].map(([name, value]) => {
    const integer = /^-?\d+$/.test(value) ? BigInt(value) : undefined
    return { name, written: encodeURIComponent(value), integer }
  })
  const list = oracle.list(resource, given)
  if ('rejected' in list) throw new Error(`the oracle rejects ${list.rejected}`)
  return list
}
