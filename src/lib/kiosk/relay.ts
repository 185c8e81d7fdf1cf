import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { GwError } from '../error/index.ts';
import type { Dialer, Endpoint } from '../net/index.ts';

/** A port on 127.0.0.1 behind which the tablet is. */
export interface Relay extends AsyncDisposable {
  readonly port: number;
}

/**
 * Lets the `adb` program, which can only dial directly, reach the tablet by our dialer: directly or through SSH,
 * and with IPv6 addresses, which its `connect` does not take.
 */
export async function openRelay(dialer: Dialer, endpoint: Endpoint): Promise<Relay> {
  const open = new Set<Socket | Duplex>();
  const server = createServer((near) => {
    open.add(near);
    near.setNoDelay(true);
    near.on('error', () => {});
    const away = new AbortController();
    near.once('close', () => {
      open.delete(near);
      away.abort();
    });
    dialer.dial(endpoint, { timeoutMs: 10_000, signal: away.signal }).then(
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
  if (address === null || typeof address === 'string') throw new GwError('INTERNAL', 'A relay has no port.');
  return {
    port: address.port,
    async [Symbol.asyncDispose]() {
      for (const stream of open) stream.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
