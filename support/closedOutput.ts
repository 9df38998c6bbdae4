/** Whoever reads the output may close it, as `head` does: the process then goes on without it, and ends with its own exit code. */
for (const output of [process.stdout, process.stderr])
  output.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
  })
