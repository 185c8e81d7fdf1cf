import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Connack, createConnackReader, probeMqtt, returnCodeText } from '../../../src/lib/net/probe/index.ts';
import { createCa } from '../../../src/lib/sim/cloud/certificates.ts';
import { createFakeClock } from '../../lifecycle/fake-clock.ts';
import { until } from '../../waiting.ts';
import { established, probe, tlsPeer } from './world.ts';

const cloud = await createCa();

async function read(...pieces: Uint8Array[]): Promise<Connack | undefined> {
  const reader = await createConnackReader();
  let answer: Connack | undefined;
  for (const piece of pieces) answer = reader(piece);
  return answer;
}

describe('the bytes of a CONNACK', () => {
  it('accept with return code 0 and refuse with every other', async () => {
    expect(await read(Buffer.from([0x20, 2, 0, 0]))).toEqual({ kind: 'accepted', sessionPresent: false });
    expect(await read(Buffer.from([0x20, 2, 1, 0]))).toEqual({ kind: 'accepted', sessionPresent: true });
    expect(await read(Buffer.from([0x20, 2, 0, 5]))).toEqual({ kind: 'refused', returnCode: 5 });
    expect(await read(Buffer.from([0x20, 2, 0, 200]))).toEqual({ kind: 'refused', returnCode: 200 });
  });

  it('may arrive in any chunks, and followed by other packets', { tags: 'property' }, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 255 }),
        fc.array(fc.nat(5)),
        fc.uint8Array(),
        async (code, cuts, more) => {
          const whole = Buffer.concat([Buffer.from([0x20, 2, 0, code]), more]);
          const pieces: Uint8Array[] = [];
          let at = 0;
          for (const cut of cuts) {
            pieces.push(whole.subarray(at, at + cut));
            at += cut;
          }
          pieces.push(whole.subarray(at));
          const expected =
            code === 0 ? { kind: 'accepted', sessionPresent: false } : { kind: 'refused', returnCode: code };
          expect(await read(...pieces)).toEqual(expected);
        },
      ),
    );
  });

  it('are awaited while incomplete', async () => {
    expect(await read()).toBeUndefined();
    expect(await read(Buffer.alloc(0))).toBeUndefined();
    expect(await read(Buffer.from([0x20, 2, 0]))).toBeUndefined();
  });

  it('that are not a CONNACK are not MQTT, and a web server is recognised', async () => {
    expect(await read(Buffer.from('HTTP/1.1 400 Bad Request\r\n'))).toEqual({ kind: 'not-mqtt', looksLikeHttp: true });
    expect(await read(Buffer.from('SSH-2.0'))).toEqual({ kind: 'not-mqtt', looksLikeHttp: false });
    // A length that would make the parser wait for 256 MB.
    expect(await read(Buffer.from([0x20, 0xff, 0xff, 0xff, 0x7f]))).toMatchObject({ kind: 'not-mqtt' });
  });

  it('are parsed from any bytes without a throw', { tags: 'property' }, async () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 40 }),
      fc.uint8Array({ maxLength: 8 }).map((tail) => Buffer.concat([Buffer.from([0x20, 2]), tail])),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(bytes, { maxLength: 5 }), async (pieces) => {
        const answer = await read(...pieces);
        const received = Buffer.concat(pieces);
        if (answer?.kind === 'accepted') expect([...received.subarray(0, 4)]).toEqual([0x20, 2, received[2], 0]);
        if (answer === undefined) expect(received.length).toBeLessThan(4);
      }),
    );
  });

  it('have reason names of the standard', () => {
    expect(returnCodeText(5)).toBe('return code 5, not authorized');
    expect(returnCodeText(77)).toBe('return code 77');
  });
});

describe('a handshake with a broker', () => {
  const limits = { clock: createFakeClock(), timeoutMs: 2_000, signal: new AbortController().signal };
  async function handshake(reader: Parameters<typeof tlsPeer>[2]) {
    await using peer = await tlsPeer(cloud, {}, reader);
    const { socket } = established(await probe(peer, { trusted: cloud.caPem }));
    return await probeMqtt(socket, { clientId: 'SN0001', ...limits });
  }

  it('sends CONNECT with the serial number, keeps the session, and sends DISCONNECT', async () => {
    const received: Buffer[] = [];
    const end = Promise.withResolvers<void>();
    const result = await handshake((socket) => {
      socket.on('data', (bytes: Buffer) => {
        received.push(bytes);
        if (received.length === 1) socket.write(Buffer.from([0x20, 2, 1, 0]));
      });
      socket.on('end', end.resolve);
    });
    await end.promise;
    expect(result).toMatchObject({ kind: 'accepted', sessionPresent: true });
    const [connect = Buffer.alloc(0), ...rest] = received;
    expect(connect.toString('latin1')).toContain('SN0001');
    const cleanSession = 0x02;
    expect((connect[9] ?? cleanSession) & cleanSession).toBe(0);
    expect(Buffer.concat(rest)).toEqual(Buffer.from([0xe0, 0]));
  });

  it('distinguishes refused, no CONNACK, closed and not MQTT', async () => {
    const refused = await handshake((socket) => socket.once('data', () => socket.write(Buffer.from([0x20, 2, 0, 2]))));
    expect(refused).toMatchObject({ kind: 'refused', returnCode: 2 });
    const silent = await handshake((socket) => socket.once('data', () => limits.clock.advance(2_000)));
    expect(silent).toMatchObject({ kind: 'no-connack' });
    const ended = await handshake((socket) => socket.once('data', () => socket.end()));
    expect(ended).toMatchObject({ kind: 'closed', failure: { kind: 'cut' } });
    const web = await handshake((socket) => socket.once('data', () => socket.write('HTTP/1.1 400 Bad\r\n\r\n')));
    expect(web).toMatchObject({ kind: 'not-mqtt', looksLikeHttp: true });
  });

  it('that was closed before the probe is closed, not no-connack', async () => {
    const demands = { requestCert: true, rejectUnauthorized: true, ca: cloud.caPem } as const;
    await using peer = await tlsPeer(cloud, demands);
    const { socket, ended } = established(await probe(peer, { trusted: cloud.caPem }));
    // With TLS 1.3 a missing certificate is rejected after the handshake.
    await until(ended, (failure) => failure !== null);
    const failure = { kind: 'certificate-refused', alert: 'certificate required' };
    expect(await probeMqtt(socket, { clientId: 'SN', ended, ...limits })).toMatchObject({ kind: 'closed', failure });
  });
});
