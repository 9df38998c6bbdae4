/** A made-up registry of every shape that a descriptor can have; the suites run on it beside the real resources. */
import type { Descriptor } from '../../engine/descriptor/define.js'
import {
  boolean,
  claim,
  date,
  decimal,
  integer,
  json,
  now,
  number,
  text,
  timestamp,
  today,
  uuid,
} from '../../engine/descriptor/index.js'
import type { Registry } from '../../engine/descriptor/registry.js'
import { registryFrom } from './registryFrom.js'

let count = 0

const descriptors = {
  'sink-basins': {
    fields: {
      title: text(),
      serial: integer({ unique: true, filter: true }),
      place: integer({ unique: true, min: 1, max: 9999 }),
    },
    required: ['title', 'serial'],
    changes: true,
    history: { days: 30 },
  },
  'sink-bowls': {
    about: 'Required unique references, "alone" and `within` others.',
    fields: {
      basin_id: integer({ references: 'sink-basins', unique: true, filter: true }),
      other_basin_id: integer({ references: 'sink-basins', unique: ['basin_id'] }),
      number: integer({ unique: true }),
      code: text({ unique: true, filter: true }),
      place: text({ unique: ['code', 'basin_id'], filter: true, example: 'left' }),
    },
    required: ['basin_id', 'other_basin_id', 'number', 'code', 'place'],
  },
  'sink-guards': {
    about: 'Rows that some may use, with fields that some see or set.',
    fields: {
      owner: integer({ filter: true, sort: true }),
      team: text({ filter: true, oneOf: ['red', 'blue', 'green'] }),
      title: text(),
      amount: integer({ range: true, filter: true }),
      secret: text({ readBy: ['chief'], filter: true, sort: true }),
      grade: text({ writeBy: 'chief', default: 'new', filter: true }),
      seal: integer({ writeBy: ['chief', 'keeper'], unique: true }),
      basin_id: integer({ references: 'sink-basins', filter: true }),
    },
    required: ['title', 'grade'],
    summary: true,
    import: true,
    history: true,
    access: {
      read: ['chief', { owner: claim('owner') }, { team: claim('teams') }],
      create: ['chief', { owner: claim('owner'), team: claim('teams') }],
      update: ['chief', { owner: claim('owner') }],
      delete: 'chief',
    },
  },
  'sink-keepers': {
    about: 'Rules that follow one reference, and two.',
    fields: {
      title: text({ sort: true }),
      guard_id: integer({ references: 'sink-guards', filter: true, onDelete: 'cascade' }),
      keeper_id: integer({ references: 'sink-keepers', filter: true, onDelete: 'set null' }),
      level: integer({ filter: true }),
    },
    required: ['title'],
    access: {
      read: ['chief', { 'guard_id.team': claim('teams') }, { 'keeper_id.guard_id.owner': claim('owner') }],
      create: ['chief', { 'guard_id.team': claim('teams') }],
      update: ['chief', { 'guard_id.team': claim('teams'), level: claim('levels') }],
      delete: { 'keeper_id.guard_id.owner': claim('owner') },
    },
  },
  'sink-clocks': {
    fields: {
      due: text({ default: today, filter: true }),
      noted: text({ default: now }),
      unique_day: text({ default: today, unique: true }),
      checked: text({ default: today }),
      counted: integer({ default: () => 7, filter: true }),
      weighed: number({ default: () => 0.5 }),
      stamped: text({ managed: now, filter: true }),
      day: text({ managed: today, onUpdate: today }),
      changed: timestamp({ managed: now, onUpdate: now }),
      serial: text({ managed: () => `serial ${count++}`, unique: true }),
    },
    required: ['due', 'noted', 'counted', 'stamped', 'serial'],
    update: ['due', 'unique_day', 'weighed'],
    delete: false,
  },
  'sink-constants': {
    fields: {
      empty: text({ default: '' }),
      zero: integer({ default: 0, filter: true }),
      nothing: number({ default: 0 }),
      word: text({ default: 'it\'s `quoted` "twice" \\ 100%', filter: true }),
      basin_id: integer({ references: 'sink-basins', default: 1, filter: true }),
      scoped: text({ default: 'first', unique: ['basin_id'] }),
    },
    required: ['empty', 'zero', 'word', 'basin_id'],
  },
  'sink-drains': {
    name: '3D drain (hidden)',
    plural: '3D drains (hidden)',
    fields: {
      secret: text({ redacted: true, default: 'not for clients' }),
      pin: integer({ redacted: true }),
      weight: number({ redacted: true, managed: () => 12.5 }),
      owner_id: integer({ redacted: true, references: 'sink-basins', onDelete: 'set null' }),
      shown: text({ filter: true }),
    },
    required: [],
  },
  'sink-managed': {
    plural: 'Sink managed',
    fields: {
      created: text({ managed: now }),
      number: number({ managed: () => 1.5 }),
      later: text({ managed: true, filter: true, unique: true }),
      basin_id: integer({ managed: true, references: 'sink-basins', onDelete: 'set null' }),
    },
    required: ['created', 'number'],
    update: false,
  },
  'sink-names': {
    about: 'Names that differ by a letter, are as long as they can be, or are words of SQL and of the engine.',
    fields: {
      a: text({ filter: true }),
      ax: text({ filter: true }),
      [`${'a'.repeat(59)}b`]: text({ unique: true, filter: true, sort: true }),
      [`${'a'.repeat(59)}c`]: integer({ unique: [`${'a'.repeat(59)}b`], filter: true }),
      unknown_field: integer(),
      ...Object.fromEntries(
        ['body', 'conflicts', 'json', 'key', 'r', 'row', 'tag', 'value'].map((name) => [name, text()]),
      ),
      ...Object.fromEntries(['block', 'total', 'version'].map((name) => [name, number()])),
    },
    required: ['a'],
    delete: false,
  },
  'sink-numbers': {
    table: 'page',
    fields: {
      a: number({ filter: true, sort: true }),
      b: integer({ filter: true, range: true }),
      c: number({ default: 1e-7, example: 2.5, sort: true, range: true }),
    },
    required: ['a'],
  },
  'sink-pipes': {
    fields: {
      title: text({ format: 'date' }),
      parent_id: integer({ references: 'sink-pipes', onDelete: 'cascade', filter: true }),
      twin_id: integer({ references: 'sink-pipes', unique: true }),
      valve_id: integer({ references: 'sink-valves', onDelete: 'set null' }),
    },
    required: ['title'],
  },
  'sink-roots': {
    table: 'select',
    fields: {
      root_id: integer({ references: 'sink-roots' }),
      order: text({ filter: true, sort: true }),
      select: text({ sort: true }),
    },
    required: ['root_id', 'select'],
    create: false,
    update: false,
    delete: false,
  },
  'sink-valves': {
    table: 'found',
    fields: {
      pipe_id: integer({ references: 'sink-pipes', onDelete: 'cascade', filter: true, unique: ['side'] }),
      side: text({ filter: true, default: 'left' }),
      [`long_${'name_'.repeat(11)}`]: text({ filter: true, unique: true }),
      [`long_${'name_'.repeat(10)}b`]: integer({ filter: true, unique: true }),
    },
    required: ['pipe_id'],
  },
  'sink-kinds': {
    about: 'Every kind and every rule.',
    fields: {
      title: text({ minLength: 1, maxLength: 40, sort: true }),
      state: text({ oneOf: ['open', 'in progress', 'closed'], default: 'open', filter: true }),
      code: text({ pattern: '[A-Z]{2,3}-\\d+', maxLength: 12, example: 'AB-12', filter: true }),
      serial: text({ pattern: '\\d{13}', maxLength: 13, unique: true, example: '4006381333931' }),
      priority: integer({ oneOf: [1, 2, 3], filter: true }),
      level: integer({ min: -5, max: 5, default: 0, filter: true, sort: true, range: true }),
      share: number({ min: 0, max: 1 }),
      done: boolean({ default: false, filter: true }),
      agreed: boolean({ filter: true, sort: true }),
      due: date({ min: '2020-01-01', filter: true, sort: true, range: true }),
      day: date({ default: today, unique: ['title'], filter: true }),
      at: timestamp({ max: '2099-12-31T23:59:59.999Z', filter: true, sort: true, range: true }),
      noted: timestamp({ default: now }),
      created: timestamp({ managed: now, filter: true }),
      created_on: date({ managed: today }),
    },
    required: ['title', 'state', 'done', 'created', 'created_on'],
  },
  'sink-values': {
    about: 'UUIDs, decimals and JSON.',
    fields: {
      tag: uuid({ filter: true, unique: true }),
      batch: uuid({ filter: true }),
      price: decimal({ digits: 12, places: 2, filter: true, sort: true, range: true, min: '0', max: '999999.99' }),
      weight: decimal({ digits: 18, places: 4, unique: ['batch'], range: true }),
      units: decimal({ digits: 18, places: 0, default: '0', sort: true }),
      share: decimal({ digits: 3, places: 3, filter: true }),
      settings: json({ default: { theme: 'plain', sizes: [1, 2] } }),
      notes: json(),
      secret: json({ redacted: true }),
    },
    required: ['tag', 'price', 'settings'],
  },
  'sink-orders': {
    about: 'Ids that are UUIDs, and references by them.',
    id: 'uuid',
    fields: {
      title: text({ sort: true }),
      parent_id: uuid({ references: 'sink-orders', onDelete: 'cascade', filter: true }),
      place: text({ references: 'sink-places', onDelete: 'set null', filter: true }),
      total: decimal({ digits: 10, places: 2, range: true }),
      changed: timestamp({ managed: now, onUpdate: now }),
    },
    required: ['title'],
  },
  'sink-places': {
    about: 'Ids that clients choose.',
    id: 'text',
    fields: {
      title: text({ filter: true, sort: true }),
      next: text({ references: 'sink-places', filter: true }),
      visits: integer({ range: true, sort: true }),
    },
    required: ['title'],
  },
  'sink-visits': {
    about: 'Rules between fields, and steps of a status.',
    fields: {
      from: date({ sort: true, range: true }),
      to: date(),
      status: text({
        oneOf: ['planned', 'begun', 'done', 'cancelled'],
        next: { planned: ['begun', 'cancelled'], begun: ['done'] },
        start: ['planned', 'begun'],
        default: 'planned',
        filter: true,
      }),
      stage: integer({ oneOf: [1, 2, 3], next: { 1: [2], 2: [1, 3] }, start: [2] }),
      paid: decimal({ digits: 8, places: 2 }),
      total: decimal({ digits: 8, places: 2 }),
    },
    required: ['from', 'status'],
    rules: [
      {
        fields: ['from', 'to'],
        holds: ({ from, to }) => String(from) <= String(to),
        message: 'to must not be before from',
      },
      {
        fields: ['total', 'paid'],
        holds: ({ total, paid }) => (paid as bigint) <= (total as bigint),
        message: 'paid must not be more than total',
      },
    ],
  },
  'sink-taps': {
    about: 'Every option at once.',
    fields: {
      text: text({
        about: 'Text.',
        example: 'x',
        default: () => 'y',
        filter: true,
        unique: ['integer'],
        format: 'timestamp',
        sort: true,
        range: true,
      }),
      integer: integer({
        about: 'Integer.',
        example: 1,
        default: () => 1,
        filter: true,
        unique: ['text', 'number_text'],
        references: 'sink-basins',
      }),
      number: number({ about: 'Number.', example: 1.5, default: 2.5 }),
      number_text: text({ managed: now, filter: true, about: 'Managed.', format: 'date' }),
      hidden: text({ redacted: true, managed: now, about: 'Hidden.', format: 'date' }),
      first: integer({
        managed: () => 1,
        references: 'sink-basins',
        filter: true,
        about: 'Always the first.',
        example: 1,
      }),
    },
    required: ['text', 'integer', 'number', 'number_text', 'first'],
  },
} satisfies Record<string, Partial<Descriptor>>

/** All in one group, named after their paths, and clients may create, import, update, delete and summarise them, unless told otherwise. */
export const kitchenSink: Registry = registryFrom(
  Object.fromEntries(
    Object.entries(descriptors).map(([path, descriptor]) => {
      const [name, table] = [path.replace('sink-', 'Sink ').replace(/s$/, ''), path.replaceAll('-', '_')]
      const all = { create: true, update: true, delete: true, summary: true, import: !('create' in descriptor) }
      return [path, { name, area: 'Kitchen sink', table, ...all, ...descriptor }]
    }),
  ),
)
