import { expect, it } from 'vitest';
import { createChassisClient } from '../../src/lib/chassis/index.ts';
import { systemClock } from '../../src/lib/lifecycle/index.ts';
import type { Dialer } from '../../src/lib/net/index.ts';

it('a client closed while its first request is pending opens no connection', async () => {
  let dials = 0;
  const dialer: Dialer = {
    way: 'direct',
    dial() {
      dials += 1;
      return Promise.reject(new Error('unexpected connection'));
    },
  };
  const endpoint = { host: '127.0.0.1', port: 1 };
  const client = createChassisClient({ endpoint, expectedSerial: 'SN-1', dialer, clock: systemClock });
  const request = client.identity(new AbortController().signal).catch((error: unknown) => error);
  await client[Symbol.asyncDispose]();
  expect(await request).toMatchObject({ code: 'INTERRUPTED' });
  expect(dials).toBe(0);
});
