/** The health check of the image: requests /readyz of the service at HOST and PORT, and exits with 1 if it is not ready. */
const { HOST = '127.0.0.1', PORT = '3000' } = process.env
/** A service that listens on every address is reached on the local one. */
const host = ['0.0.0.0', '::'].includes(HOST) ? '127.0.0.1' : HOST.includes(':') ? `[${HOST}]` : HOST

try {
  const response = await fetch(`http://${host}:${PORT}/readyz`, { signal: AbortSignal.timeout(4_000) })
  console.log(await response.text())
  process.exitCode = response.ok ? 0 : 1
} catch (error) {
  console.error(`The service does not respond: ${error.cause?.message ?? error.message}`)
  process.exitCode = 1
}
