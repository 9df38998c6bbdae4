/** The steps of a write as a generator of statements: the database runs them, at once or in turn. */
import type { BoundStatement } from './writeData.js'

type Rows = readonly (readonly unknown[])[]

/** Asks the database by yielding, so that the same walk runs in a transaction of either database. */
export type Walk<R> = Generator<BoundStatement, R, Rows>

/** An error of the database is thrown where the walk asked. */
export const runAtOnce = <R>(walk: Walk<R>, ask: (query: BoundStatement) => Rows): R => {
  const next = (query: BoundStatement): (() => IteratorResult<BoundStatement, R>) => {
    try {
      const rows = ask(query)
      return () => walk.next(rows)
    } catch (error) {
      return () => walk.throw(error)
    }
  }
  let step = walk.next()
  while (!step.done) step = next(step.value)()
  return step.value
}

export const runInTurn = async <R>(walk: Walk<R>, ask: (query: BoundStatement) => Promise<Rows>): Promise<R> => {
  const next = (query: BoundStatement): Promise<() => IteratorResult<BoundStatement, R>> =>
    ask(query).then(
      (rows) => () => walk.next(rows),
      (error) => () => walk.throw(error),
    )
  let step = walk.next()
  while (!step.done) step = (await next(step.value))()
  return step.value
}
