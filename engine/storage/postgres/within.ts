/** Bounds a wait. */
import { Unavailable } from '../storage.js'

/** The result of the work, or Unavailable if it takes longer than this many milliseconds; the work continues. */
export const within = <T>(ms: number, work: Promise<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    const expire = () => reject(new Unavailable(`the database did not respond within ${Math.round(ms)} ms`))
    const timer = setTimeout(expire, ms)
    work.then(resolve, reject).finally(() => clearTimeout(timer))
  })
