import { createServer, type Socket } from 'node:net';
import { createServer as createTlsServer, type TLSSocket, type TlsOptions } from 'node:tls';
import { directDialer, type Endpoint } from '../../../src/lib/net/index.ts';
import { probeTls, type TlsProbe } from '../../../src/lib/net/probe/index.ts';
import type { CertificateAuthority } from '../../../src/lib/sim/cloud/certificates.ts';
import { listening } from '../../listening.ts';

export type Peer = AsyncDisposable & Endpoint;

/** A listener that is not a TLS server. */
export function plainPeer(handle: (socket: Socket) => void): Promise<Peer> {
  return listening(createServer(handle));
}

/** A TLS server whose certificate this CA issued. */
export async function tlsPeer(
  authority: CertificateAuthority,
  about: TlsOptions & { readonly names?: readonly [string]; readonly notBefore?: Date; readonly notAfter?: Date } = {},
  handle: (socket: TLSSocket) => void = () => {},
): Promise<Peer> {
  const { names = ['127.0.0.1'], notBefore, notAfter, ...options } = about;
  const pair = await authority.issueServer({ names, ...(notBefore && { notBefore }), ...(notAfter && { notAfter }) });
  return await tlsPeerOf({ ...options, key: pair.keyPem, cert: pair.certificatePem }, handle);
}

/** A TLS server with these certificates. */
export function tlsPeerOf(options: TlsOptions, handle: (socket: TLSSocket) => void = () => {}): Promise<Peer> {
  const server = createTlsServer(options, (socket) => {
    socket.on('error', () => {});
    handle(socket);
  });
  server.on('tlsClientError', () => {});
  return listening(server);
}

/** Connects and completes the handshake. */
export async function probe(peer: Endpoint, about: Partial<Parameters<typeof probeTls>[1]> = {}): Promise<TlsProbe> {
  const { signal = new AbortController().signal } = about;
  const stream = await directDialer.dial(peer, { timeoutMs: 30_000, signal });
  return probeTls(stream, { host: peer.host, trusted: 'system', timeoutMs: 30_000, ...about, signal });
}

/** The established handshake; otherwise the test fails. */
export function established(result: TlsProbe): Extract<TlsProbe, { kind: 'established' }> {
  if (result.kind !== 'established') throw new Error(`not established: ${JSON.stringify(result)}`);
  return result;
}
