// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the code that is replaced has template strings.
/** Mutants of the HTTP rules: authentication, conditional requests, methods, bodies, retries and errors. */
import { mutantsOf } from './mutant.js'

const auth = mutantsOf('engine/http/auth.js', ['access'], {
  'auth-token-ignored': {
    rule: 'A create needs the write token.',
    find: "if (!timingSafeEqual(digestOf(Buffer.from(sent, 'latin1')), expected))",
    replace: 'if (false)',
  },
  'auth-token-beginning': {
    rule: 'What follows the token counts too.',
    find: "digestOf(Buffer.from(sent, 'latin1'))",
    replace: "digestOf(Buffer.from(sent, 'latin1').subarray(0, token.length))",
  },
  'auth-token-case': {
    rule: 'The case of the token matters.',
    find: "Buffer.from(sent, 'latin1')",
    replace: "Buffer.from(sent.toLowerCase(), 'latin1')",
  },
  'auth-scheme-case': {
    rule: 'The case of the scheme does not matter.',
    find: String.raw`/^bearer +(\S.*)$/i`,
    replace: String.raw`/^Bearer +(\S.*)$/`,
  },
  'auth-other-scheme': {
    rule: 'Bearer is the only scheme.',
    find: '/^bearer +',
    replace: String.raw`/^\w+ +`,
  },
  'auth-disabled-first': {
    rule: 'Without a configured token every create is 503, whatever it sends.',
    find: 'throw writesDisabled();',
    replace: 'throw tokenMissing();',
  },
})

const settings = mutantsOf('engine/settings.js', ['settings'], {
  'auth-blank-token': {
    rule: 'A token of white space counts as not set: writes are disabled.',
    find: 'given.trim() || undefined',
    replace: 'given',
  },
})

const challenges = mutantsOf('engine/contract/errors.js', ['access'], {
  'auth-challenge-wrong-token': {
    rule: 'The challenge says invalid_token if a token was sent.',
    find: ', error="invalid_token"`',
    replace: '`',
  },
  'auth-challenge-no-token': {
    rule: 'The challenge does not say invalid_token if no token was sent.',
    find: "'WWW-Authenticate': challenge,",
    replace: `'WWW-Authenticate': challenge + ', error="invalid_token"',`,
  },
})

const handlers = mutantsOf('engine/http/handlers.js', ['create'], {
  'auth-before-body': {
    rule: 'An unauthorized create is 401, whatever its body.',
    find: "checkToken(ctx.get('Authorization'));",
    replace: "await readJson(ctx); checkToken(ctx.get('Authorization'));",
    suites: ['access'],
  },
  'auth-body-unread': {
    rule: 'Nothing of the body is read before the token was checked.',
    find: "checkToken(ctx.get('Authorization'));",
    replace: `try { checkToken(ctx.get('Authorization')); }
      catch (error) { await readJson(ctx).catch(() => {}); throw error; }`,
    suites: ['body'],
  },
  'create-all-faults': {
    rule: 'A create lists all of its errors at once, also those that the database finds.',
    find: 'await table.conflicts(row)',
    replace: '[]',
  },
  'create-location': {
    rule: 'Location is the path of the new row.',
    find: '/${outcome.id}`',
    replace: '/1`',
  },
  'create-status': {
    rule: 'A create is 201.',
    find: 'ctx.status = 201;',
    replace: 'ctx.status = 200;',
  },
  'idempotency-header': {
    rule: 'A replayed create has the header Idempotency-Replayed.',
    find: 'if (outcome.replayed)',
    replace: 'if (false)',
    suites: ['idempotency'],
  },
  'health-writes': {
    rule: 'Health says whether writes are enabled.',
    find: 'writes_enabled: token !== undefined',
    replace: 'writes_enabled: true',
    suites: ['system'],
  },
})

const bodies = mutantsOf('engine/http/body.js', ['body'], {
  'body-content-type': {
    rule: 'Only application/json is accepted.',
    find: "type !== 'application/json'",
    replace: 'false',
  },
  'body-charset': {
    rule: 'Only UTF-8 is accepted.',
    find: '!/^(?:utf-?8)?$/i.test(request.charset)',
    replace: 'false',
  },
  'body-invalid-utf8': {
    rule: 'Invalid UTF-8 is refused, not replaced.',
    find: '{ fatal: true }',
    replace: '{}',
  },
  'body-expect-limit': {
    rule: 'A body over the limit is refused before 100 Continue.',
    find: "Number(ctx.get('Content-Length')) > bodyLimit",
    replace: 'false',
  },
  'body-continue': {
    rule: 'HTTP/1.0 has no 100 Continue.',
    find: "httpVersion === '1.1' && ",
    replace: '',
  },
  'idempotency-path': {
    rule: 'The same key and body on another path is another request.',
    find: String.raw`${'${ctx.path}'}\n`,
    replace: '',
    suites: ['idempotency'],
  },
  'idempotency-key-grammar': {
    rule: 'An invalid key is refused.',
    find: 'if (fault)',
    replace: 'if (false)',
    suites: ['idempotency'],
  },
})

const bodyLimit = mutantsOf('engine/contract/createBody.js', ['body'], {
  'body-limit': {
    rule: 'A body may have 1 MiB and not a byte more.',
    find: 'bodyLimit = 1024 * 1024',
    replace: 'bodyLimit = 1024 * 1024 + 1',
  },
})

const conditional = mutantsOf('engine/http/conditional.js', ['conditional'], {
  'etag-per-encoding': {
    rule: 'Each encoding has its own tag.',
    find: '`"${tag}-${encoding}"`',
    replace: '`"${tag}"`',
  },
  'etag-not-echoed': {
    rule: "A 304 carries the server's own tag.",
    find: "ctx.set('ETag', etag)",
    replace: "ctx.set('ETag', ifNoneMatch ?? etag)",
  },
  'etag-weak-comparison': {
    rule: 'If-None-Match compares weakly.',
    find: "namesTag(ifNoneMatch, etag, 'weak')",
    replace: "namesTag(ifNoneMatch, etag, 'strong')",
  },
  'etag-strong-comparison': {
    rule: 'If-Match compares strongly.',
    find: "namesTag(ifMatch, etag, 'strong')",
    replace: "namesTag(ifMatch, etag, 'weak')",
  },
  'etag-quoted': {
    rule: 'A tag without quotes matches nothing.',
    find: "if (header.trim() === '*')",
    replace: `if (header.trim() === '*' || '"' + header.trim() + '"' === etag)`,
  },
  'etag-list': {
    rule: 'Every tag of a list counts.',
    find: 'while (listElement.lastIndex < header.length)',
    replace: 'if (header.length > 0)',
  },
  'etag-never-304': {
    rule: 'A read that the client has already is 304.',
    find: 'ifNoneMatch !== undefined && namesTag(',
    replace: 'false && namesTag(',
  },
  'etag-if-match-ignored': {
    rule: 'If-Match that fails is 412.',
    find: 'if (ifMatch !== undefined && !namesTag(',
    replace: 'if (false && !namesTag(',
  },
  'etag-vary': {
    rule: 'Vary names the header that changes the response.',
    find: "ctx.set('Vary', vary);",
    replace: '',
  },
  'etag-streamed-if-match': {
    rule: 'A page without a tag fails every If-Match except *.',
    find: "if (ifMatch !== undefined && ifMatch.trim() !== '*')",
    replace: 'if (false)',
    suites: ['bounds'],
  },
})

const connections = mutantsOf('engine/http/connections.js', ['sockets'], {
  'connection-one-at-a-time': {
    rule: 'The requests of a connection are handled one after another.',
    find: 'if (!connection.current)',
    replace: 'if (true)',
  },
})

const envelopes = mutantsOf('engine/http/errorEnvelope.js', ['system'], {
  'errors-not-cached': {
    rule: 'Errors may not be cached.',
    find: 'if (ctx.status >= 400)',
    replace: 'if (false)',
  },
  'errors-secret': {
    rule: 'The response to an unexpected error does not name its cause.',
    find: ': internalError();',
    replace: ': middlewareError(500, message);',
    suites: ['middleware'],
  },
})

const routes = mutantsOf('engine/http/router.js', ['access'], {
  'methods-allow': {
    rule: 'Allow names every method of the path, OPTIONS included.',
    find: "[...methods, 'OPTIONS']",
    replace: '[...methods]',
  },
  'methods-405': {
    rule: 'A known path with another method is 405.',
    find: "if (ctx.method !== 'OPTIONS')",
    replace: 'if (false)',
  },
  'methods-head': {
    rule: 'HEAD works wherever GET does.',
    find: 'return byPrefix',
    replace: "return ctx.method === 'HEAD' ? undefined : byPrefix",
    suites: ['list'],
  },
  'paths-slash': {
    rule: 'A path has one spelling: a slash at its end makes another path.',
    find: 'strict: true',
    replace: 'strict: false',
  },
})

const refusals = mutantsOf('engine/http/refusals.js', ['system'], {
  'host-one': {
    rule: 'A request has exactly one valid Host.',
    find: 'return hosts === 1 && ',
    replace: 'return true || ',
  },
})

const logs = mutantsOf('engine/http/requestLog.js', ['requestLog'], {
  'log-query': {
    rule: 'The log has no query strings: their values may be private.',
    find: 'path: ctx.path',
    replace: 'path: ctx.url',
  },
})

const traces = mutantsOf('engine/http/traceContext.js', ['requestLog'], {
  'trace-version': {
    rule: 'A traceparent of version ff is not valid.',
    find: "version === 'ff' || ",
    replace: '',
  },
  'trace-zero': {
    rule: 'A trace id of zeros is not valid.',
    find: 'return isZero(traceId) || ',
    replace: 'return ',
  },
})

const metrics = [
  ...mutantsOf('engine/http/workerMetrics.js', ['metrics'], {
    'metrics-dead-worker': {
      rule: 'The sums over workers include what dead workers had counted.',
      find: 'if (last)',
      replace: 'if (false)',
    },
  }),
  ...mutantsOf('engine/http/probes.js', ['probes'], {
    'ready-while-stopping': {
      rule: 'A process that stops is not ready.',
      find: 'if (isStopping?.())',
      replace: 'if (false)',
    },
  }),
]

export const http = [
  ...auth,
  ...settings,
  ...challenges,
  ...handlers,
  ...bodies,
  ...bodyLimit,
  ...conditional,
  ...connections,
  ...envelopes,
  ...routes,
  ...refusals,
  ...logs,
  ...traces,
  ...metrics,
]
