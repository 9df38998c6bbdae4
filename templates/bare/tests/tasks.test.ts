import { assert, startTestService, test } from 'resource-registry-engine/testing'

const service = await startTestService()

test('a new task is not done', async () => {
  const request = new Request('http://localhost/api/v1/tasks', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ title: 'Try it' }),
  })
  const response = await service.as('API_TOKEN').fetch(request)
  assert.is(response.status, 201)
  const { done } = (await response.json()) as { done: boolean }
  assert.is(done, false)
})

test.run()
