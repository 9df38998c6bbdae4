/** The zod schemas of every body, made from the descriptors: the one source of validation and of the documents. */
import { z } from 'zod'
import { type Field, isMandatory, type Resource, writableFields } from '../descriptor/registry.js'

/** `Leave request` as a name for schemas and operations: `LeaveRequest`. */
export const pascal = (words: string): string =>
  words
    .split(/[^\p{L}\p{N}]+/u)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')

const described = <S extends z.ZodType>(schema: S, field: Field): S => {
  const refers = field.references && `Names one of ${field.references}.`
  const description = [field.about, refers].filter(Boolean).join(' ')
  return description === '' ? schema : schema.meta({ description })
}

const rowKinds = { integer: () => z.int(), number: () => z.number(), text: () => z.string() }

/** The row as clients receive it: what is required is never null, the rest is optional in the schema. */
export const rowSchema = (resource: Resource) =>
  z
    .object(
      Object.fromEntries(
        resource.fields.map((field) => {
          const value = rowKinds[field.kind]()
          return [field.name, described(field.required ? value : value.nullable().optional(), field)]
        }),
      ),
    )
    .meta({ id: pascal(resource.name), ...(resource.about && { description: resource.about }) })

/** A string that any database keeps to the last code point. */
const storableText = () =>
  z
    .string()
    .refine((text) => !text.includes('\0'), { message: 'nul' })
    .refine((text) => text.isWellFormed(), { message: 'surrogate' })

const bodyKinds = {
  // The bounds that z.int() has anyway, said aloud so that the documents show them.
  integer: () => z.int().min(Number.MIN_SAFE_INTEGER).max(Number.MAX_SAFE_INTEGER),
  number: () => z.number(),
  text: storableText,
}

/** What a create takes: every field a client may set, and nothing else. */
export const createSchema = (resource: Resource) =>
  z
    .strictObject(
      Object.fromEntries(
        writableFields(resource).map((field) => {
          const value = bodyKinds[field.kind]()
          return [field.name, described(isMandatory(field) ? value : value.nullable().optional(), field)]
        }),
      ),
    )
    .meta({ id: `${pascal(resource.name)}Create`, description: `What creates one of ${resource.path}.` })

const paginationMeta = z
  .object({
    total: z.int().meta({ description: 'How many rows match, over all pages.' }),
    limit: z.int().meta({ description: 'The page size that was used.' }),
    offset: z.int().meta({ description: 'How many rows were skipped.' }),
  })
  .meta({ id: 'PaginationMeta' })

/** A page of rows. */
export const collectionSchema = (resource: Resource, row: z.ZodType) =>
  z.object({ data: z.array(row), meta: paginationMeta }).meta({ id: `${pascal(resource.name)}Collection` })

export const indexSchema = z.looseObject({}).meta({ id: 'Index', description: 'Where everything is.' })

export const healthSchema = z
  .object({ status: z.string(), product: z.string(), version: z.string(), writes_enabled: z.boolean() })
  .meta({ id: 'Health' })

export const errorSchema = z
  .object({
    error: z.object({
      code: z.string().meta({ description: 'Stable, snake_case, for programs.' }),
      message: z.string().meta({ description: 'What is wrong and what would be right, for people.' }),
      details: z.looseObject({}).optional(),
    }),
  })
  .meta({ id: 'ErrorEnvelope' })

export const parameterErrorSchema = z
  .object({
    detail: z.array(
      z.object({
        loc: z.array(z.union([z.string(), z.int()])),
        msg: z.string(),
        type: z.string(),
        input: z.unknown().optional(),
        ctx: z.looseObject({}).optional(),
      }),
    ),
  })
  .meta({ id: 'ValidationError' })
