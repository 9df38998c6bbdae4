/** The zod schemas that are the same for every resource: index, health and the two error bodies. */
import { z } from 'zod'
import { errorCodes } from './errors.js'

const path = (description: string) => z.string().meta({ description })

export const indexSchema = z
  .looseObject({
    name: z.string(),
    version: z.string(),
    openapi: path('Path of the OpenAPI 3.1 document.'),
    swagger: path('Path of the Swagger 2.0 document.'),
    docs: path('Path of the docs page.'),
    health: path('Path of the health check.'),
    resources: z.array(
      z.object({
        name: z.string(),
        path: path('Path of the list.'),
        create: z.boolean().meta({ description: 'Whether rows can be created.' }),
      }),
    ),
  })
  .meta({ id: 'Index' })

export const healthSchema = z
  .object({
    status: z.string().meta({ description: '`ok`, or `read-only` if the database cannot be written.' }),
    product: z.string(),
    version: z.string(),
    writes_enabled: z
      .boolean()
      .meta({ description: 'Whether a write token is configured, and the database lets this deployment write.' }),
  })
  .meta({ id: 'Health' })

const loc = () => z.array(z.union([z.string(), z.int()]))

const bodyIssueSchema = z
  .object({
    type: z.string().meta({ description: 'Kind of error, such as `missing`, `reference` or `unique`.' }),
    loc: loc().meta({ description: 'Where: `body` or `header`, and the name of the property or header.' }),
    msg: z.string().meta({ description: 'What is wrong and what to do.' }),
  })
  .meta({ id: 'ValidationIssue', description: 'One error of a create.' })

const codeList = Object.entries(errorCodes).map(([name, meaning]) => `- \`${name}\`: ${meaning}`)

export const errorSchema = z
  .object({
    error: z.object({
      // Not an enum: a strict client would fail on a code that a later version adds.
      code: z.string().meta({
        description: `Stable code for programs. New codes may be added.\n\n${codeList.join('\n')}`,
        'x-extensible-enum': Object.keys(errorCodes),
      }),
      message: z.string().meta({ description: 'What is wrong and what to do, for people.' }),
      details: z
        .looseObject({
          issues: z.array(bodyIssueSchema).optional().meta({ description: 'With `validation_error`: every error.' }),
        })
        .optional(),
    }),
  })
  .meta({ id: 'ErrorEnvelope' })

const parameterIssueSchema = z
  .object({
    loc: loc().meta({ description: '`query` or `path`, and the name of the parameter.' }),
    msg: z.string().meta({ description: 'What is wrong.' }),
    type: z.string().meta({ description: 'Kind of error, such as `int_parsing` or `less_than_equal`.' }),
    input: z.unknown().optional().meta({ description: 'The value as it was sent.' }),
    ctx: z.looseObject({}).optional().meta({ description: 'The bound that was exceeded, as `ge` or `le`.' }),
  })
  .meta({ id: 'ParameterIssue', description: 'One error of a query or path parameter.' })

export const parameterErrorSchema = z.object({ detail: z.array(parameterIssueSchema) }).meta({ id: 'ValidationError' })
