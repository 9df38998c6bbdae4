import { claim, defineResource, now, text, timestamp, uuid } from 'resource-registry-engine'

export default defineResource({
  name: 'Reader',
  area: 'People',
  about: 'Somebody who borrows books.',
  table: 'readers',
  id: 'uuid',
  fields: {
    name: text({ minLength: 1, sort: true }),
    branch: text({ filter: true }),
    card: uuid({ unique: true }),
    note: text({ readBy: ['head'] }),
    pin: text({ redacted: true }),
    joined: timestamp({ managed: now }),
  },
  required: ['name', 'joined'],
  create: true,
  update: true,
  delete: true,
  access: {
    read: ['head', 'clerk', { branch: claim('branch') }],
    create: ['head', { branch: claim('branch') }],
    update: 'head',
  },
})
