/** A made-up registry of every shape that a descriptor can have; the suites run on it beside the real resources. */
import { defineResource, integer, now, number, text, today } from '../../engine/descriptor/index.js'
import { type Registry, resourceFrom } from '../../engine/descriptor/registry.js'
import type { Problem } from '../../engine/descriptor/registryError.js'
import { verify } from '../../engine/descriptor/verify.js'

const area = 'Kitchen sink'
let count = 0

const descriptors = {
  'sink-basins': defineResource({
    name: 'Sink basin',
    area,
    table: 'sink_basins',
    fields: { title: text(), serial: integer({ unique: true, filter: true }) },
    required: ['title', 'serial'],
    create: true,
  }),
  'sink-bowls': defineResource({
    name: 'Sink bowl',
    area,
    about: 'Required unique references, "alone" and `within` others.',
    table: 'sink_bowls',
    fields: {
      basin_id: integer({ references: 'sink-basins', unique: true, filter: true }),
      other_basin_id: integer({ references: 'sink-basins', unique: ['basin_id'] }),
      number: integer({ unique: true }),
      code: text({ unique: true, filter: true }),
      place: text({ unique: ['code', 'basin_id'], filter: true, example: 'left' }),
    },
    required: ['basin_id', 'other_basin_id', 'number', 'code', 'place'],
    create: true,
  }),
  'sink-clocks': defineResource({
    name: 'Sink clock',
    area,
    table: 'sink_clocks',
    fields: {
      due: text({ default: today, filter: true }),
      noted: text({ default: now }),
      unique_day: text({ default: today, unique: true }),
      checked: text({ default: today }),
      counted: integer({ default: () => 7, filter: true }),
      weighed: number({ default: () => 0.5 }),
      stamped: text({ managed: now, filter: true }),
      day: text({ managed: today }),
      serial: text({ managed: () => `serial ${count++}`, unique: true }),
    },
    required: ['due', 'noted', 'counted', 'stamped', 'serial'],
    create: true,
  }),
  'sink-constants': defineResource({
    name: 'Sink constant',
    area,
    table: 'sink_constants',
    fields: {
      empty: text({ default: '' }),
      zero: integer({ default: 0, filter: true }),
      nothing: number({ default: 0 }),
      word: text({ default: 'it\'s `quoted` "twice" \\ 100%', filter: true }),
      basin_id: integer({ references: 'sink-basins', default: 1, filter: true }),
      scoped: text({ default: 'first', unique: ['basin_id'] }),
    },
    required: ['empty', 'zero', 'word', 'basin_id'],
    create: true,
  }),
  'sink-drains': defineResource({
    name: '3D drain (hidden)',
    plural: '3D drains (hidden)',
    area,
    table: 'sink_drains',
    fields: {
      secret: text({ redacted: true, default: 'not for clients' }),
      pin: integer({ redacted: true }),
      weight: number({ redacted: true, managed: () => 12.5 }),
      owner_id: integer({ redacted: true, references: 'sink-basins' }),
      shown: text({ filter: true }),
    },
    required: [],
    create: true,
  }),
  'sink-managed': defineResource({
    name: 'Sink managed',
    plural: 'Sink managed',
    area,
    table: 'sink_managed',
    fields: {
      created: text({ managed: now }),
      number: number({ managed: () => 1.5 }),
      later: text({ managed: true, filter: true, unique: true }),
      basin_id: integer({ managed: true, references: 'sink-basins' }),
    },
    required: ['created', 'number'],
    create: true,
  }),
  'sink-names': defineResource({
    name: 'Sink name',
    area,
    about: 'Fields whose names differ by a letter, or are as long as they can be.',
    table: 'sink_names',
    fields: {
      a: text({ filter: true }),
      ax: text({ filter: true }),
      [`${'a'.repeat(59)}b`]: text({ unique: true, filter: true }),
      [`${'a'.repeat(59)}c`]: integer({ unique: [`${'a'.repeat(59)}b`], filter: true }),
      unknown_field: integer(),
    },
    required: ['a'],
    create: true,
  }),
  'sink-numbers': defineResource({
    name: 'Sink number',
    area,
    table: 'sink_numbers',
    fields: { a: number(), b: integer({ filter: true }), c: number({ default: 1e-7, example: 2.5 }) },
    required: ['a'],
    create: true,
  }),
  'sink-pipes': defineResource({
    name: 'Sink pipe',
    area,
    table: 'sink_pipes',
    fields: {
      title: text({ format: 'date' }),
      parent_id: integer({ references: 'sink-pipes', filter: true }),
      twin_id: integer({ references: 'sink-pipes', unique: true }),
      valve_id: integer({ references: 'sink-valves' }),
    },
    required: ['title'],
    create: true,
  }),
  'sink-roots': defineResource({
    name: 'Sink root',
    area,
    table: 'sink_roots',
    fields: { root_id: integer({ references: 'sink-roots' }), order: text({ filter: true }), select: text() },
    required: ['root_id', 'select'],
    create: false,
  }),
  'sink-valves': defineResource({
    name: 'Sink valve',
    area,
    table: 'sink_valves',
    fields: {
      pipe_id: integer({ references: 'sink-pipes', filter: true, unique: ['side'] }),
      side: text({ filter: true, default: 'left' }),
      [`long_${'name_'.repeat(11)}`]: text({ filter: true, unique: true }),
      [`long_${'name_'.repeat(10)}b`]: integer({ filter: true, unique: true }),
    },
    required: ['pipe_id'],
    create: true,
  }),
  'sink-taps': defineResource({
    name: 'Sink tap',
    area,
    about: 'Every option at once.',
    table: 'sink_taps',
    fields: {
      text: text({
        about: 'Text.',
        example: 'x',
        default: () => 'y',
        filter: true,
        unique: ['integer'],
        format: 'timestamp',
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
    create: true,
  }),
}

const problems: Problem[] = []
const parsed = verify(
  Object.entries(descriptors).map(([path, descriptor]) => ({ file: path, path, module: { default: descriptor } })),
  problems,
)
if (problems.length > 0) throw new Error(problems.map(({ file, message }) => `${file}: ${message}`).join('\n'))

export const kitchenSink: Registry = parsed.map(({ path, descriptor }) => resourceFrom(path, descriptor, []))
