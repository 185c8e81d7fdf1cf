import fc from 'fast-check';
import { expect, test } from 'vitest';
import { encodeFrame } from '../../../src/lib/tunnel/wire/codec.ts';
import { passTime } from '../../lifecycle/fake-clock.ts';
import { runs } from '../../properties.ts';
import { anyMessage, chunked } from '../wire/messages.ts';
import { ACCESS, fakeService, startProxy, target } from './world.ts';

/** Messages, some with a changed byte, as the service might send them in WebSocket messages of any length. */
const traffic = fc
  .tuple(
    fc.array(anyMessage, { maxLength: 8 }),
    fc.array(fc.tuple(fc.nat(), fc.nat({ max: 255 })), { maxLength: 2 }),
    fc.array(fc.integer({ min: 1, max: 131_076 }), { minLength: 1, maxLength: 3 }),
    fc.uint8Array({ maxLength: 40 }),
  )
  .map(([messages, changes, lengths, rest]) => {
    const frames = messages.map((each) =>
      encodeFrame({ ...each, serviceId: 'web', streamId: (each.streamId % 3) + 1 }),
    );
    const bytes = new Uint8Array(Buffer.concat([...frames, rest]));
    for (const [at, byte] of changes) if (bytes.length > 0) bytes[at % bytes.length] = byte;
    return chunked(bytes, lengths);
  });

test('whatever the service sends, the proxy goes on or ends with a reason, and with no local connection left', {
  tags: 'large',
}, async () => {
  await using echo = await target();
  await fc.assert(
    fc.asyncProperty(fc.array(traffic, { minLength: 1, maxLength: 4 }), async (all) => {
      await using service = await fakeService({
        onClient: ({ ws }, count) => {
          for (const bytes of all[count - 1] ?? []) ws.send(bytes);
        },
      });
      await using proxy = startProxy(service, { connect: echo.connect, settings: { maxS: 8 } });
      const { exit, detail } = await passTime(proxy.clock, 20, proxy.result);
      // 'configuration': SERVICE_IDS with other services was among it.
      expect(['own-clock', 'configuration']).toContain(exit);
      expect(detail).not.toBe('');
      expect(proxy.events.at(-1)).toEqual({ event: 'ended', exit, detail });
      const counts = proxy.events.findLast((event) => event.event === 'counts');
      if (counts) expect(counts).toMatchObject({ open: 0 });
      expect(JSON.stringify(proxy.events) + proxy.notes.join()).not.toContain(ACCESS.slice(0, 8));
    }),
    { numRuns: runs(12) },
  );
});
