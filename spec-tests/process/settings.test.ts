/** Settings: defaults, invalid values, former names, warnings about misspelt names, and secrets in messages. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { parsePostgresUrl, publicDatabaseUrl } from '../../engine/process/databaseUrl.js'
import { readSettings, settingWarnings } from '../../engine/process/settings.js'

const test = suite('settings')

test('settings have their defaults', () => {
  assert.equal(readSettings({}), {
    PORT: 3000,
    HOST: '127.0.0.1',
    API_TOKEN: undefined,
    API_KEYS_FILE: '',
    JWT_ISSUER: undefined,
    JWT_SECRET: undefined,
    JWT_AUDIENCE: undefined,
    JWT_ROLES_CLAIM: undefined,
    SESSION_SECRET: undefined,
    DATABASE_URL: 'sqlite:data/registry.sqlite',
    DATABASE_PASSWORD_FILE: '',
    DATABASE_READ_URL: [],
    DATABASE_WAIT_MS: 60_000,
    DEMO_DATA: true,
    DERIVED_OBJECTS: true,
    EXPLORER: true,
    LOG_LEVEL: 'info',
    METRICS_PORT: undefined,
    POOL_SIZE: 10,
    POOL_WAIT_MS: 3000,
    POOL_IDLE_MS: 30_000,
    PREPARED_STATEMENTS: 'auto',
    CACHE_MB: 32,
    READ_TIMEOUT_MS: 10_000,
    CHANGES_DAYS: 30,
    WEBHOOKS_FILE: '',
    WEBHOOKS_ALLOW_PRIVATE: false,
    MAX_DOWNLOADS: 1_000,
    KEEP_ALIVE_S: 65,
    DRAIN_DELAY_MS: 0,
    DRAIN_TIMEOUT_MS: 10_000,
    WORKERS: 1,
  })
  assert.is(readSettings({ API_TOKEN: ' \t' }).API_TOKEN, undefined)
  assert.is(readSettings({ API_TOKEN: ' secret ' }).API_TOKEN, 'secret')
})

test('a project has its own defaults of the database and of the file of keys, which need not exist', () => {
  const project = { database: 'sqlite:data/shop.sqlite', keysFile: 'no-keys.json' }
  const { DATABASE_URL, API_KEYS_FILE } = readSettings({ API_KEYS_FILE: '' }, project)
  assert.equal([DATABASE_URL, API_KEYS_FILE], [project.database, project.keysFile])
  const named = { DATABASE_URL: 'sqlite:other.sqlite', API_KEYS_FILE: import.meta.filename }
  assert.is(readSettings(named, project).API_KEYS_FILE, import.meta.filename)
  assert.is(readSettings(named, project).DATABASE_URL, 'sqlite:other.sqlite')
  assert.throws(() => readSettings({ API_KEYS_FILE: 'no-keys.json' }, project), /API_KEYS_FILE is "…", but it must be/)
})

test('settings of tokens need each other, and no secret is printed', () => {
  const secret = 'sesame-'.repeat(6)
  const refused = (environment: Record<string, string>, message: RegExp) => {
    try {
      readSettings(environment)
    } catch (error) {
      const { message: found } = error as Error
      assert.match(found, message)
      assert.not.match(found, /sesame/)
      return
    }
    assert.unreachable()
  }
  refused({ JWT_SECRET: secret }, /JWT_AUDIENCE is missing/)
  refused({ JWT_SECRET: secret, JWT_ISSUER: 'https://id.example', JWT_AUDIENCE: 'x' }, /both set/)
  refused({ JWT_AUDIENCE: 'x' }, /neither/)
  refused(
    { JWT_SECRET: 'sesame', JWT_AUDIENCE: 'x' },
    /JWT_SECRET is "…", but it must be a secret of at least 32 bytes/,
  )
  refused({ SESSION_SECRET: 'sesame' }, /SESSION_SECRET/)
  refused({ JWT_ISSUER: 'http://sesame.example', JWT_AUDIENCE: 'x' }, /JWT_ISSUER is "…".*https:/)
  refused({ API_KEYS_FILE: '/sesame/missing' }, /API_KEYS_FILE is "…"/)
  for (const issuer of ['https://id.example/realms/a', 'http://127.0.0.1:8080', 'http://localhost:1/x'])
    assert.is(readSettings({ JWT_ISSUER: issuer, JWT_AUDIENCE: 'x' }).JWT_ISSUER, issuer)
})

test('all invalid settings are reported at once, with the accepted values', () => {
  const wrong = {
    PORT: '65536',
    DATABASE_URL: 'mysql://user:pass@host',
    DEMO_DATA: 'yes',
    LOG_LEVEL: 'loud',
    WORKERS: '0',
  }
  try {
    readSettings(wrong)
    assert.unreachable()
  } catch (error) {
    const lines = (error as Error).message.split('\n')
    const found = lines.map((line) => line.split(' ')[0])
    assert.equal(found, Object.keys(wrong))
    assert.match(lines[0] as string, /"65536".*0.*65535/)
    assert.not.match((error as Error).message, /pass@/)
  }
  assert.throws(() => readSettings({ DATABASE_URL: 'sqlite::memory:', WORKERS: '2' }), /WORKERS/)
  assert.throws(() => readSettings({ DATABASE_READ_URL: 'postgres://one/name' }), /DATABASE_URL is a SQLite database/)
  assert.throws(() => readSettings({ DATABASE_READ_URL: 'postgres://a:secret@one/b,mysql://two' }), /^(?!.*secret)/s)
})

test('the file of the password is part of every PostgreSQL URL, and never printed', () => {
  const DATABASE_PASSWORD_FILE = import.meta.filename
  const urls = { DATABASE_URL: 'postgres://u@one/name', DATABASE_READ_URL: 'postgres://u@two/name?sslmode=require' }
  const read = readSettings({ ...urls, DATABASE_PASSWORD_FILE })
  for (const url of [read.DATABASE_URL, ...read.DATABASE_READ_URL])
    assert.is(parsePostgresUrl(url).passwordFile, DATABASE_PASSWORD_FILE)
  assert.is(publicDatabaseUrl(read.DATABASE_URL), 'postgres://one/name')
  assert.is(readSettings({ DATABASE_URL: 'sqlite:x', DATABASE_PASSWORD_FILE }).DATABASE_URL, 'sqlite:x')
  const wrong = { ...urls, DATABASE_PASSWORD_FILE: 'the-password-itself' }
  assert.throws(() => readSettings(wrong), /^(?!.*itself).*PASSWORD_FILE.*a file that exists/s)
})

const typos: Readonly<Record<string, readonly string[]>> = {
  API_TOKEN: ['API_TOKN', 'APITOKEN', 'api_token'],
  DATABASE_URL: ['DATABSE_URL', 'DATABASE_URI', 'DATABSE_ULR'],
  LOG_LEVEL: ['LOGLEVEL', 'LOG_LEVLE'],
  PORT: ['PROT', 'port'],
  ...{ WORKERS: ['WORKER'], HOST: ['HSOT'], CACHE_MB: ['CACHE_MBS'], METRICS_PORT: ['METRIC_PORT'] },
  ...{ READ_TIMEOUT_MS: ['READ_TIMEOUT'], DEMO_DATA: ['DEMODATA'] },
}
for (const [meant, names] of Object.entries(typos)) {
  test(`typos of ${meant} are reported`, () => {
    for (const given of names)
      assert.equal(settingWarnings({ [given]: '1' }), [`${given} is not a setting. Did you mean ${meant}?`])
  })
}

/** Variables of shells, terminals, CI systems, containers, npm and other services. */
const common = `HOSTNAME HOSTTYPE HOSTS LOGNAME SHELL SHLVL HOME PATH PWD OLDPWD USER TERM LANG LC_ALL EDITOR VISUAL PAGER TZ POST SORT
  COLORTERM DISPLAY MAIL TMPDIR TMP TEMP SSH_AUTH_SOCK SSH_CONNECTION SSH_TTY XDG_RUNTIME_DIR XDG_SESSION_ID DBUS_SESSION_BUS_ADDRESS
  NODE_ENV NODE_OPTIONS NODE_PATH NODE_VERSION NVM_DIR YARN_VERSION npm_config_cache npm_lifecycle_event npm_package_version
  npm_config_port npm_execpath INIT_CWD COLOR CI CI_JOB_ID CI_PIPELINE_ID GITHUB_TOKEN GITHUB_ACTIONS GITHUB_WORKSPACE RUNNER_OS
  WORKDIR WORKSPACE KUBERNETES_PORT KUBERNETES_SERVICE_HOST KUBERNETES_SERVICE_PORT REDIS_PORT REDIS_URL PGHOST PGPORT PGUSER
  PGPASSWORD PGDATABASE POSTGRES_USER POSTGRES_PASSWORD POSTGRES_DB MYSQL_HOST DB_HOST DB_PORT DB_NAME HTTP_PROXY HTTPS_PROXY NO_PROXY
  TEST_DATABASE_URL TEST_DATABASE_PREFIX API_KEY API_URL API_HOST CACHE_DIR CACHE_TTL LOG_FILE LOG_DIR LOG_FORMAT DEBUG VERBOSE
  DEMO DATA DATA_DIR PORTS SPORT HOSTED JAVA_HOME GOPATH PYTHONPATH VIRTUAL_ENV CONDA_PREFIX LS_COLORS LESSOPEN MOTD_SHOWN WSLENV
  ProgramFiles(x86) SystemRoot COMPUTERNAME USERPROFILE PROCESSOR_ARCHITECTURE HOSTALIASES _ OSTYPE MACHTYPE IFS PS1 UID EUID PPID`
test('common variables cause no warnings', () => {
  const environment = Object.fromEntries(common.split(/\s+/).map((name) => [name, '1']))
  assert.equal(settingWarnings(environment), [])
})

test('beside the setting itself, only swapped letters are a typo: similar names are those of other programs', () => {
  assert.equal(settingWarnings({ DATABASE_URI: 'x', DATABASE_URL: 'sqlite:y' }), [])
  assert.equal(settingWarnings({ PROT: '4000', PORT: '3000' }), ['PROT is not a setting. Did you mean PORT?'])
})

test('a short write token causes a warning', () => {
  const warning = 'API_TOKEN has fewer than 16 characters and is easy to guess; use a longer one.'
  assert.equal(settingWarnings({ API_TOKEN: ' 15 characters. ' }), [warning])
  assert.equal(settingWarnings({ API_TOKEN: '16 characters ..' }), [])
  assert.equal(settingWarnings({ API_TOKEN: ' ' }), [])
})

test.run()
