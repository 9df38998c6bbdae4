import { defineHook } from 'resource-registry-engine'
import orderLines from '../resources/order-lines.ts'
import orders from '../resources/orders.ts'
import products from '../resources/products.ts'

/** A cancelled order returns its pieces to the stock, whoever cancels it: an API client, the explorer, an import. */
export default defineHook({
  resource: orders,
  on: ['update'],
  async handle({ row, previous, asService }) {
    if (row.status !== 'cancelled' || previous.status === 'cancelled') return
    const order_id = row.id
    const count = await asService.of(orderLines).count({ order_id })
    for (let offset = 0; offset < count; offset += 200) {
      const { data: lines } = await asService.of(orderLines).list({ order_id, limit: 200, offset })
      for (const { product_id, quantity } of lines) {
        const product = await asService.of(products).get(product_id)
        if (product) await asService.of(products).update(product_id, { stock: product.stock + quantity })
      }
    }
  },
})
