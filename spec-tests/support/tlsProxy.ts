/** A proxy before the PostgreSQL server of the tests that speaks TLS, and accepts nothing else. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { TLSSocket } from 'node:tls'
import { temporaryFolder } from '../../support/cleanup.js'

const sslRequest = '0000000804d2162f'

/** What a server says to a client that its pg_hba.conf allows only with TLS. */
const refusal = (): Buffer => {
  const fields = Buffer.from('SFATAL\0C28000\0Mno pg_hba.conf entry for host "127.0.0.1", no encryption\0\0')
  const length = Buffer.alloc(4)
  length.writeInt32BE(fields.length + 4)
  return Buffer.concat([Buffer.from('E'), length, fields])
}

const pipeBoth = (one: Socket, other: Socket): void => {
  one.pipe(other).pipe(one)
  for (const [socket, peer] of [
    [one, other],
    [other, one],
  ] as const) {
    socket.on('error', () => {})
    socket.on('close', () => peer.destroy())
  }
}

/** Creates a certificate for localhost; returns undefined if openssl is not installed. */
const createCertificate = (): { key: string; certificate: string } | undefined => {
  const { path } = temporaryFolder('tls')
  const [key, certificate] = [join(path, 'key.pem'), join(path, 'certificate.pem')]
  const made = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-keyout', key, '-out', certificate]
  const name = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost']
  try {
    execFileSync('openssl', [...made, ...name], { stdio: 'ignore' })
    return { key, certificate }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** Starts the proxy; returns its port and the path of its certificate, or undefined if openssl is not installed. */
export const startTlsProxy = async (server: string) => {
  const files = createCertificate()
  if (!files) return undefined
  const { hostname, port } = new URL(server)
  const [key, cert] = [readFileSync(files.key), readFileSync(files.certificate)]
  const proxy = createServer((client) => {
    client.on('error', () => {})
    client.once('data', (first) => {
      if (first.toString('hex') !== sslRequest) return void client.end(refusal())
      client.write('S')
      pipeBoth(new TLSSocket(client, { isServer: true, key, cert }), connect(Number(port || 5432), hostname))
    })
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  proxy.unref()
  return { port: (proxy.address() as { port: number }).port, certificate: files.certificate }
}
