import type { IncomingMessage } from 'node:http';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createChunker, MAX_MESSAGE_BYTES } from '../../../../src/lib/sim/cloud/tunnel/chunker.ts';
import { readHandshake } from '../../../../src/lib/sim/cloud/tunnel/handshake.ts';
import { createFakeClock } from '../../../lifecycle/fake-clock.ts';
import { until } from '../../raw-client.ts';
import { connectSide, frames, SUBPROTOCOL, startTunnel } from './client.ts';

describe('the division into messages', () => {
  it('keeps every byte in order, within the limit, and ends a message behind a start', async () => {
    const part = fc.record({ length: fc.integer({ min: 1, max: 30_000 }), isStart: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('as-received' as const, 'random' as const),
        fc.array(part, { minLength: 1, maxLength: 6 }),
        fc.infiniteStream(fc.double({ min: 0, max: 0.999, noNaN: true })),
        async (mode, parts, numbers) => {
          const clock = createFakeClock();
          const messages: Buffer[] = [];
          const random = () => numbers.next().value ?? 0;
          const chunker = createChunker(mode, { after: clock.after, random }, (bytes) => messages.push(bytes));
          let total = 0;
          const sent: Buffer[] = [];
          for (const { length: small, isStart } of parts) {
            // Small random pieces of a large part take long.
            const length = mode === 'random' ? small : 8 * small;
            const bytes = Buffer.alloc(length, total & 0xff);
            sent.push(bytes);
            total += length;
            chunker.send(bytes, isStart);
            const received = messages.reduce((sum, message) => sum + message.length, 0);
            expect(received + chunker.waitingBytes()).toBe(total);
            if (isStart) expect(chunker.waitingBytes()).toBe(0);
          }
          await clock.advance(10);
          expect(Buffer.concat(messages).equals(Buffer.concat(sent))).toBe(true);
          expect(messages.every(({ length }) => length > 0 && length <= MAX_MESSAGE_BYTES)).toBe(true);
          expect(clock.pending).toBe(0);
        },
      ),
      { numRuns: 60 },
    );
  });
});

describe('the request of a handshake', () => {
  /** @source RFC 6455, 1.3 */
  const upgrade = {
    upgrade: 'WebSocket',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    'sec-websocket-version': '13',
  };
  const broken = fc
    .tuple(fc.constantFrom(...(Object.keys(upgrade) as (keyof typeof upgrade)[])), fc.option(fc.string()))
    .filter(
      ([name, value]) =>
        value?.toLowerCase() !== upgrade[name].toLowerCase() && !/^[A-Za-z0-9+/]{22}==$/.test(value ?? ''),
    )
    .map(([name, value]) => ({ ...upgrade, [name]: value ?? undefined }));

  it('never makes the parser throw, and is valid only with path, mode, subprotocol and one token', () => {
    const value = fc.oneof(fc.string(), {
      weight: 3,
      arbitrary: fc.constantFrom('a', SUBPROTOCOL, `${SUBPROTOCOL}, other`),
    });
    const url = fc.oneof(fc.string(), fc.webPath(), {
      weight: 4,
      arbitrary: fc.constantFrom(
        '/tunnel?local-proxy-mode=source',
        '//tunnel?local-proxy-mode=source',
        '/tunnel/?local-proxy-mode=source',
      ),
    });
    let valid = 0;
    fc.assert(
      fc.property(
        fc.constantFrom('GET', 'GET', 'POST'),
        fc.oneof({ weight: 4, arbitrary: fc.constant(upgrade) }, broken),
        url,
        value,
        fc.array(fc.constantFrom('access-token', 'Access-Token', 'client-token', 'x')),
        (method, webSocket, target, protocol, names) => {
          const rawHeaders = names.flatMap((name) => [name, 'value']);
          const headers = { ...webSocket, 'sec-websocket-protocol': protocol };
          const read = readHandshake({ method, url: target, headers, rawHeaders } as unknown as IncomingMessage);
          if (read.kind === 'invalid') return;
          valid += 1;
          expect(method).toBe('GET');
          expect(webSocket).toEqual(upgrade);
          expect(target).toMatch(/^\/tunnel\?/);
          expect(protocol).toContain('securetunneling-');
          expect(names.filter((name) => name.toLowerCase() === 'access-token')).toHaveLength(1);
        },
      ),
      { numRuns: 2_000 },
    );
    expect(valid).toBeGreaterThan(0);
  });
});

describe('any bytes of a client', () => {
  it('end at most its own connection; the other side and other tunnels stay usable', async () => {
    await using world = await startTunnel();
    const other = await world.service.open({ services: ['SSH'], lifetimeMs: 60_000 });
    const bystander = await connectSide(world.service, 'destination', { token: other.destinationToken });
    const clientToken = '0f8fad5b-d9cb-469f-a165-70867728950e';
    const destination = await world.connect('destination', { clientToken });
    const sent = fc.sample(fc.uint8Array({ minLength: 1, maxLength: 200 }), { numRuns: 30, seed: 20_260_131 });
    for (const [i, bytes] of sent.entries()) {
      const { sourceToken } = await world.service.rotate(world.tunnelId, 'source');
      const source = await connectSide(world.service, 'source', { token: sourceToken ?? '' });
      // Half of them behind a valid start, half with a length that fits.
      if (i % 2 === 0) source.send(frames.startSsh);
      source.send(i % 4 < 2 ? bytes : Buffer.concat([Buffer.from([0, bytes.length]), bytes]));
      source.ws.ping('answered');
      await until(() => source.closed() !== null || source.pongs.includes('answered'));
      source.ws.terminate();
    }
    expect([destination.closed(), bystander.closed()]).toEqual([null, null]);
    expect(world.violations.length).toBeGreaterThan(0);
    const { sourceToken } = await world.service.rotate(world.tunnelId, 'source');
    const source = await connectSide(world.service, 'source', { token: sourceToken ?? '' });
    const before = destination.bytes().length;
    source.send(frames.startSsh + frames.dataHello);
    await until(() => destination.bytes().subarray(before).toString('hex').endsWith(frames.dataHello));
  });
});
