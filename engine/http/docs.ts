/** The docs page: Swagger UI from the installed package, without anything from other hosts. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { basePath, docsPath } from '../contract/service.js'
import { pageHeaders } from './commonHeaders.js'

/** Swagger UI has its icons in data URLs. */
export const docsHeaders = pageHeaders("img-src 'self' data:", "font-src 'self'", "form-action 'none'")

const escaped = (text: string): string => text.replace(/[&<]/g, (sign) => (sign === '&' ? '&amp;' : '&lt;'))

const page = (product: string, hasExplorer: boolean): string => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>API docs · ${escaped(product)}</title>
    <link rel="icon" type="image/png" href="${docsPath}/favicon-32x32.png">
    <link rel="stylesheet" href="${docsPath}/swagger-ui.css">
    <link rel="stylesheet" href="${docsPath}/docs.css">
  </head>
  <body>${hasExplorer ? '\n    <nav aria-label="Service"><a href="/">Explorer</a></nav>' : ''}
    <div id="docs" data-url="${basePath}/openapi.json"></div>
    <script src="${docsPath}/swagger-ui-bundle.js"></script>
    <script src="${docsPath}/docs.js"></script>
  </body>
</html>
`

/** The page and its files: a fixed list, so that no other file can be reached. */
export const docsAssets = (product: string, hasExplorer: boolean): { path: string; type: string; body: Buffer }[] => {
  const installed = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'))
  const own = join(import.meta.dirname, 'assets')
  const html = { type: 'text/html; charset=utf-8', body: Buffer.from(page(product, hasExplorer)) }
  const file = (folder: string, name: string, type: string) => ({
    path: `${docsPath}/${name}`,
    type,
    body: readFileSync(join(folder, name)),
  })
  const script = 'text/javascript; charset=utf-8'
  const style = 'text/css; charset=utf-8'
  return [
    { path: docsPath, ...html },
    { path: `${docsPath}/`, ...html },
    file(own, 'docs.js', script),
    file(own, 'docs.css', style),
    file(installed, 'swagger-ui-bundle.js', script),
    file(installed, 'swagger-ui.css', style),
    file(installed, 'favicon-32x32.png', 'image/png'),
  ]
}
