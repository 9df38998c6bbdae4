/** A progress bar: one line that is redrawn in a terminal, and a line now and then elsewhere. */

const width = 30

/** Makes a bar that is told how many of the total are done. */
export const progressBar = (name: string, total: number, unit: string): ((done: number) => void) => {
  const start = performance.now()
  let drawn = 0
  return (done) => {
    const now = performance.now()
    const isEnd = done >= total
    if (!isEnd && now - drawn < (process.stderr.isTTY ? 100 : 5_000)) return
    drawn = now
    const filled = Math.round((done / total) * width)
    const rate = Math.round((done * 1000) / Math.max(1, now - start))
    const bar = `${'█'.repeat(filled)}${'░'.repeat(width - filled)}`
    const line = `${name} ${bar} ${done.toLocaleString('en')} of ${total.toLocaleString('en')} ${unit}, ${rate.toLocaleString('en')} a second`
    process.stderr.write(process.stderr.isTTY ? `\r${line}${isEnd ? '\n' : ''}` : `${line}\n`)
  }
}
