import { defineOperation, z } from 'resource-registry-engine'

export default defineOperation({
  method: 'POST',
  path: '/v1/books/{book_id}/shelve',
  about: 'Puts a new book on a shelf.',
  access: 'clerk',
  body: z.object({ shelf: z.string() }),
  response: z.object({ id: z.string() }),
  async handle({ params, body, batch }) {
    const { book_id: id = '' } = params
    await batch([{ method: 'PATCH', path: `/v1/books/${id}`, body: { shelf_id: body.shelf, state: 'shelved' } }])
    return { id }
  },
})
