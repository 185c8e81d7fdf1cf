import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer, type TLSSocket } from 'node:tls';
import type { CertificateAuthority } from '../../src/lib/sim/cloud/certificates.ts';

export interface RawEndpoint extends AsyncDisposable {
  readonly url: string;
  /** Every received byte, decrypted. */
  received(): Buffer;
}

/** A TLS server that answers a complete request with the bytes given by the test. */
export async function startRawEndpoint(
  authority: CertificateAuthority,
  answer: (socket: TLSSocket, request: string) => unknown,
): Promise<RawEndpoint> {
  const { keyPem, certificatePem } = await authority.issueServer({ names: ['127.0.0.1'] });
  const chunks: Buffer[] = [];
  const sockets = new Set<TLSSocket>();
  const server = createServer({ key: keyPem, cert: certificatePem }, (socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    let text = '';
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      text += chunk.toString('latin1');
      const end = text.indexOf('\r\n\r\n');
      const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0);
      if (end >= 0 && text.length >= end + 4 + length) {
        void Promise.resolve(answer(socket, text)).catch(() => socket.destroy());
      }
    });
  });
  server.on('tlsClientError', () => {});
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received: () => Buffer.concat(chunks),
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** An HTTP answer with this body. */
export function http(status: number, body: string, headers: readonly string[] = []): string {
  const lines = [`HTTP/1.1 ${status} Status`, `Content-Length: ${Buffer.byteLength(body)}`, ...headers];
  return `${lines.join('\r\n')}\r\n\r\n${body}`;
}
