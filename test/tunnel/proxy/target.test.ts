import { Socket } from 'node:net';
import fc from 'fast-check';
import { afterEach, expect, test, vi } from 'vitest';
import { connectTarget } from '../../../src/lib/tunnel/proxy/run.ts';
import { encodeFrame } from '../../../src/lib/tunnel/wire/codec.ts';
import { runs } from '../../properties.ts';
import { message, requestTypes } from '../wire/messages.ts';
import { fakeService, rounds, type Sent, startProxy, target, until } from './world.ts';

afterEach(() => vi.restoreAllMocks());

const places = '127.0.0.1:22 localhost:5173 10.0.0.1 web:22 web\0 WEB ../web http://10.0.0.1:80/ '.split(' ');
const text = fc.oneof({ arbitrary: fc.constant('web'), weight: 6 }, fc.constantFrom(...places), fc.string());

/** Any message of the protocol with places in every field that can carry one. */
const anyRequest = fc
  .record({
    type: fc.constantFrom(...requestTypes),
    streamId: fc.constantFrom(1, 2, 22, 5_173),
    connectionId: fc.constantFrom(0, 1, 2, 22, 5_173),
    ignorable: fc.boolean(),
    serviceId: text,
    availableServiceIds: fc.array(text, { maxLength: 3 }),
    payload: fc
      .constantFrom(
        'CONNECT 10.0.0.1:22 HTTP/1.1\r\n\r\n',
        'GET http://127.0.0.1:5173/ HTTP/1.1\r\nHost: x:22\r\n\r\n',
        '',
      )
      .map((words) => Buffer.from(words)),
  })
  .map((fields) => message(fields as Sent));

/** A field that the schema does not have, as bytes, behind a message. */
function withForeignField(frame: Uint8Array, number: number, value: string): Buffer {
  const foreign = Buffer.concat([Buffer.of((number << 3) | 2, value.length), Buffer.from(value, 'latin1')]);
  const whole = Buffer.concat([frame, foreign]);
  whole.writeUInt16BE(whole.length - 2);
  return whole;
}

test('no field of any message changes where the proxy connects to: 127.0.0.1:5174, and nothing else is ever tried', {
  tags: 'property',
}, async () => {
  await using echo = await target();
  await using service = await fakeService();
  const tried: { host?: string; port?: number }[] = [];
  const original = Socket.prototype.connect;
  vi.spyOn(Socket.prototype, 'connect').mockImplementation(function (this: Socket, ...all: unknown[]) {
    const [options, listener] = (Array.isArray(all[0]) ? all[0] : all) as [{ host?: string; port?: number }, unknown];
    if (options.port === service.port) return original.apply(this, all as never);
    tried.push({ ...options });
    return original.apply(this, [{ host: '127.0.0.1', port: echo.port }, listener] as never);
  } as never);
  await using proxy = startProxy(service, { connect: connectTarget });
  const client = await service.client();
  const frame = fc
    .tuple(anyRequest, fc.constantFrom(8, 9, 15), fc.constantFrom(...places))
    .map(([each, number, place]) => withForeignField(encodeFrame(each), number, place));
  await fc.assert(
    fc.asyncProperty(fc.array(frame, { minLength: 5, maxLength: 30 }), async (frames) => {
      client.ws.send(Buffer.concat(frames));
      await rounds(1);
    }),
    { numRuns: runs(100) },
  );
  client.send({ type: 'session-reset' }, { type: 'stream-start', streamId: 7, serviceId: 'web', connectionId: 1 });
  client.send({ type: 'stream-start', streamId: 8, serviceId: '127.0.0.1:22', connectionId: 1 });
  await until('the refusal', () => client.received.some(({ serviceId }) => serviceId === '127.0.0.1:22'));
  // All before it was handled.
  expect(new Set(tried.map((options) => JSON.stringify(options)))).toEqual(
    new Set([JSON.stringify({ host: '127.0.0.1', port: 5174 })]),
  );
  expect(proxy.lost()).toEqual([]);
});
