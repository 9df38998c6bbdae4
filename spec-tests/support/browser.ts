/** A Chromium that is installed on this machine, driven by playwright-core. */
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { suite } from 'uvu'
import { server } from './database.js'
import { sessionOf, type TestService, token } from './service.js'

/** CHROMIUM, or where packages install it. */
const paths = [
  process.env['CHROMIUM'],
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/snap/bin/chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
]

/** The path of Chromium; undefined if there is none. */
const chromiumPath = paths.find((path) => path !== undefined && existsSync(path))

const launch = (path: string): Promise<Browser> =>
  // Root, as in a container, has no sandbox.
  chromium.launch({ executablePath: path, args: process.getuid?.() === 0 ? ['--no-sandbox'] : [] })

interface Visit {
  readonly page: Page
  /** Errors of the console and uncaught exceptions, and requests to other hosts. */
  readonly problems: string[]
  close(): Promise<void>
}

/** Opens a page in a new context and records what goes wrong in it. */
const visit = async (browser: Browser, url: string, options: BrowserContextOptions = {}): Promise<Visit> => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options })
  const page = await context.newPage()
  const problems: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(message.text())
  })
  page.on('pageerror', (error) => problems.push(String(error)))
  page.on('dialog', (dialog) => {
    problems.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.on('request', (request) => {
    if (new URL(request.url()).origin !== new URL(url).origin) problems.push(`request to ${request.url()}`)
  })
  await page.goto(url)
  return { page, problems, close: () => context.close() }
}

/** A suite in a browser, of a service that is started for it; skipped without Chromium, and on PostgreSQL, where the pages are the same. */
export const browserSuite = async (name: string, start: () => Promise<TestService>) => {
  const run = suite(name)
  const path = server ? undefined : chromiumPath
  if (!chromiumPath) console.log(`Skipped ${name}: Chromium is not installed. Install it, or set CHROMIUM to its path.`)
  const service = path ? await start() : undefined
  let browser: Browser | undefined
  run.before(async () => {
    if (path) browser = await launch(path)
  })
  run.after(() => browser?.close())
  const visitAny = (url: string, options?: BrowserContextOptions) => visit(browser as Browser, url, options)
  const address = service?.address ?? ''
  const open = (path: string, options?: BrowserContextOptions) => visitAny(`${address}${path}`, options)
  /** Opens a page as somebody who has signed in, by default with the write token. */
  const openAs = async (path: string, options?: BrowserContextOptions, key = token) => {
    const cookie = await sessionOf(address, key)
    const [, name = '', value = ''] = /^(\w+)=(.*)$/.exec(cookie) ?? []
    const cookies = [
      {
        name,
        value,
        domain: '127.0.0.1',
        path: '/',
        expires: -1,
        httpOnly: true,
        secure: false,
        sameSite: 'Strict' as const,
      },
    ]
    return open(path, { ...options, storageState: { cookies, origins: [] } })
  }
  return { run, test: path ? run : run.skip, service, address, visit: visitAny, open, openAs }
}

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** The rules that a page or a part of it breaks, serious ones and worse. */
export const seriousViolations = async (page: Page, part = 'html'): Promise<string[]> => {
  // A colour that is still changing has less contrast; on a busy machine that takes a while.
  await page.evaluate(
    'Promise.all(document.getAnimations().filter((one) => one.effect.getComputedTiming().endTime < 1e4).map((one) => one.finished.catch(() => {})))',
  )
  await page.evaluate(axeSource)
  // Only what is returned is described, which takes most of the time; no rule here needs the files that it would load.
  const run = `axe.run('${part}', { resultTypes: ['violations'], selectors: false, preload: false })`
  const found = (await page.evaluate(`${run}.then(({ violations }) => violations)`)) as {
    id: string
    impact: string
    nodes: { html: string }[]
  }[]
  return found
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join(' | ')}`)
}
