/** Ends this process when the shell between npm and it has ended: a shell ends by a signal without passing it on. */
export const stopWithShell = (): void => {
  if (process.env['npm_lifecycle_event'] === undefined || process.platform === 'win32') return
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    process.kill(process.pid, 'SIGTERM')
  }, 100)
  timer.unref()
}
