import { claim, decimal, defineResource, integer } from 'resource-registry-engine'

export default defineResource({
  name: 'Order line',
  area: 'Sales',
  about: 'Pieces of a product in an order. The operation "Add to order" writes it, so that the stock stays right.',
  table: 'order_lines',
  fields: {
    order_id: integer({ references: 'orders', filter: true }),
    product_id: integer({ references: 'products', filter: true }),
    quantity: integer({ min: 1, range: true }),
    price: decimal({ digits: 8, places: 2, min: '0', about: 'Of one piece, on the day of the order.' }),
    amount: decimal({ digits: 12, places: 2, min: '0', range: true, about: 'Quantity times price.' }),
  },
  required: ['order_id', 'product_id', 'quantity', 'price', 'amount'],
  create: false,
  summary: true,
  access: { read: ['manager', 'clerk', { 'order_id.customer_id': claim('customer_id') }] },
})
