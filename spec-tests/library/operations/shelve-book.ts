import { defineOperation, z } from 'resource-registry-engine'
import books from '../resources/books.ts'

export default defineOperation({
  method: 'POST',
  path: '/v1/books/{book_id}/shelve',
  about: 'Puts a new book on a shelf.',
  access: 'clerk',
  body: z.object({ shelf: z.string() }),
  response: z.object({ id: z.string() }),
  async handle({ params, body, of }) {
    const id = params['book_id'] ?? ''
    await of(books).update(id, { shelf_id: body.shelf, state: 'shelved' })
    return { id }
  },
})
