/** The docs page: Swagger UI from the installed package, without anything from other hosts. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { basePath } from '../contract/service.js'

export interface Asset {
  readonly type: string
  readonly body: Buffer
}

/** The path of the page, and the prefix of its assets. */
export const docsPath = `${basePath}/docs`

/** Only files of this host run; Swagger UI has its icons in data URLs. */
export const docsPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const page = (title: string): string => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${title.replace(/[&<]/g, (sign) => (sign === '&' ? '&amp;' : '&lt;'))}</title>
    <link rel="icon" type="image/png" href="${docsPath}/favicon-32x32.png">
    <link rel="stylesheet" href="${docsPath}/swagger-ui.css">
  </head>
  <body>
    <div id="docs"></div>
    <script src="${docsPath}/swagger-ui-bundle.js"></script>
    <script src="${docsPath}/start.js"></script>
  </body>
</html>
`

/** A separate file, because the policy forbids inline scripts. */
const start = `window.ui = SwaggerUIBundle({
  url: '${basePath}/openapi.json',
  dom_id: '#docs',
  deepLinking: true,
  displayRequestDuration: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  tryItOutEnabled: true,
  persistAuthorization: false,
  validatorUrl: null,
})
`

/** The page and its files by path: a fixed list, so that no other file can be reached. */
export const docsAssets = (title: string): ReadonlyMap<string, Asset> => {
  const folder = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'))
  const file = (name: string, type: string): [string, Asset] => [
    `${docsPath}/${name}`,
    { type, body: readFileSync(join(folder, name)) },
  ]
  const html = { type: 'text/html; charset=utf-8', body: Buffer.from(page(title)) }
  return new Map([
    [docsPath, html],
    [`${docsPath}/`, html],
    [`${docsPath}/start.js`, { type: 'text/javascript; charset=utf-8', body: Buffer.from(start) }],
    file('swagger-ui-bundle.js', 'text/javascript; charset=utf-8'),
    file('swagger-ui.css', 'text/css; charset=utf-8'),
    file('favicon-32x32.png', 'image/png'),
  ])
}
