import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { GwError } from '../../error/index.ts';
import type { Dialer, Endpoint } from '../../net/index.ts';

/** A port on 127.0.0.1 that forwards to the tablet. */
export interface Relay extends AsyncDisposable {
  readonly port: number;
}

/**
 * Forwards connections of `adb`, which can only dial directly and accepts no IPv6 literals, through the dialer: direct
 * or SSH.
 */
export async function openRelay(dialer: Dialer, endpoint: Endpoint): Promise<Relay> {
  const open = new Set<Socket | Duplex>();
  const server = createServer((near) => {
    open.add(near);
    near.setNoDelay(true);
    near.on('error', () => {});
    const closed = new AbortController();
    near.once('close', () => {
      open.delete(near);
      closed.abort();
    });
    dialer.dial(endpoint, { timeoutMs: 10_000, signal: closed.signal }).then(
      (far) => {
        open.add(far);
        far.on('error', () => near.destroy());
        far.once('close', () => {
          open.delete(far);
          near.destroy();
        });
        near.once('close', () => far.destroy());
        near.pipe(far).pipe(near);
      },
      () => near.destroy(),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new GwError('INTERNAL', 'Relay without a port.');
  return {
    port: address.port,
    async [Symbol.asyncDispose]() {
      for (const stream of open) stream.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
