/** Whether secrets may be sent to an address: over TLS, or on this machine. */
export const isSafeUrl = (text: unknown): text is string => {
  if (typeof text !== 'string' || !URL.canParse(text)) return false
  const { protocol, hostname } = new URL(text)
  return protocol === 'https:' || (protocol === 'http:' && /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname))
}
