/** Requests of every operation, over tables that a distributed database can have: two services that answer them alike are the same. */
import {
  boolean,
  claim,
  date,
  decimal,
  integer,
  json,
  now,
  number,
  text,
  timestamp,
  uuid,
} from '../../engine/descriptor/index.js'
import type { Registry, RowValues } from '../../engine/descriptor/registry.js'
import { withRulePaths } from '../../engine/descriptor/rulePaths.js'
import { callersNamed } from './callers.js'
import { resourceIn } from './registryFrom.js'
import { authorized } from './service.js'
import { parseRequests, type RequestLine } from './transcript.js'

const open = { create: true, update: true, delete: true, import: true, summary: true } as const

/** The first six have unique fields or are referenced, so that every node of a distributed database has a copy. */
export const comparedRegistry: Registry = withRulePaths([
  resourceIn('teams', { name: text({ unique: true, sort: true }), size: integer({ range: true, filter: true }) }, open),
  resourceIn(
    'places',
    { title: text({ filter: true, sort: true }), code: text({ unique: true }) },
    { id: 'text', ...open },
  ),
  resourceIn('groups', { title: text({ sort: true }) }, { id: 'uuid', ...open }),
  resourceIn(
    'people',
    {
      code: text({ unique: true, filter: true }),
      name: text({ sort: true }),
      team_id: integer({ references: 'teams', filter: true }),
      boss_id: integer({ references: 'people', onDelete: 'set null', filter: true }),
      born: date({ range: true, sort: true }),
      fee: decimal({ digits: 12, places: 2, range: true, sort: true }),
    },
    open,
  ),
  resourceIn(
    'desks',
    { code: text({ unique: true }), owner: integer({ filter: true }), team: text({ filter: true }) },
    {
      ...open,
      access: { read: ['chief', { owner: claim('owner') }], create: 'signed-in', update: { owner: claim('owner') } },
    },
  ),
  resourceIn(
    'seats',
    { number: integer({ unique: ['team_id'] }), team_id: integer({ references: 'teams', filter: true }) },
    open,
  ),
  resourceIn(
    'tasks',
    {
      title: text({ sort: true }),
      notes: text(),
      state: text({ oneOf: ['new', 'open', 'done'], filter: true, sort: true, default: 'new' }),
      team_id: integer({ references: 'teams', onDelete: 'cascade', filter: true }),
      owner_id: integer({ references: 'people', onDelete: 'set null', filter: true }),
      place: text({ references: 'places', filter: true }),
      group_id: uuid({ references: 'groups', filter: true }),
      effort: integer({ range: true, sort: true, filter: true }),
      price: decimal({ digits: 12, places: 2, range: true, sort: true, filter: true }),
      share: number({ range: true, sort: true, filter: true }),
      due: date({ range: true, sort: true, filter: true }),
      at: timestamp({ range: true, sort: true, filter: true }),
      done: boolean({ filter: true, sort: true }),
      settings: json(),
      secret: text({ redacted: true }),
      changed: timestamp({ managed: now, onUpdate: now }),
    },
    { required: ['title'], ...open },
  ),
  resourceIn(
    'labels',
    { title: text({ sort: true, filter: true }), weight: integer({ range: true }) },
    { id: 'text', ...open },
  ),
  resourceIn(
    'memos',
    {
      words: text({ sort: true }),
      person_id: integer({ references: 'people', filter: true }),
      group_id: uuid({ references: 'groups', filter: true }),
    },
    { id: 'uuid', ...open },
  ),
  resourceIn(
    'guards',
    {
      owner: integer({ filter: true, sort: true }),
      team: text({ filter: true, oneOf: ['red', 'blue', 'green'] }),
      title: text({ sort: true }),
      amount: integer({ range: true, filter: true, sort: true }),
      pay: decimal({ digits: 10, places: 2, readBy: ['chief'], filter: true, sort: true }),
      desk_id: integer({ references: 'desks', filter: true, onDelete: 'cascade' }),
      task_team: integer({ references: 'teams', filter: true }),
    },
    {
      ...open,
      access: {
        read: ['chief', { owner: claim('owner') }, { team: claim('teams') }],
        create: ['chief', { owner: claim('owner'), team: claim('teams') }],
        update: ['chief', { owner: claim('owner') }],
        delete: 'chief',
      },
    },
  ),
  // Rules that follow references, of each kind and of one to three steps.
  resourceIn(
    'visits',
    {
      reason: text({ sort: true, filter: true }),
      person_id: integer({ references: 'people', filter: true, onDelete: 'set null' }),
      place: text({ references: 'places', filter: true, onDelete: 'set null' }),
      group_id: uuid({ references: 'groups', filter: true, onDelete: 'set null' }),
    },
    {
      // An integer that a refused create has taken is not the same on every database.
      id: 'text',
      ...open,
      access: {
        read: [
          'chief',
          { 'person_id.team_id': claim('owner') },
          { 'person_id.boss_id.team_id.size': claim('size'), reason: claim('reasons') },
          { 'place.id': claim('places') },
        ],
        create: ['chief', { 'person_id.team_id': claim('owner') }, { 'place.id': claim('places') }],
        update: ['chief', { 'person_id.team_id.size': claim('size') }],
        delete: ['chief', { 'person_id.team_id.id': claim('owner') }],
      },
    },
  ),
  resourceIn('events', { what: text(), at: timestamp({ range: true, sort: true }) }, open),
])

/** Those that a distributed database spreads over its nodes. */
export const spreadTables = ['tasks', 'labels', 'memos', 'guards', 'visits', 'events']

export const comparedCallers = callersNamed({
  chief: { roles: ['chief'] },
  one: { roles: [], claims: { owner: 1, teams: ['red'], size: 1, reasons: ['audit', 'talk'] } },
  two: { roles: [], claims: { owner: 2, teams: ['red', 'blue'], size: [2, 1], places: ['NL', 'a/b'] } },
  none: { roles: [] },
})

/** A request; `{name}` in its path and body is the id of the row that the request with `as: name` has created in the same service. */
export interface ComparedRequest extends RequestLine {
  /** Whether the pages that follow are compared too. */
  readonly isFollowed?: boolean
}

// biome-ignore format: one list
const words = [
  'Müller & Sons', 'STRASSE', 'Straße 7', 'ΣΊΣΥΦΟΣ', 'σίσυφος', 'Ёлка', 'ёлка', '日本語のテキスト', 'İstanbul', 'naïve café', '100% sure', 'a_b\\c',
  "it's \"quoted\"", 'Zebra', 'zebra', 'plain task', 'Plain TASK', '', 'x y', '  spaced  ', 'K', '👩‍🚀 mission', 'ﬁle', 'tab\tand\nline',
]
// biome-ignore format: one list
const searches = [
  'müller', 'STRASSE', 'ße', 'ς', 'ΣΊΣ', 'Ё', '日本', 'istanbul', 'CAFÉ', '100%', '_b\\', "it's", '"quoted"', 'zebra',
  'task', 'k', '👩', 'new', 'q', 'plain task note', '1 note', '\u0000', '',
]

const pick = <T>(values: readonly T[], n: number): T => values[n % values.length] as T
const days = ['2024-02-29', '1999-12-31', '2026-03-01', '0001-01-01', '9999-12-31']

const taskRows: RowValues[] = Array.from({ length: 60 }, (_, n) => ({
  title: `${pick(words, n)} ${n % 5}`,
  notes: n % 3 === 0 ? null : `note ${pick(words, n * 7 + 3)}`,
  state: pick(['new', 'open', 'done'], n * 7),
  team_id: n % 6 === 0 ? null : 1 + (n % 3),
  owner_id: n % 4 === 0 ? null : 1 + (n % 5),
  place: n % 5 === 0 ? null : pick(['a/b', 'NL', 'ü "x"'], n),
  effort: n % 7 === 0 ? null : ((n * 37) % 21) - 10,
  price: n % 8 === 0 ? null : pick(['0.10', '-3.05', '1000000000.99', '7.00', '7.01'], n),
  share: n % 9 === 0 ? null : pick([0.5, -1.25e-7, 3, 1e20, 0.1], n),
  due: n % 10 === 0 ? null : pick(days, n * 3),
  at: n % 11 === 0 ? null : `202${n % 7}-0${1 + (n % 9)}-11T0${n % 10}:30:00.${100 + n}Z`,
  done: n % 3 === 2 ? null : n % 3 === 0,
  settings:
    n % 4 === 1
      ? pick([null, 7, 'a "text", and more', true, []], n)
      : { n, list: [1, 'two', { three: null }], text: pick(words, n) },
  secret: `hidden ${n}`,
}))
const guardRows: RowValues[] = Array.from({ length: 40 }, (_, n) => ({
  owner: n % 7 === 0 ? null : 1 + (n % 3),
  team: pick(['red', 'blue', 'green', null], n * 3),
  title: `guard ${pick(words, n)}`,
  amount: n % 5 === 0 ? null : (n * 13) % 17,
  pay: `${n}.50`,
  desk_id: n % 4 === 0 ? null : 1 + (n % 3),
  task_team: n % 3 === 0 ? null : 1 + (n % 2),
}))

/** Without a caller, requests have the write token. */
const lines = (...texts: readonly string[]): ComparedRequest[] =>
  parseRequests(texts.join('\n')).map((line) => ({
    ...line,
    headers: { authorization: authorized.authorization, ...line.headers },
  }))
const reading = (prefix: string, queries: readonly string[]) =>
  lines(...queries.map((query) => `GET ${prefix}${query}`))
const followed = (...paths: readonly string[]): ComparedRequest[] =>
  reading('', paths).map((request) => ({ ...request, isFollowed: true }))
/** Rows of an import, each a line of its body. */
const imported = (path: string, rows: readonly RowValues[]): ComparedRequest[] =>
  lines(`POST ${path} content-type=application/x-ndjson`).map((request) => ({
    ...request,
    body: rows.map((row) => JSON.stringify(row)).join('\n'),
  }))
const jsonOf = (value: unknown): string => JSON.stringify(value)
const encoded = encodeURIComponent

const filling: ComparedRequest[] = [
  ...lines(
    ...['Red', 'Blue', 'Green', 'Empty'].map((name, n) => `POST teams ${jsonOf({ name, size: n })}`),
    ...['a/b', 'NL', 'ü "x"', 'spare'].map(
      (id, n) => `POST places ${jsonOf({ id, title: `Place ${pick(words, n)}`, code: n === 1 ? null : `p${n}` })}`,
    ),
    'crew = POST groups {"title":"Crew"}',
    'band = POST groups {"title":"Band"}',
  ),
  ...imported(
    'people/import',
    Array.from({ length: 12 }, (_, n) => ({
      code: n === 3 ? null : `c${n}`,
      name: pick(words, n),
      team_id: n % 4 === 0 ? null : 1 + (n % 3),
      born: pick(days, n),
      fee: n % 5 === 0 ? null : `${n * 11}.05`,
    })),
  ),
  ...lines(
    ...[1, 2, 3].map((n) => `POST desks {"code":"d${n}","owner":${n},"team":"red"}`),
    ...[1, 2].map((n) => `POST seats {"number":${n},"team_id":1}`),
  ),
  ...imported('tasks/import', taskRows),
  ...imported('guards/import', guardRows),
  ...lines(...[1, 2, 3, 4, 5, 6].map((n) => `PATCH people/${n + 3} {"boss_id":${n}}`)),
  ...imported(
    'visits/import',
    Array.from({ length: 24 }, (_, n) => ({
      id: `v${n + 1}`,
      reason: pick(['audit', 'talk', 'repair', null], n),
      person_id: n % 6 === 0 ? null : 1 + (n % 11),
      place: pick(['NL', null, 'a/b'], n),
    })),
  ),
  ...imported(
    'labels/import',
    ['b', 'ä', 'A', 'a', '10', '9', '日'].map((id, n) => ({ id, title: `Label ${pick(words, n)}`, weight: n * 3 })),
  ),
  ...lines(
    'memo = POST memos {"words":"First","person_id":4,"group_id":"{crew}"}',
    'POST memos {"words":"Second","person_id":5}',
    'POST memos {"words":"Third ΣΊΣΥΦΟΣ","person_id":5,"group_id":"{band}"}',
    ...[1, 2, 3].map((n) => `POST events {"what":"Event ${n}","at":"2026-0${n}-01T00:00:00Z"}`),
  ),
]

const kinds = ['effort', 'price', 'share', 'due', 'at'] as const
const bounds: Readonly<Record<(typeof kinds)[number], readonly [string, string]>> = {
  effort: ['-3', '5'],
  price: ['0.1', '7.00'],
  share: ['-1', '3'],
  due: ['2024-02-29', '2026-03-01'],
  at: ['2021-01-01T00:00:00Z', '2024-06-01T00:00:00%2B02:00'],
}

/** What a caller sees of rows whose rules follow references. */
const visitReads = (name: string): ComparedRequest[] => [
  ...lines(`${name} GET visits?limit=4&sort=-reason`).map((request) => ({ ...request, isFollowed: true })),
  ...lines(`
    ${name} GET visits?limit=200
    ${name} GET visits?reason=audit&sort=-id
    ${name} GET visits?q=tal&person_id.null=false
    ${name} GET visits?limit=3&offset=2&expand=person_id&expand=place
    ${name} GET visits?sort=reason accept=text/csv
    ${name} GET visits?expand=person_id accept=application/x-ndjson
    ${name} GET visits/summary?by=reason
    ${name} GET visits/v2
    ${name} GET visits/v7
    ${name} GET visits/v8?expand=place
    ${name} GET people/5?expand=visits.person_id
    ${name} GET places/NL?expand=visits.place`),
]

/** Lists of one table, of every operator and order. */
const taskLists: string[] = [
  ...['', 'limit=7', 'limit=3&offset=2', 'offset=58', 'offset=600', 'limit=1&offset=99999999999999999999', 'limit=200'],
  ...searches.map((q) => `q=${encoded(q)}&limit=20`),
  // biome-ignore format: one list
  ...[
    'state=open', 'state.in=open&state.in=done', 'team_id=1', 'team_id=999', 'team_id.null=true',
    'team_id.null=false&state=new', 'owner_id.in=1&owner_id.in=3', 'place=a%2Fb', 'place.in=NL&place.in=none',
    'place.null=true', 'group_id.null=true', 'done=true', 'done=false', 'done.null=true', 'effort=4',
    'effort.in=4&effort.in=-6&effort.in=99999999999999999999', 'price=7', 'price.in=7.00&price.in=0.1', 'share=0.5',
    'due=2024-02-29', 'at.null=true', 'at=2021-02-11T02%3A30%3A00.101%2B01%3A00', 'price=1.505', 'group_id=x',
  ],
  ...kinds.flatMap((name) => [
    `${name}.gte=${bounds[name][0]}`,
    `${name}.gt=${bounds[name][0]}&${name}.lte=${bounds[name][1]}`,
    `${name}.lt=${bounds[name][1]}&sort=-${name}`,
    `${name}.gte=${bounds[name][0]}&state=open&q=task&sort=${name}`,
  ]),
  ...['effort.gt=9&effort.lt=3', 'effort.gte=-99999999999999999999&limit=3'],
  ...['title', 'state', 'effort', 'price', 'share', 'due', 'at', 'done', 'id'].flatMap((name) => [
    `sort=${name}&limit=15`,
    `sort=-${name}&limit=15&offset=5`,
  ]),
  // biome-ignore format: one list
  ...[
    'sort=title&state=open', 'sort=-price&q=task', 'sort=due&team_id=2&effort.gte=0',
    'sort=-at&owner_id.in=1&owner_id.in=2&offset=3&limit=4', 'sort=done&done.null=false', 'expand=team_id',
    'expand=owner_id&expand=place&limit=10',
    'expand=team_id&expand=owner_id&expand=place&expand=group_id&sort=-effort&state=open',
  ],
  ...[`q=${'x'.repeat(80)}`, `q=${'x'.repeat(301)}`, 'expand=team_id&offset=99'],
  ...['q=task&expand=place', 'limit=0', 'sort=nothing', 'effort.gte=x', 'expand=nothing'],
]
// biome-ignore format: one list
const summaries = [
  '', 'by=state', 'by=team_id&sum=effort&avg=effort&min=effort&max=effort',
  'by=place&sum=price&avg=price&min=price&max=price', 'by=due.year&sum=price', 'by=due.month&by=state&limit=5',
  'by=at.day&min=at&max=at', 'by=done&min=due&max=due', 'by=price', 'by=effort&limit=3', 'by=state&q=task',
  'by=state&team_id=1&sum=price', 'by=owner_id&effort.gte=0&avg=price', 'sum=effort&sum=price&avg=effort',
  'by=nothing', 'state=none&sum=effort',
]
// biome-ignore format: one list
const guardLists = [
  '', 'limit=3&offset=2', 'q=guard', 'q=zebra', 'team=red', 'owner=1', 'amount.gte=5&sort=-amount',
  'sort=title&limit=5', 'sort=-owner', 'expand=desk_id', 'expand=desk_id&expand=task_team&team=blue', 'desk_id=2',
  'pay=3.50', 'sort=pay',
]
const accepts = ['accept=text/csv', 'accept=application/x-ndjson']

const reads = (): ComparedRequest[] => [
  ...reading('tasks?', taskLists),
  ...followed(
    ...['tasks?limit=11', 'tasks?limit=13&sort=-price', 'tasks?limit=9&sort=due&state=new', 'tasks?limit=17&sort=at'],
    ...['tasks?limit=4&q=task&sort=title', 'tasks?limit=8&expand=team_id&sort=-done', 'labels?limit=2'],
    'people?limit=5&sort=name',
  ),
  ...reading('tasks/summary?', summaries),
  ...['', 'sort=-price', 'state=open&sort=title', 'q=task', 'effort.gte=0&sort=due'].flatMap((query) =>
    lines(...accepts.map((accept) => `GET tasks?${query} ${accept}`)),
  ),
  ...lines('GET tasks?expand=owner_id&sort=effort accept=application/x-ndjson'),
  ...reading('', [
    // biome-ignore format: one list
    ...[
    'tasks/1', 'tasks/60', 'tasks/999', 'tasks/abc', 'tasks/7?expand=team_id&expand=owner_id&expand=place',
    'labels/%C3%A4', 'places/a%2Fb', 'memos/{memo}', 'teams/1?expand=tasks.team_id',
    'teams/2?expand=tasks.team_id&expand=people.team_id&expand=seats.team_id',
    'people/5?expand=team_id&expand=tasks.owner_id&expand=memos.person_id', 'places/NL?expand=tasks.place',
    'groups/{crew}?expand=memos.group_id', 'desks/2?expand=guards.desk_id',
    'memos/{memo}?expand=group_id&expand=person_id', 'labels', 'labels?sort=title', 'labels?sort=-title&limit=3',
    'labels?q=label&weight.gte=6', 'labels?sort=-id', 'labels?title=Label%20STRASSE', 'memos?sort=words',
    'memos?sort=-words&expand=person_id', 'memos?person_id=5&sort=words', 'memos?group_id={band}',
    'memos?q=%CF%83%CE%AF',
    'people', 'people?sort=-born&limit=5', 'people?q=stra&sort=name', 'people?expand=team_id&expand=boss_id',
    'people?code=c2', 'people?code.in=c1&code.in=c9', 'people?fee.gte=20&sort=-fee',
    'people/summary?by=team_id&sum=fee&max=born', 'teams?sort=-name', 'teams?size.gte=1', 'places?sort=title',
    'groups?sort=title', 'events?at.gte=2026-02-01T00:00:00Z&sort=-at',
    ],
  ]),
  ...['chief', 'one', 'two', 'none'].flatMap((name) => [
    ...lines(...guardLists.map((query) => `${name} GET guards?${query}`)),
    ...lines(`${name} GET guards?limit=4&sort=-amount`).map((request) => ({ ...request, isFollowed: true })),
    ...lines(`
      ${name} GET guards/summary?by=team&sum=amount
      ${name} GET guards/summary?by=owner&q=guard
      ${name} GET guards?sort=title accept=text/csv
      ${name} GET guards/3
      ${name} GET guards/9?expand=desk_id
      ${name} GET desks
      ${name} GET desks?owner=2&expand=nothing
      ${name} GET desks/2?expand=guards.desk_id
      ${name} GET desks/summary?by=owner`),
    ...visitReads(name),
  ]),
  ...reading('', [
    // biome-ignore format: one list
    ...[
    '/explore', '/explore/tasks?columns=title,team_id,owner_id,effort,price,due,at,done',
    '/explore/tasks?sort=-price&state=open&columns=title,team_id,owner_id,effort,price,due,at,done',
    '/explore/tasks?q=task&columns=title,team_id,owner_id,effort,price,due,at,done', '/explore/tasks/filters',
    '/explore/tasks/filters?state=open&q=zebra', '/explore/tasks/7', '/explore/tasks/7/edit', '/explore/teams/1',
    '/explore/teams/1/delete', '/explore/people/5/delete', '/explore/tasks/new',
    '/explore/tasks?group=state&sum=price&columns=title,team_id,owner_id,effort,price,due,at,done',
    '/explore/people?sort=name', '/explore/labels', '/explore/memos?sort=words', '/explore/find?q=zebra',
    '/explore/find?q=task', '/explore/tasks/choices?q=zeb', '/explore/teams/choices?q=re', '/explore/tasks/import',
    '/explore/tasks/download.csv?state=open', '/explore/tasks/edit-many?id=1&id=2',
    '/explore/tasks/delete-many?id=1&id=2',
    ],
  ]),
]

const twice = (line: string): string => `${line}\n${line}`
const wrongRows = [{ code: 'c5', name: 'Taken' }, { code: 'twice' }, { code: 'twice' }, { team_id: 99 }]
const manyTasks = Array.from({ length: 50 }, (_, n) => ({ title: `Many ${n}`, effort: n, team_id: 1 + (n % 3) }))
const manyEfforts = Array.from({ length: 30 }, (_, n) => ({ id: 30 - n, effort: n % 4, state: 'done' }))
const csv = [
  'title,team_id,effort,price,due\nOne,1,1,1.10,2026-05-01\nTwo,2,,,\nThree,3,3,3.30,2026-05-03\n',
  'title,team_id\nOk,1\nWrong,77\nAlso,78\n',
]

const writes: ComparedRequest[] = [
  ...lines(`
    # Creates, and what refuses them.
    POST tasks {"title":"Created","team_id":1,"owner_id":2,"place":"NL","effort":3,"price":"12.5","due":"2026-01-31","at":"2026-01-31T12:00:00+02:00","settings":{"a":[1]},"secret":"s"}
    POST tasks {"title":"Wrong references","team_id":99,"owner_id":98,"place":"nowhere","group_id":"0190d8a1-6f2e-7c3a-9b1d-2f4e6a8c0b1d"}
    POST tasks {"effort":"x","state":"gone"}
    POST tasks {"title":"With a group","group_id":"{crew}"}
    POST teams {"name":"Red"}
    POST seats {"number":1,"team_id":1}
    POST seats {"number":1,"team_id":2}
    POST labels {"id":"a","title":"Taken"}
    POST labels {"id":"new/one","title":"Chosen"}
    POST places {"id":"p9","code":"p0"}
    ${twice('POST tasks idempotency-key=k1 {"title":"Once"}')}
    POST tasks idempotency-key=k1 {"title":"Twice"}
    ${twice('POST teams idempotency-key=k2 {"name":"Keyed"}')}
    # Updates.
    PATCH tasks/1 {"title":"Changed","effort":11}
    PATCH tasks/1 {"title":"Changed"}
    PATCH tasks/2 {"team_id":99}
    PATCH tasks/3 {"price":null,"due":"2020-02-02","done":true,"settings":{"changed":[true]}}
    ${twice('PATCH tasks/3 {"price":"70000000.07","at":"2026-01-01T00:00:00+01:00","share":2.25,"done":null}')}
    PATCH tasks/3 {"price":1.5}
    PATCH tasks/3 {"price":"0.001"}
    PATCH tasks/3 {"price":"99999999999"}
    PATCH tasks/3 {"title":null}
    PATCH tasks/3 {"nothing":1}
    PATCH tasks/3 {"secret":null}
    PATCH tasks/999 {"title":"x"}
    PATCH tasks/4 {"secret":"other"}
    PATCH tasks/5 if-match="nothing" {"title":"Stale"}
    ${twice('PATCH tasks/6 idempotency-key=k3 {"effort":1}')}
    PATCH people/1 {"code":"c2"}
    PATCH people/1 {"code":"c1b","boss_id":2}
    PATCH people/3 {"boss_id":1,"team_id":2}
    PATCH seats/2 {"number":1}
    PATCH labels/a {"weight":77}
    PATCH memos/{memo} {"words":"First again","group_id":"{band}"}`),
  // Imports.
  ...csv.flatMap((body) => lines('POST tasks/import content-type=text/csv').map((request) => ({ ...request, body }))),
  ...imported('tasks/import', manyTasks),
  ...lines(`
    POST tasks/import?match=id [{"id":61,"title":"Matched"},{"id":62,"effort":5},{"id":9,"title":${jsonOf(taskRows[8]?.['title'])}}]
    POST tasks/import?match=id [{"id":9999,"title":"No such"}]
    POST tasks/import?match=id ${jsonOf(manyEfforts)}
    POST teams/import?match=name [{"name":"Blue","size":50},{"name":"Violet","size":51},{"name":"Red","size":0},{"name":"Amber","size":52}]
    POST people/import?match=code [{"code":"c5","name":"Five","team_id":1},{"code":"new","name":"Newcomer","team_id":2},{"code":"c6","born":"2000-01-01"}]
    POST people/import ${jsonOf(wrongRows)}
    POST labels/import?match=id [{"id":"b","title":"Changed b"},{"id":"fresh","title":"Fresh"},{"id":"10","weight":5}]
    POST places/import?match=id [{"id":"NL","title":"Netherlands"},{"id":"BE","title":"Belgium","code":"be"}]
    POST places/import?match=code [{"code":"p2","title":"By code","id":"ü \\"x\\""}]
    POST labels/import?dryRun=true [{"id":"dry","title":"Dry"},{"id":"a","title":"Taken"}]
    POST labels/import?dryRun=true [{"id":"dry","title":"Dry"}]
    POST tasks/import?match=id&dryRun=true [{"id":5,"title":"Dry"},{"id":6,"title":"Dry too"}]
    ${twice('POST labels/import idempotency-key=k4 [{"id":"keyed","title":"Keyed"}]')}
    # Batches.
    BATCH t = POST teams {"name":"Batch"} & k = POST tasks {"title":"In a batch","team_id":{"$ref":"t.id"}} & PATCH tasks/2 {"effort":77} & PATCH teams/3 {"size":9} & DELETE labels/9 & POST people {"code":"batch","name":"B","team_id":{"$ref":"t.id"}}
    BATCH PATCH tasks/3 {"effort":1} & PATCH teams/2 {"name":"Red"}
    BATCH PATCH tasks/3 {"effort":1} & DELETE tasks/99999
    ${twice(`BATCH idempotency-key=k5 ${Array.from({ length: 20 }, (_, n) => `PATCH tasks/${n + 30} {"effort":${100 + n}}`).join(' & ')}`)}
    BATCH DELETE tasks/20 & DELETE teams/4 & DELETE places/spare`),
  // Writes of callers with row rules.
  ...['chief', 'one', 'two', 'none'].flatMap((name) =>
    lines(`
      ${name} PATCH guards/1 {"amount":50}
      ${name} PATCH guards/2 {"title":"by ${name}"}
      ${name} PATCH guards/3 {"owner":3}
      ${name} PATCH desks/1 {"team":"of ${name}"}
      ${name} PATCH desks/2 {"code":"d1"}
      ${name} POST guards/import?match=id [{"id":4,"amount":5},{"id":7,"amount":6}]
      ${name} DELETE guards/5`),
  ),
  ...['chief', 'one', 'two', 'none'].flatMap((name) =>
    lines(`
      ${name} POST visits {"id":"a ${name}","reason":"new","person_id":2}
      ${name} POST visits {"id":"b ${name}","reason":"new","person_id":3,"place":"NL"}
      ${name} POST visits {"id":"c ${name}","reason":"new","person_id":999}
      ${name} PATCH visits/v2 {"reason":"changed by ${name}"}
      ${name} PATCH visits/v3 {"person_id":3}
      ${name} PATCH visits/v4 {"person_id":null}
      ${name} POST visits/import [{"id":"d ${name}","reason":"many","person_id":2},{"id":"e ${name}","reason":"many","person_id":3}]
      ${name} POST visits/import?match=id [{"id":"v9","reason":"matched"},{"id":"v10","reason":"matched"}]
      ${name} BATCH POST visits {"id":"f ${name}","person_id":3} & PATCH visits/v9 {"reason":"batch"}
      ${name} DELETE visits/v12
      ${name} DELETE visits/v13`),
  ),
  // The referenced rows change, and with them what each caller sees.
  ...lines(`
    PATCH people/2 {"team_id":2}
    PATCH people/8 {"boss_id":null}
    PATCH teams/2 {"size":1}`),
  ...['chief', 'one', 'two', 'none'].flatMap(visitReads),
  ...lines(`
    # Deletes: of a distributed row, of rows that distributed rows reference, and of those that something prevents.
    ${twice('DELETE tasks/10')}
    DELETE tasks/11 if-match="nothing"
    DELETE labels/%E6%97%A5
    DELETE people/4
    ${twice('DELETE people/6')}
    DELETE places/a%2Fb
    DELETE memos/{memo}
    DELETE people/4
    DELETE desks/3
    ${twice('DELETE teams/3 idempotency-key=k6')}
    DELETE teams/1`),
]

/** All requests, in order: reads of the same lists before and after the writes. */
export const comparedRequests: readonly ComparedRequest[] = [
  ...filling,
  ...reads(),
  ...writes,
  ...reading('', [
    // biome-ignore format: one list
    ...[
      'tasks?limit=200', 'teams', 'people', 'places', 'labels', 'memos?sort=words', 'guards?limit=200', 'visits?limit=200', 'desks', 'seats',
      'events', 'tasks?sort=-effort', 'tasks/summary?by=state&sum=price', 'tasks?q=many&limit=5',
      'tasks?expand=team_id&limit=200', 'tasks?sort=title accept=text/csv',
    ],
  ]),
]
