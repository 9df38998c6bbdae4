/** Mutants of the verification of descriptors and demo rows. */
import { mutantsOf } from './mutant.js'

const rules = mutantsOf('engine/descriptor/rules.js', ['descriptors'], {
  'descriptor-unique-default': {
    rule: 'A unique field has no constant default.',
    find: "typeof source !== 'function'",
    replace: 'false',
  },
  'descriptor-table-as-path': {
    rule: 'A table name where a path belongs is reported with the path.',
    find: 'table === name',
    replace: 'false',
  },
})

const cycles = mutantsOf('engine/descriptor/cycles.js', ['descriptors'], {
  'descriptor-cycle': {
    rule: 'A cycle of required references that no row can satisfy is reported.',
    find: 'create && target !== undefined',
    replace: 'false',
  },
  'descriptor-cycle-optional': {
    rule: 'A cycle with an optional reference is valid.',
    find: ' && required.includes(field)',
    replace: '',
  },
})

const names = mutantsOf('engine/descriptor/names.js', ['documents'], {
  'descriptor-own-schemas': {
    rule: 'No resource takes the name of a schema that every service has.',
    find: "'PaginationMeta',",
    replace: '',
  },
})

const demo = mutantsOf('engine/descriptor/demo.js', ['descriptors'], {
  'demo-id-below-one': {
    rule: 'The id of a demo row is at least 1.',
    find: "name === 'id' && Number(value) < 1",
    replace: 'false',
  },
})

const examples = mutantsOf('engine/contract/examples.js', ['create'], {
  'example-free-value': {
    rule: 'The documented body of a create is valid.',
    find: 'unique ? freeValue(',
    replace: 'false ? freeValue(',
  },
})

const statements = mutantsOf('engine/storage/sqlite/statements.js', ['list'], {
  'list-without-text': {
    rule: 'A resource without text can be listed.',
    find: 'searchedFields(resource).length > 0',
    replace: 'true',
  },
})

export const descriptors = [...rules, ...cycles, ...names, ...demo, ...examples, ...statements]
