// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the code that is replaced has template strings.
/** Mutants of the rules of creates: which properties a body may have, exact values, defaults and the clock. */
import { mutantsOf } from './mutant.js'

const schemas = mutantsOf('engine/contract/schemas.js', ['create'], {
  'create-unknown-property': {
    rule: 'An unknown property is refused.',
    find: '.strictObject(',
    replace: '.looseObject(',
  },
  'create-required': {
    rule: 'A required property must be sent.',
    find: 'isBody ? isMandatory(field) :',
    replace: 'isBody ? false :',
  },
  'create-required-null': {
    rule: 'A required property is not null.',
    find: 'isRequired ? value :',
    replace: 'isRequired ? (isBody ? value.nullable() : value) :',
  },
  'create-integer': {
    rule: 'An integer has no fraction.',
    find: 'integer: () => z.int().min(',
    replace: 'integer: () => z.number().min(',
  },
  'create-nul': {
    rule: 'A NUL is refused.',
    find: String.raw`!text.includes('\0')`,
    replace: 'true',
  },
  'create-surrogate': {
    rule: 'A lone surrogate is refused.',
    find: 'text.isWellFormed()',
    replace: 'true',
  },
})

const bodies = mutantsOf('engine/contract/createBody.js', ['create'], {
  'create-exact-number': {
    rule: 'A number that JavaScript would round is refused.',
    find: 'of inexactKeys(source)',
    replace: 'of []',
  },
  'create-suggestion': {
    rule: 'The error for an unknown property suggests the nearest known one.',
    find: "suggestion === undefined ? ''",
    replace: "true ? ''",
  },
})

const registry = mutantsOf('engine/descriptor/registry.js', ['create'], {
  'create-managed-property': {
    rule: 'A property that the service sets is refused.',
    find: 'resource.fields.filter((field) => !field.managed)',
    replace: "resource.fields.filter((field) => field.name !== 'id')",
    // Not create: its bodies are made by the same function.
    suites: ['literal'],
  },
  'create-id': {
    rule: 'A client cannot choose the id.',
    find: 'resource.fields.filter((field) => !field.managed)',
    replace: "resource.fields.filter((field) => !field.managed || field.name === 'id')",
    suites: ['literal'],
  },
  'default-applied': {
    rule: 'A property that is left out takes its default.',
    find: 'resolve(field.default ?? null)',
    replace: 'null',
  },
  'default-for-null': {
    rule: 'Null takes the default where the response requires a value.',
    find: '(value === null && field.required)',
    replace: 'false',
  },
  'default-null-stays': {
    rule: 'Null stays null where the response allows it.',
    find: '(value === null && field.required)',
    replace: 'value === null',
  },
})

const clock = mutantsOf('engine/descriptor/clock.js', ['literal'], {
  'clock-today-late': {
    rule: "A default date is today's.",
    find: 'new Date().toISOString().slice(0, 10)',
    replace: 'new Date(Date.now() + 86_400_000).toISOString().slice(0, 10)',
  },
  'clock-today-early': {
    rule: "A default date is today's.",
    find: 'new Date().toISOString().slice(0, 10)',
    replace: 'new Date(Date.now() - 86_400_000).toISOString().slice(0, 10)',
  },
  'clock-now': {
    rule: 'A timestamp is the current time.',
    find: 'new Date().toISOString().slice(0, 19)',
    replace: 'new Date(0).toISOString().slice(0, 19)',
  },
  'clock-format': {
    rule: 'A timestamp has whole seconds.',
    find: '`${new Date().toISOString().slice(0, 19)}Z`',
    replace: 'new Date().toISOString()',
  },
})

export const creates = [...schemas, ...bodies, ...registry, ...clock]
