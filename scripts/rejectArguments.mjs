/** Prints the usage for --help and rejects every other argument, for scripts without options. */
export const rejectArguments = (usage) => {
  const [argument] = process.argv.slice(2)
  if (argument === undefined) return
  if (argument === '--help' || argument === '-h') {
    console.log(usage)
    process.exit(0)
  }
  console.error(`Unknown option ${argument}. Did you mean --help?`)
  process.exit(2)
}
