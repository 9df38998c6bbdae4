/** The docs page: Swagger UI from the installed package, without anything from other hosts. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { basePath, docsPath } from '../contract/service.js'
import { file as themeFile } from '../explorer/assets.js'
import { html } from '../explorer/html.js'
import { barOf } from '../explorer/layout.js'
import { pageHeaders } from './commonHeaders.js'

/** Swagger UI has its icons in data URLs. */
export const docsHeaders = pageHeaders("img-src 'self' data:", "font-src 'self'", "form-action 'none'")

const page = (product: string, hasExplorer: boolean): string =>
  html`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>API docs · ${product}</title>
    <link rel="icon" type="image/png" href="${docsPath}/favicon-32x32.png">
    <link rel="stylesheet" href="${docsPath}/swagger-ui.css">
    <link rel="stylesheet" href="${docsPath}/theme.css">
    <link rel="stylesheet" href="${docsPath}/docs.css">
  </head>
  <body>
    ${barOf(product, html`${hasExplorer && html`<a href="/">Explorer</a>`}<a href="${basePath}/openapi.json">OpenAPI</a>`)}
    <div id="docs" data-url="${basePath}/openapi.json"></div>
    <script src="${docsPath}/swagger-ui-bundle.js"></script>
    <script src="${docsPath}/docs.js"></script>
  </body>
</html>
`.source

/** The page and its files: a fixed list, so that no other file can be reached. */
export const docsAssets = (product: string, hasExplorer: boolean): { path: string; type: string; body: Buffer }[] => {
  const installed = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'))
  const own = join(import.meta.dirname, 'assets')
  const document = { type: 'text/html; charset=utf-8', body: Buffer.from(page(product, hasExplorer)) }
  const file = (folder: string, name: string, type: string) => ({
    path: `${docsPath}/${name}`,
    type,
    body: readFileSync(join(folder, name)),
  })
  const script = 'text/javascript; charset=utf-8'
  const style = 'text/css; charset=utf-8'
  return [
    { path: docsPath, ...document },
    { path: `${docsPath}/`, ...document },
    file(own, 'docs.js', script),
    file(own, 'docs.css', style),
    themeFile('theme.css', `${docsPath}/theme.css`),
    file(installed, 'swagger-ui-bundle.js', script),
    file(installed, 'swagger-ui.css', style),
    file(installed, 'favicon-32x32.png', 'image/png'),
  ]
}
