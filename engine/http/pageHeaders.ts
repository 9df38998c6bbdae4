/** The headers of pages for people: they run only files of this host and nothing inline, and no other page may frame them. */

const policy = ["default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'"]

/** `directives` are the parts of the policy in which pages differ. */
export const pageHeaders = (...directives: readonly string[]) => ({
  'Content-Security-Policy': [...policy, ...directives, "base-uri 'none'", "frame-ancestors 'none'"].join('; '),
  'Referrer-Policy': 'no-referrer',
  'X-Frame-Options': 'DENY',
})
