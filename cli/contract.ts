/** Compares the API that the descriptors define with the recorded one: `npm run contract`. */

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createDocuments } from '../engine/contract/documents.js'
import { deriveOperations } from '../engine/contract/operations.js'
import { inspectProject } from '../engine/descriptor/load.js'
import { loadOperations } from '../engine/descriptor/operationFiles.js'
import { RegistryError } from '../engine/descriptor/registryError.js'
import { commandLine } from '../engine/process/commandLine.js'
import { loadProduct } from '../engine/product.js'
import { CommandError, defineCommand, flag } from '../support/options.js'
import { compareDocuments } from './contract/compare.js'
import { isObject, type Json } from './contract/json.js'
import { formatReport } from './contract/report.js'
import { projectFolder } from './project.js'

const name = 'docs/openapi.json'
const recordFile = () => join(projectFolder(), name)

const command = {
  name: 'contract',
  about: `Compares the API that the descriptors define with the one recorded in ${name}, and reports which clients a difference breaks.`,
  options: {
    accept: flag(`record the API in ${name}`),
    check: flag('fail on every difference, not only on breaking ones; for CI'),
    json: flag('print the differences as JSON'),
  },
  notes: 'Exit code: 0 if nothing breaks clients or the differences are accepted, 1 otherwise.',
  example: '--accept',
}

const readRecorded = (): Json => {
  const advice = `record the API with: ${commandLine('contract', '--accept')}`
  const file = recordFile()
  if (!existsSync(file)) throw new CommandError(`${name} does not exist; ${advice}`)
  try {
    const recorded: unknown = JSON.parse(readFileSync(file, 'utf8'))
    if (isObject(recorded) && isObject(recorded['paths'])) return recorded
  } catch (error) {
    throw new CommandError(`${name} is not valid JSON (${(error as Error).message}); restore it, or ${advice}`)
  }
  throw new CommandError(`${name} is not an OpenAPI document; restore it, or ${advice}`)
}

export default defineCommand(command, async ({ accept, check, json }) => {
  // Without demo rows where these have errors: they may not match a changed descriptor yet.
  const { registry, errors } = await inspectProject(projectFolder())
  if (errors.length > 0) throw new RegistryError(errors)
  const { product } = await loadProduct(projectFolder())
  const operations = deriveOperations(registry, product, await loadOperations(projectFolder(), registry))
  const document = JSON.parse(createDocuments(product, operations).openapi.toString()) as Json
  // The examples come from the demo rows.
  const hasExamples = registry.every(({ demoErrors }) => demoErrors === undefined)
  if (accept && !hasExamples) {
    throw new CommandError(
      'The examples come from the demo rows, which have errors; correct the files in seeds/ first.',
    )
  }
  const file = recordFile()
  const isNew = accept && !existsSync(file)
  const allDifferences = isNew ? [] : compareDocuments(readRecorded(), document)
  const differences = hasExamples ? allDifferences : allDifferences.filter(({ rule }) => rule !== 'example-changed')
  if (accept) mkdirSync(dirname(file), { recursive: true })
  if (accept) writeFileSync(file, `${JSON.stringify(document, null, 2)}\n`)

  const isBreaking = differences.some(({ breaks }) => breaks.length > 0)
  if (json) console.log(JSON.stringify({ accepted: accept, breaking: isBreaking, differences }, null, 2))
  else console.log(isNew ? `Recorded the API in ${name}.` : formatReport(differences, accept))
  if (!hasExamples) console.error('Examples were not compared, because files in seeds/ have errors.')
  if (!accept && (isBreaking || (check && differences.length > 0))) process.exitCode = 1
})
