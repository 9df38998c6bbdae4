/** What a file of a kind says about it. */
import type { z } from 'zod'
import type { DecimalOptions } from '../decimals.js'
import type { JsonText } from '../jsonText.js'
import type { Violation } from '../violations.js'

/** How the values of a column are read and written: SQL of the column, and the SQL around a value that it stores in another form. */
export interface ColumnSql {
  readonly read: string
  readonly write?: readonly [before: string, after: string]
}

/** What a database does with a kind: its column type, SQL over a quoted column, and conversions. */
export interface Column {
  readonly type: string
  /** The type and the constraints of an `id`, besides those of every key; by default the type. */
  readonly idType?: string
  /** Other names of types whose values are of this kind, as the catalogue of the database prints them. */
  readonly alsoTypes?: readonly string[]
  /** The declared types of SQLite whose columns have such values. */
  readonly declared?: RegExp
  /** The options that a type states, where it depends on them. */
  readonly optionsIn?: (type: string) => KindOptions | undefined
  /** A declared type that names the kind without SQLite knowing it: its options, and the condition that every value meets. */
  readonly named?: (type: string, column: string, isKey: boolean) => [KindOptions, condition: string] | undefined
  /** Whether PostgreSQL serves the columns of another type as this kind. */
  readonly serves?: (type: string) => boolean
  /** The SQL for a column of another program; by default it is read and written as it is. */
  readonly existing?: (column: string, type: string, isId: boolean) => Partial<ColumnSql>
  /** Whether a column of another program would round a value. */
  readonly isRounded?: (type: string, value: unknown) => boolean
  /** Whether the column has a value of the kind; by default the type of the column makes sure. Any other value is served as null. */
  readonly isValue?: (column: string) => string
  /** Whether every version of the database prints the JSON of the value the same way; by default it does. */
  readonly isPortable?: (column: string) => string
  /** The value as JSON; by default the database's own. */
  readonly json?: (column: string) => string
  /** The stored value as a text with all its digits; by default a cast. */
  readonly storedText?: (column: string) => string
  /** The value as one of kind text; by default its JSON. */
  readonly asText?: (column: string) => string
  /** The value of another column as one of this kind; by default a cast. */
  readonly convert?: (column: string, from: Column) => string
  /** Whether two values cannot be compared, but their texts can. */
  readonly isComparedAsText?: true
  /** What is bound for a value; by default the value itself. */
  readonly bind?: (value: never) => unknown
  /** The value that the driver returned; by default as it is. */
  readonly read?: (stored: never) => string | number | bigint | boolean
  /** The value as responses show it, for the text that the column has; by default that text. */
  readonly display?: (text: string) => string
}

export type ParameterValue = string | bigint | number | boolean

/** A value of a field that is not null, as JSON has it. */
export type GivenValue = string | number | boolean | JsonText | readonly unknown[] | Readonly<Record<string, unknown>>

/** The options of a field that its values depend on, whatever its rules. */
export type KindOptions = DecimalOptions

/** What sums and averages are. */
export interface Sums {
  readonly schema: () => z.ZodType
  /** The sum, or the average of so many values, from the sum of their smallest units; without it they are doubles. */
  readonly fromUnits?: (units: bigint, count: bigint | undefined, options: KindOptions) => string | number
}

/** Values as the numbers of a chart's axis; moments as milliseconds. */
export interface Axis {
  readonly text: (at: number, options: KindOptions) => string
  /** How far each value is from the next, where a range includes its last one. */
  readonly step?: number
  /** The smallest unit, of which a double must have all digits. */
  readonly unit?: (options: KindOptions) => number
}

/** Values as numbers of their smallest steps, for samples within bounds. */
export interface Scale {
  readonly toSteps: (value: GivenValue, options: KindOptions) => bigint
  readonly fromSteps: (steps: bigint, options: KindOptions) => string | number
  /** Steps that people take, the longest first. */
  readonly strides: (options: KindOptions) => readonly bigint[]
}

/** Where a demo value stands. */
export interface DemoPlace extends KindOptions {
  readonly name: string
  readonly isUnique: boolean
  /** The number of the field in its row. */
  readonly index: number
  /** The path of the resource. */
  readonly path: string
}

export interface RuledField extends KindOptions {
  readonly references?: string | undefined
  readonly oneOf?: readonly unknown[] | undefined
}

export interface KindEntry {
  /** Completes the sentence "it must be …" about a descriptor or a demo row. */
  readonly expected: string
  /** The `type` of the issue for a value of another JSON type. */
  readonly wrongType: string
  readonly row: (options: KindOptions) => z.ZodType
  readonly body: (options: KindOptions) => z.ZodType
  /** The one form in which a value is stored, where a body may have several. */
  readonly canonical?: (value: never, options: KindOptions) => string | JsonText
  /** What values are compared by, if not by that form. */
  readonly comparable?: (value: never, options: KindOptions) => string | bigint
  readonly parse: (text: string, options: KindOptions) => ParameterValue | Violation
  readonly sqlite: Column | ((options: KindOptions) => Column)
  readonly postgres: Column | ((options: KindOptions) => Column)
  /** Whether values are free text: searched by `q`, and possibly long. */
  readonly isText?: true
  /** Whether values are integers: those of an `id` are assigned by the database. */
  readonly isWhole?: true
  /** Whether values are days or times. */
  readonly isMoment?: true
  /** Whether values are any JSON, kept as the text that was sent. */
  readonly isJson?: true
  /** The characters of every text of a value, if all have as many. */
  readonly length?: number
  /** Only for kinds whose values can be added. */
  readonly sums?: Sums
  readonly axis?: Axis
  readonly scale?: Scale
  /** The function that returns the current value. */
  readonly clock?: () => string
  /** The nth sample value; different for each n. */
  readonly sample: (n: number, name: string, options: KindOptions) => GivenValue
  /** The value in the nth demo row of a new resource, which people read; by default the sample. */
  readonly demo?: (n: number, place: DemoPlace) => GivenValue
  /** JSON texts that are no values. */
  readonly wrongLiterals: readonly string[]
  /** Which values of other kinds convert to it, to complete the sentence "… convert". */
  readonly convertible: string
  /** The value for the text of another kind, if nothing is lost; by default that of a text. */
  readonly convert?: (text: string, from: KindEntry, options: KindOptions) => GivenValue | undefined
  /** The text that a stored value converts to; by default as it is. */
  readonly toText?: (stored: string) => string
  /** The value as responses show it, for what the driver of either database returned for its JSON; by default a string. */
  readonly served?: (stored: unknown) => GivenValue
  /** The control of a form: the type of its input, or `textarea` for several lines. */
  readonly input: 'text' | 'number' | 'date' | 'datetime-local' | 'checkbox' | 'textarea'
  /** The step of that input, if it is not 1. */
  readonly step?: 'any'
  /** What a form says about a value, which may have bounds; by default nothing. */
  readonly words?: (field: RuledField, bounds: string | undefined) => string
  /** What a cell of an imported table has; by default any text. */
  readonly cell?: string
  /** The options that a type of the command line states: `decimal12.2`. */
  readonly argument?: (type: string) => KindOptions | undefined
  /** Types of other systems, for which it is to be used. */
  readonly aliases: readonly string[]
  /** Types of other programs' columns that are served as this kind, although no column of it has them. */
  readonly foreignTypes?: RegExp
  /** The default of a column that is the clock. */
  readonly clockSql?: RegExp
  /** The value of a column's default: what its quotes have, and the whole SQL; by default the text in quotes. */
  readonly fromDefault?: (text: string | undefined, sql: string) => unknown
}
