/** Formats the differences as sentences, breaking ones first, by audience. */
import { commandLine } from '../../engine/process/commandLine.js'
import { counted } from '../counted.js'
import type { Difference } from './differences.js'

const places = ({ operations, subject }: Difference): string => {
  const named = operations.filter((operation) => operation !== subject)
  return named.length === 0 ? '' : ` (${named.join(', ')})`
}

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`

/** A heading and its lines; nothing without lines. */
const section = (heading: string, lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : [[heading, ...lines.map((line) => `  ${line}`)].join('\n')]

export const formatReport = (differences: readonly Difference[], isAccepted: boolean): string => {
  if (differences.length === 0) return 'The API matches the one recorded in docs/openapi.json.'
  const breaking = differences.filter(({ breaks }) => breaks.length > 0)
  const harmless = differences.filter(({ breaks }) => breaks.length === 0)
  const linesFor = (audience: string) =>
    breaking.flatMap((difference) =>
      difference.breaks
        .filter((broken) => broken.audience === audience)
        .map(({ reason }) => sentence(`${difference.message}${places(difference)}: ${reason}`)),
    )
  const advice = isAccepted
    ? 'Recorded in docs/openapi.json; commit it with your change.'
    : `${breaking.length === 0 ? 'Nothing breaks clients.' : `${counted(breaking.length, 'difference')} break${breaking.length === 1 ? 's' : ''} clients.`} To record the API as it is now: ${commandLine('contract', '--accept')}`
  return [
    ...['readers', 'writers', 'generated clients'].flatMap((audience) =>
      section(`Breaking for ${audience}:`, linesFor(audience)),
    ),
    ...section(
      'Not breaking:',
      harmless.map((difference) => sentence(`${difference.message}${places(difference)}`)),
    ),
    advice,
  ].join('\n\n')
}
