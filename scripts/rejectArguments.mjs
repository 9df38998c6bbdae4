/** Prints the usage for --help and rejects every other argument, for scripts without options. */
export const rejectArguments = (usage) => {
  const [given] = process.argv.slice(2)
  if (given === undefined) return
  if (given === '--help' || given === '-h') {
    console.log(usage)
    process.exit(0)
  }
  console.error(`Unknown option ${given}. Did you mean --help?`)
  process.exit(2)
}
