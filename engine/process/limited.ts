/** Runs work, so much of it at a time; the rest waits for its turn. */

export const limited = (most: number) => {
  let running = 0
  const waiting: (() => void)[] = []
  return async <T>(work: () => Promise<T>): Promise<T> => {
    if (running < most) running++
    else await new Promise<void>((resolve) => waiting.push(resolve))
    try {
      return await work()
    } finally {
      // Whoever is next takes this place.
      const next = waiting.shift()
      if (next) next()
      else running--
    }
  }
}
