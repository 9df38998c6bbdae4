import { ApiError, defineOperation, z } from 'resource-registry-engine'
import orderLines from '../resources/order-lines.ts'
import orders from '../resources/orders.ts'
import products from '../resources/products.ts'

/** One transaction: the line and the new stock are both stored, or neither, whoever orders at the same time. */
export default defineOperation({
  method: 'POST',
  path: '/v1/orders/{order_id}/products/{product_id}',
  about: 'Adds pieces of a product to an open order, and takes them out of the stock.',
  area: 'Sales',
  access: ['manager', 'clerk'],
  body: z.object({ quantity: z.int().min(1).max(1000) }),
  response: z.object({ line: z.int(), amount: z.string(), left: z.int() }),
  async handle({ params, body: { quantity }, of, asService }) {
    const order = await of(orders).get(Number(params['order_id']))
    if (!order) throw new ApiError(404, 'not_found', 'There is no such order.')
    if (order.status !== 'open') throw new ApiError(409, 'not_open', `This order is ${order.status}.`)
    const product = await of(products).get(Number(params['product_id']))
    if (!product) throw new ApiError(404, 'not_found', 'There is no such product.')
    if (product.stock < quantity)
      throw new ApiError(409, 'sold_out', `There are ${product.stock} pieces of ${product.name} left, not ${quantity}.`)
    // Clerks may change neither products nor lines, so the service does.
    const { stock } = await asService.of(products).update(product.id, { stock: product.stock - quantity })
    const line = await asService.of(orderLines).create({
      order_id: order.id,
      product_id: product.id,
      quantity,
      price: product.price,
      amount: (Number(product.price) * quantity).toFixed(2),
    })
    return { line: line.id, amount: line.amount, left: stock }
  },
})
