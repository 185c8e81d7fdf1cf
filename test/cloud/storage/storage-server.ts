import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { Socket } from 'node:net';
import { createCa } from '../../../src/lib/sim/cloud/certificates.ts';

/** What the server received of one request, without its body. */
interface Received {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
}

export type Answer = (request: IncomingMessage, response: ServerResponse) => unknown;

const ca = await createCa({ commonName: 'Storage test CA' });
const { keyPem, certificatePem } = await ca.issueServer({ names: ['127.0.0.1', 'localhost'] });

/** PEM of the CA that issues the certificate of every test server. */
export const trust = ca.caPem;

/**
 * An HTTPS server on 127.0.0.1 whose answers the test writes: the nth request gets the nth answer, and all further ones
 * the last.
 */
export async function storageServer(...answers: Answer[]) {
  const received: Received[] = [];
  const sockets = new Set<Socket>();
  const server = createServer({ key: keyPem, cert: certificatePem }, (request, response) => {
    const { method = '', url = '', headers } = request;
    const answer = answers[Math.min(received.length, answers.length - 1)];
    received.push({ method, url, headers });
    request.on('error', () => {});
    response.on('error', () => {});
    answer?.(request, response);
  });
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  });
  server.on('tlsClientError', () => {});
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    port: address.port,
    origin: `https://127.0.0.1:${address.port}`,
    /** A pre-signed URL; its query must never be shown. */
    url: `https://127.0.0.1:${address.port}/bucket/package.tar?X-Signature=${SECRET}`,
    received,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** The secret in the query of every URL of these tests. */
export const SECRET = 'deadbeefcafe0123456789';

/** A storage that does as it should: whole file, or the range that is asked for. */
export function serving(content: Buffer): Answer {
  return (request, response) => {
    const range = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '');
    if (range === null) return response.writeHead(200, { 'content-length': content.length }).end(content);
    const [first, last] = [Number(range[1]), Number(range[2])];
    const part = content.subarray(first, last + 1);
    return response
      .writeHead(206, { 'content-range': `bytes ${first}-${last}/${content.length}`, 'content-length': part.length })
      .end(part);
  };
}

/** Sends the head of the whole file and its first bytes, then cuts the connection. */
export function cutting(content: Buffer, afterBytes: number): Answer {
  return (_request, response) => {
    response.writeHead(200, { 'content-length': content.length });
    response.write(content.subarray(0, afterBytes), () => response.destroy());
  };
}

export const answering =
  (status: number, headers: Record<string, string> = {}, body: string | Buffer = ''): Answer =>
  (_request, response) =>
    response.writeHead(status, headers).end(body);
