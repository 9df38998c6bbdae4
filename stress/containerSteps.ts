/** Parses a Containerfile into stages of plain steps; an instruction that it does not know is an error, never skipped. */
import { posix } from 'node:path'
import { DockerfileParser, type Env, type From, type Healthcheck, type JSONInstruction } from 'dockerfile-ast'

export type Step =
  | { readonly kind: 'run'; readonly command: string }
  | {
      readonly kind: 'copy'
      /** The stage to copy from; without one, the files of the project. */
      readonly from?: string
      readonly owner?: string
      readonly sources: readonly string[]
      readonly target: string
    }

export interface Stage {
  readonly name: string
  readonly image: string
  workdir: string
  readonly env: Record<string, string>
  readonly steps: Step[]
  readonly volumes: string[]
  readonly ports: string[]
  user?: string
  command: readonly string[]
  healthcheck: readonly string[]
}

const newStage = (from: From, index: number): Stage => ({
  name: from.getBuildStage() ?? String(index),
  image: from.getExpandedArguments()[0]?.getValue() ?? '',
  workdir: '/',
  env: {},
  steps: [],
  volumes: [],
  ports: [],
  command: [],
  healthcheck: [],
})

const flagsOf = (instruction: JSONInstruction): Map<string, string> =>
  new Map(instruction.getFlags().map((flag) => [flag.getName(), flag.getValue() ?? '']))

const copyStep = (instruction: JSONInstruction): Step => {
  const paths = instruction.getArguments().map((argument) => argument.getValue())
  const { from, chown: owner, ...others } = Object.fromEntries(flagsOf(instruction))
  if (Object.keys(others).length > 0) throw new Error(`COPY has an unknown option: ${instruction.toString()}`)
  const target = paths.at(-1) ?? ''
  return { kind: 'copy', ...(from && { from }), ...(owner && { owner }), sources: paths.slice(0, -1), target }
}

/** The arguments of an instruction in JSON form, which runs without a shell and therefore gets signals. */
const jsonOf = (text: string): string[] => JSON.parse(text.slice(text.indexOf('['))) as string[]

export const stagesOf = (text: string): Stage[] => {
  const stages: Stage[] = []
  for (const instruction of DockerfileParser.parse(text).getInstructions()) {
    const keyword = instruction.getKeyword()
    const content = instruction.getArgumentsContent() ?? ''
    if (keyword === 'FROM') {
      stages.push(newStage(instruction as From, stages.length))
      continue
    }
    const stage = stages.at(-1)
    if (!stage) {
      if (keyword !== 'ARG') throw new Error(`${keyword} stands before the first FROM.`)
      continue
    }
    if (keyword === 'WORKDIR') stage.workdir = posix.resolve(stage.workdir, content)
    else if (keyword === 'RUN') stage.steps.push({ kind: 'run', command: content })
    else if (keyword === 'COPY') stage.steps.push(copyStep(instruction as JSONInstruction))
    else if (keyword === 'ENV') {
      for (const property of (instruction as Env).getProperties()) {
        stage.env[property.getName()] = property.getValue() ?? ''
      }
    } else if (keyword === 'VOLUME') stage.volumes.push(posix.resolve(stage.workdir, content))
    else if (keyword === 'EXPOSE') stage.ports.push(content)
    else if (keyword === 'USER') stage.user = content
    else if (keyword === 'CMD') stage.command = jsonOf(content)
    else if (keyword === 'HEALTHCHECK') {
      if ((instruction as Healthcheck).getSubcommand()?.getValue() !== 'CMD') throw new Error('HEALTHCHECK has no CMD.')
      stage.healthcheck = jsonOf(content)
    } else throw new Error(`${keyword} is not supported; extend stress/containerSteps.ts.`)
  }
  return stages
}
