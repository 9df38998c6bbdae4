/** The OpenAPI document of the project: every operation is in it, its references lead somewhere, and its examples fit its schemas. */
import { Ajv2020 } from 'ajv/dist/2020.js'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { exampleRows } from '../../engine/descriptor/access.js'
import { operationIdOf, operationNames } from '../../engine/descriptor/names.js'
import { type RowValues, updatableFields } from '../../engine/descriptor/registry.js'
import { demoRows, findBody, NoSample } from '../../engine/descriptor/sampleRows.js'
import { startService } from '../support/service.js'
import { eachProject } from '../support/tested.js'

interface Operation {
  readonly operationId?: string
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { readonly schema: object; readonly example?: unknown }>>
  }
}

await eachProject(async ({ registry, resources, settings }) => {
  const { get, send, create } = await startService(settings)
  const openapi = (await get('/openapi.json')).body
  const swagger = (await send('/swagger.json')).body

  const methods = Object.entries(openapi.paths as Record<string, Record<string, Operation>>).flatMap(([path, all]) =>
    Object.entries(all).map(([method, operation]) => ({ path, method, operation })),
  )

  const test = suite('documents')

  for (const [name, document] of Object.entries({ openapi, swagger })) {
    test(`every reference of ${name}.json leads to a part of it`, () => {
      for (const [, pointer = ''] of JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)) {
        const part = pointer
          .split('/')
          .reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], document)
        assert.ok(part, pointer)
      }
    })
  }

  test('every operation has its own name', () => {
    const names = methods.map(({ operation }) => operation.operationId)
    assert.is(new Set(names).size, names.length)
  })

  test('the examples of bodies fit their schemas', () => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false, validateSchema: false })
    ajv.addSchema(openapi, 'document')
    for (const { path, method, operation } of methods) {
      for (const [type, { example }] of Object.entries(operation.requestBody?.content ?? {})) {
        if (example === undefined || type !== 'application/json') continue
        const place = ['paths', path, method, 'requestBody', 'content', type, 'schema']
        const pointer = place.map((part) => `/${encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))}`)
        const check = ajv.compile({ $ref: `document#${pointer.join('')}` })
        assert.ok(check(example), `${method} ${path}: ${ajv.errorsText(check.errors)}`)
      }
    }
  })

  for (const resource of resources) {
    test(`${resource.path} has exactly the operations that its descriptor allows`, () => {
      const list = openapi.paths[`/v1/${resource.path}`]
      const row = openapi.paths[`/v1/${resource.path}/{item_id}`]
      assert.equal(Object.keys(list), ['get', ...(resource.create ? ['post'] : [])])
      const changes = [
        ...(updatableFields(resource).length > 0 ? ['patch'] : []),
        ...(resource.delete ? ['delete'] : []),
      ]
      assert.equal(Object.keys(row), ['get', ...changes])
      for (const [name, isAllowed, offered] of [
        ['summary', resource.summary, ['get']],
        ['import', resource.import, ['post']],
        ['changes', resource.changes, ['get']],
        ['{item_id}/history', resource.history, ['get', 'delete']],
      ] as const)
        assert.equal(Object.keys(openapi.paths[`/v1/${resource.path}/${name}`] ?? {}), isAllowed ? offered : [], name)
      assert.is(list.get.operationId, operationNames(resource).list)
    })
  }

  test('no other path is documented', () => {
    const ofResources = registry.flatMap(({ path }) =>
      ['', '/{item_id}', '/summary', '/import', '/changes', '/{item_id}/history'].map((end) => `/v1/${path}${end}`),
    )
    const ofOperations = (settings?.operations ?? []).map(({ path }) => path)
    const known = ['/', '/v1/health', '/v1/batch', ...ofResources, ...ofOperations]
    assert.equal(
      Object.keys(openapi.paths).filter((path) => !known.includes(path)),
      [],
    )
  })

  for (const { name, method, path, access } of settings?.operations ?? []) {
    test(`${method} ${path} is documented, and refuses a caller that it does not know`, async () => {
      assert.is(openapi.paths[path]?.[method.toLowerCase()]?.operationId, operationIdOf(name))
      if (access.includes('public')) return
      const { status } = await send(`/api${path.replaceAll(/\{\w+\}/g, '1')}`, { method })
      assert.is(status, 401)
    })
  }

  for (const resource of resources.filter((one) => one.create)) {
    test(`the documented create of ${resource.path} is a valid one`, async () => {
      const { example } = openapi.paths[`/v1/${resource.path}`].post.requestBody.content['application/json']
      // The documents name no row that not everybody may see.
      const hidden = resource.fields.filter(
        ({ references }) =>
          references && registry.some((one) => one.path === references && exampleRows(one).length === 0),
      )
      let body: RowValues
      try {
        body = findBody({ rows: demoRows(registry), resource, n: 1 })
      } catch (error) {
        // No create fits the demo rows.
        if (error instanceof NoSample) return
        throw error
      }
      const references = hidden.flatMap(({ name }) => (name in example ? [[name, body[name]]] : []))
      const sent = { ...example, ...Object.fromEntries(references) }
      const { status, text } = await create(resource.path, sent)
      assert.is(status, 201, `${JSON.stringify(sent)}: ${text}`)
    })
  }

  test.run()
})
