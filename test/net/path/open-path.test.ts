import { once } from 'node:events';
import type { TLSSocket } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { createDirectDialer, directDialer, resolveHost } from '../../../src/lib/net/index.ts';
import { nameOutcome, openPath, type PathPlan, tcpOutcome } from '../../../src/lib/net/path/index.ts';
import { createCa } from '../../../src/lib/sim/cloud/certificates.ts';
import { freePort } from '../../free-port.ts';
import { createFakeClock } from '../../lifecycle/fake-clock.ts';
import { plainPeer, tlsPeer } from '../probe/world.ts';

const authority = await createCa();

const planTo = (port: number, about: Partial<PathPlan> = {}): PathPlan => ({
  host: '127.0.0.1',
  port,
  trusted: authority.caPem,
  credentials: null,
  alpn: null,
  application: 'mqtt',
  ...about,
});

function open(plan: PathPlan, signal = new AbortController().signal, clock = createFakeClock()) {
  const resolve = (host: string, timeoutMs: number) => resolveHost(host, { timeoutMs, clock });
  return openPath(plan, { dialer: directDialer, clock, signal, resolve });
}

describe('opening a path', () => {
  it('returns the steps and the open socket, which no timer and no abort of the attempt ends', async () => {
    const clock = createFakeClock();
    const accepted = Promise.withResolvers<TLSSocket>();
    await using peer = await tlsPeer(authority, { ALPNProtocols: ['x-test'] }, (socket) => accepted.resolve(socket));
    const attempt = new AbortController();
    const opened = await open(planTo(peer.port, { alpn: 'x-test' }), attempt.signal, clock);
    expect(opened).toMatchObject({
      name: { kind: 'literal' },
      dial: { failure: null },
      tls: { kind: 'established', trust: { kind: 'trusted' }, alpn: 'x-test' },
    });
    const socket = opened.connection?.tls.socket as TLSSocket;
    // Neither a timer nor the signal of the attempt is left on the long-lived socket.
    expect(clock.pending).toBe(0);
    attempt.abort();
    await clock.advance(3_600_000);
    const far = await accepted.promise;
    socket.write('up');
    expect(String((await once(far, 'data'))[0])).toBe('up');
    far.write('down');
    expect(String((await once(socket, 'data'))[0])).toBe('down');
    opened.connection?.close();
  });

  it('keeps the reason of an error after the handshake, which ends the process without a listener', async () => {
    // With TLS 1.3 a missing client certificate is rejected after the handshake.
    await using peer = await tlsPeer(authority, { requestCert: true, rejectUnauthorized: true, ca: authority.caPem });
    const opened = await open(planTo(peer.port));
    const socket = opened.connection?.tls.socket as TLSSocket;
    await new Promise((resolve) => socket.resume().once('close', resolve));
    expect(opened.connection?.tls.ended()).toEqual({ kind: 'certificate-refused', alert: 'certificate required' });
  });

  it('returns the failed step and no connection', async () => {
    expect(await open(planTo(await freePort()))).toMatchObject({ dial: { failure: 'refused' }, connection: null });
    await using plain = await plainPeer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    const expected = { tls: { kind: 'failed', failure: { kind: 'not-tls' } }, connection: null };
    expect(await open(planTo(plain.port))).toMatchObject(expected);
  });

  it('connects to the addresses at hand, without a second query that may take longer', async () => {
    await using peer = await tlsPeer(authority);
    const clock = createFakeClock();
    const dialer = createDirectDialer({ clock, lookup: () => expect.fail('a second query') });
    const resolve = async () =>
      ({ kind: 'resolved', addresses: ['127.0.0.1'], tookMs: 1, unanswered: 'AAAA' }) as const;
    const plan = planTo(peer.port, { host: 'broker.example' });
    const signal = new AbortController().signal;
    const { connection, ...start } = await openPath(plan, { dialer, clock, signal, resolve });
    connection?.close();
    expect(start.dial?.failure).toBeNull();
    expect(nameOutcome({ plan, ...start, tookMs: 1 })).toEqual({
      verdict: 'ok',
      detail:
        'broker.example is 127.0.0.1 (1 ms); the name server answers A (IPv4) but not AAAA (IPv6), so other programs may wait long for this name',
    });
  });

  it('blames no firewall when nothing was sent', () => {
    const plan = planTo(1, { host: 'broker.example' });
    for (const failure of ['unknown-name', 'no-name-server'] as const) {
      const name = { kind: 'resolved', addresses: ['127.0.0.1'], tookMs: 1 } as const;
      const { ask, detail, verdict } = tcpOutcome({ plan, name, dial: { failure, tookMs: 4_000 }, tookMs: 4_000 });
      expect({ ask, verdict }).toEqual({ ask: undefined, verdict: 'not-checked' });
      expect(detail).toMatch(/^not tried: (host name not found|no name server answered)/);
    }
    const lost = { kind: 'no-answer', tookMs: 3_000, unanswered: 'A' } as const;
    expect(nameOutcome({ plan, name: lost, tookMs: 3_000 })).toMatchObject({
      verdict: 'wrong',
      detail: expect.stringMatching(/: the name server answers AAAA \(IPv6\) but not A \(IPv4\)$/),
      ask: expect.stringContaining('answer A and AAAA queries for broker.example'),
    });
  });

  it('returns an untrusted connection as such', async () => {
    const other = await createCa({ commonName: 'House inspection CA' });
    await using peer = await tlsPeer(other);
    const opened = await open(planTo(peer.port));
    expect(opened.connection?.tls.trust.kind).toBe('untrusted');
    opened.connection?.close();
  });

  it('destroys the stream when it is aborted during the handshake', async () => {
    const attempt = new AbortController();
    const ended = Promise.withResolvers<void>();
    await using silent = await plainPeer((socket) => {
      socket.on('close', () => ended.resolve());
      socket.once('data', () => attempt.abort(new Error('over')));
    });
    await expect(open(planTo(silent.port), attempt.signal)).rejects.toThrow('over');
    await ended.promise;
  });
});
