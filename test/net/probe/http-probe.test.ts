import type { TLSSocket } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { probeHttps } from '../../../src/lib/net/probe/index.ts';
import { createCa } from '../../../src/lib/sim/cloud/certificates.ts';
import { createFakeClock, type FakeClock } from '../../lifecycle/fake-clock.ts';
import { established, probe, tlsPeer } from './world.ts';

const cloud = await createCa();

/** Probes a server that handles each complete request head on arrival. */
async function ask(answer: (head: string, socket: TLSSocket, clock: FakeClock) => void) {
  const clock = createFakeClock();
  await using peer = await tlsPeer(cloud, {}, (socket) => {
    let received = '';
    socket.on('data', (bytes: Buffer) => {
      received += bytes.toString('latin1');
      if (!received.endsWith('\r\n\r\n')) return;
      const head = received;
      received = '';
      answer(head, socket, clock);
    });
  });
  const { socket } = established(await probe(peer, { trusted: cloud.caPem }));
  const order: string[] = [];
  const { probe: result, info } = await probeHttps(socket, {
    hostHeader: 'storage.example',
    timeoutMs: 400,
    clock,
    signal: new AbortController().signal,
    beforeClose: async () => {
      order.push(socket.destroyed ? 'closed' : 'open');
      return 7;
    },
  });
  expect(info).toBe(7);
  expect(order).toEqual(['open']);
  expect(socket.destroyed).toBe(true);
  return result;
}

const ok = 'HTTP/1.1 403 Forbidden\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\nContent-Length: 5\r\n\r\n';

describe('an HTTPS probe', () => {
  it('sends two requests on one connection, small and of several packets, without data of this device', async () => {
    const heads: string[] = [];
    const result = await ask((head, socket) => {
      heads.push(head);
      socket.write(ok);
    });
    expect(result).toMatchObject({ kind: 'answered', status: 403, large: 'answered' });
    expect(heads.map((head) => head.length > 4_096)).toEqual([false, true]);
    for (const head of heads)
      expect(head).toMatch(/^HEAD \/ HTTP\/1\.1\r\nHost: storage\.example\r\nUser-Agent: gw\r\n/);
  });

  it('takes an interim response neither for the answer nor for that of the next request', async () => {
    const interim = 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n';
    const both = await ask((_, socket) => socket.write(`${interim}${ok}`));
    expect(both).toMatchObject({ kind: 'answered', status: 403, large: 'answered' });
    // The large request is never answered.
    const lost = await ask((head, socket, clock) => {
      if (head.length < 4_096) socket.write(`${interim}${ok}`);
      else void clock.advance(400);
    });
    expect(lost).toMatchObject({ kind: 'answered', status: 403, large: 'no-answer' });
  });

  it('parses the date, and works without one', async () => {
    const result = await ask((_, socket) => socket.write(ok));
    expect(result.kind === 'answered' && result.clock !== null && result.clock.behindMs < 0).toBe(true);
    const without = await ask((_, socket) => socket.write('HTTP/1.1 200 OK\r\n\r\n'));
    expect(without).toMatchObject({ kind: 'answered', clock: null });
  });

  it('detects a lost large request, and is undecided for a server that closes after the first', async () => {
    const lost = await ask((head, socket, clock) => (head.length < 1_000 ? socket.write(ok) : clock.advance(400)));
    expect(lost).toMatchObject({ kind: 'answered', large: 'no-answer' });
    const closing = await ask((_, socket) => socket.end(ok.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n')));
    expect(closing).toMatchObject({ kind: 'answered', large: 'not-checked' });
    const hangingUp = await ask((_, socket) => socket.end(ok));
    expect(hangingUp).toMatchObject({ kind: 'answered', large: 'not-checked' });
  });

  it('distinguishes timeout, close and other protocols', async () => {
    expect(await ask((_head, _socket, clock) => clock.advance(400))).toMatchObject({ kind: 'no-answer' });
    expect(await ask((_, socket) => socket.end())).toMatchObject({ kind: 'closed', failure: { kind: 'cut' } });
    expect(await ask((_, socket) => socket.write('220 mail ready\r\n'))).toMatchObject({ kind: 'not-http' });
  });
});
