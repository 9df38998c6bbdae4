/** Finds out whether a client that has closed its side of the connection still reads; if not, its statement is cancelled. */
import type { ServerResponse } from 'node:http'
import { setTimeout } from 'node:timers/promises'

/** How long the response may take, in milliseconds, before the client is probed. */
const probeAfterMs = 250

/** How long the client's host may take to report that nobody reads, in milliseconds. */
const pause = 100

/**
 * Probes the client with an interim response, which every client of HTTP/1.1 has to expect. A host whose client has gone replies with
 * a reset; the second write then fails and closes the response.
 */
export const probeClient = async (response: ServerResponse): Promise<void> => {
  await setTimeout(probeAfterMs)
  for (let n = 0; n < 2; n++) {
    const isPending = !response.headersSent && !response.closed && response.req.httpVersionMinor > 0
    if (!isPending) return
    response.writeProcessing(() => {})
    await setTimeout(pause)
  }
}
