import { claim, date, defineResource, integer, text, today } from 'resource-registry-engine'

export default defineResource({
  name: 'Order',
  area: 'Sales',
  about: 'What a customer orders. Its lines are added by the operation "Add to order".',
  table: 'orders',
  fields: {
    customer_id: integer({ references: 'customers', filter: true, example: 1 }),
    title: text({
      maxLength: 80,
      example: 'Moving in',
      about: 'What people call it. Without one, it is shown by its id.',
    }),
    ordered_on: date({ default: today, sort: true, range: true }),
    deliver_by: date({ sort: true, range: true, about: 'The day on which the customer needs it.' }),
    status: text({
      oneOf: ['open', 'paid', 'shipped', 'cancelled'],
      start: ['open'],
      next: { open: ['paid', 'cancelled'], paid: ['shipped', 'cancelled'] },
      default: 'open',
      filter: true,
      tones: { open: 'warning', paid: 'info', shipped: 'good', cancelled: 'muted' },
      about: 'An open order is paid, then shipped. Cancelling it returns its pieces to the stock.',
    }),
    note: text({ maxLength: 500 }),
  },
  required: ['customer_id', 'ordered_on', 'status'],
  rules: [
    {
      fields: ['ordered_on', 'deliver_by'],
      holds: (row) => row.ordered_on <= row.deliver_by,
      message: 'deliver_by must not be before ordered_on',
    },
  ],
  create: true,
  update: ['title', 'deliver_by', 'status', 'note'],
  summary: true,
  access: {
    read: ['manager', 'clerk', { customer_id: claim('customer_id') }],
    create: ['manager', 'clerk'],
    update: ['manager', 'clerk'],
  },
})
