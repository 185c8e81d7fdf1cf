import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Packet } from 'mqtt-packet';
import { describe, expect, it } from 'vitest';
import { openLinkMemory } from '../../../src/lib/cloud/link/link-file.ts';
import type { FailedAttempt } from '../../../src/lib/cloud/link/model.ts';
import { silentLog } from '../../../src/lib/lifecycle/index.ts';
import { createCa } from '../../../src/lib/sim/cloud/certificates.ts';
import { plainPeer, tlsPeer } from '../../net/probe/world.ts';
import { createSteppedClock } from '../stepped-clock.ts';
import {
  ALPN,
  atLastSuback,
  authority,
  type Client,
  FILTERS,
  fakeBroker,
  type Hook,
  identity,
  linked,
  type RunningLink,
  runLink,
  SERIAL,
} from './world.ts';

/** The first failure on the direct path. */
async function directFailure(running: Pick<RunningLink, 'until'>): Promise<FailedAttempt> {
  const { failures } = await running.until('failed', ({ failures: { direct } }) => direct !== null);
  if (failures.direct === null) throw new Error('no failure');
  return failures.direct;
}

describe('a failed attempt is described in words', () => {
  it('for closed ports, which are what the IT is asked to open', async () => {
    await using running = runLink();
    const view = await running.until('both failed', ({ failures }) => failures.fallback !== null);
    expect(view.failures).toMatchObject({
      direct: { step: 'tcp', port: 1, outcome: { detail: expect.stringMatching(/^blocked: connection refused/) } },
      fallback: { step: 'tcp', port: 2 },
    });
    expect(view).toMatchObject({ status: 'connecting', connection: null, connects: 0, losses: 0 });
    expect(view.ask).toBe('Allow outgoing connections from the gateway to 127.0.0.1, TCP 2.');
    expect(view.detail).toContain('127.0.0.1:1: blocked');
  });

  it('for a peer that is no TLS server', async () => {
    await using peer = await plainPeer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    await using running = runLink({ port: peer.port });
    expect(await directFailure(running)).toMatchObject({ step: 'tls', outcome: { detail: 'the response is not TLS' } });
  });

  it('for an untrusted broker, to which no byte of MQTT is sent', async () => {
    const inspection = await createCa({ commonName: 'House inspection CA' });
    let bytes = 0;
    await using peer = await tlsPeer(inspection, {}, (socket) => socket.on('data', (chunk) => (bytes += chunk.length)));
    await using running = runLink({ port: peer.port });
    const failure = await directFailure(running);
    expect(failure).toMatchObject({ step: 'tls' });
    expect(failure.outcome.detail).toContain("'CN=House inspection CA'");
    expect(failure.outcome.ask).toContain("If 'CN=House inspection CA' is a CA of your network, exempt 127.0.0.1");
    await running.clock.advance(5_000);
    expect(bytes).toBe(0);
  });

  it('for a connection that is closed after SUBSCRIBE, and for a missing SUBACK', async () => {
    await using closing = await fakeBroker((packet, client) => {
      if (packet.cmd === 'subscribe') client.socket.destroy();
      return packet.cmd === 'subscribe';
    });
    await using silent = await fakeBroker(({ cmd }) => cmd === 'subscribe', { ALPNProtocols: [ALPN] });
    await using running = runLink({ port: closing.port, fallbackPort: silent.port });
    const view = await running.until('both failed', ({ failures }) => failures.fallback !== null);
    expect(view.failures.direct?.outcome.detail).toMatch(/^connection closed after SUBSCRIBE/);
    expect(view.failures.fallback?.outcome.detail).toMatch(/^CONNACK accepted, no SUBACK received within 50\d\d ms/);
  });

  it('for ALPN that is ignored on the fallback port, where no CONNECT is sent', async () => {
    await using broker = await fakeBroker();
    await using running = runLink({ fallbackPort: broker.port });
    const { failures } = await running.until('failed', (view) => view.failures.fallback !== null);
    expect(failures.fallback).toMatchObject({
      step: 'alpn',
      outcome: { detail: 'the server ignored ALPN: not a broker on this port, or a proxy removed it' },
    });
    expect(broker.packets()).toEqual([]);
  });

  const html = 'HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n';
  const atConnect =
    (act: (client: Client) => void): Hook =>
    ({ cmd }, client) => {
      if (cmd === 'connect') act(client);
      return true;
    };
  const refused = { cmd: 'connack', returnCode: 5, sessionPresent: false } as const;
  const without = { readIdentity: async () => ({ ...identity, keyPem: '', certificatePem: '' }) };
  // Node sends an alert for a missing certificate only; test/peers has a broker that rejects one.
  const asking = { requestCert: true, rejectUnauthorized: true, ca: authority.caPem };
  const noFilter = atLastSuback((client, suback) => client.send({ ...suback, granted: [1, 0x80, 1] } as Packet));
  it.each<[string, string, RegExp, ...Parameters<typeof linked>]>([
    [
      'a client certificate that is not given',
      'mqtt',
      /^the broker rejected the certificate of this device: TLS alert certificate required$/,
      undefined,
      without,
      asking,
    ],
    [
      'a broker that never answers CONNECT',
      'mqtt',
      /^TLS established, no CONNACK received within 50\d\d ms/,
      () => true,
    ],
    [
      'a CONNACK that refuses',
      'mqtt',
      /^CONNACK refused: return code 5, not authorized$/,
      atConnect((client) => client.send(refused)),
    ],
    [
      'an HTTP server behind TLS',
      'mqtt',
      /^the peer is an HTTP server, not an MQTT broker$/,
      atConnect((client) => client.socket.end(html)),
    ],
    [
      'a connection that is closed instead of a CONNACK',
      'mqtt',
      /^connection closed without CONNACK$/,
      atConnect((client) => client.socket.end()),
    ],
    [
      'a rejected subscription',
      'subscribe',
      new RegExp(`^SUBACK: the broker rejected the subscription to ${FILTERS[9]} \\(code 0x80\\)$`),
      noFilter,
    ],
    [
      'a CA file that cannot be used',
      'tls',
      /\/nonexistent\/ca.pem \(cloud.mqtt.caFile\) cannot be read \(no such file or folder\)/,
      undefined,
      { mqtt: { caFile: '/nonexistent/ca.pem' } },
    ],
  ])('for %s', async (_what, step, detail, ...about) => {
    await using running = await linked(...about);
    expect(await directFailure(running)).toMatchObject({ step, outcome: { detail: expect.stringMatching(detail) } });
    expect([running.view().connects, running.changes]).toEqual([0, []]);
  });
});

describe('a connection that ends', () => {
  it('again and again soon after CONNACK is reported as a second connection with this client identifier', async () => {
    await using running = await linked(
      atLastSuback((client, suback) => {
        client.send(suback);
        client.socket.end();
      }),
    );
    const first = await running.until('one loss', ({ losses }) => losses === 1);
    expect(first.failures.direct?.outcome.detail).toBe('connection lost: closed by the broker or the network');
    const { failures } = await running.until('three losses', ({ losses }) => losses === 3);
    expect(failures.direct?.outcome.detail).toMatch(/3 times in a row: another connection uses the client identifier/);
    expect(failures.direct?.outcome.detail).toContain(SERIAL);
  });

  it('by a giant packet is ended by gw', async () => {
    await using running = await linked();
    const connection = await running.connected();
    // A SUBACK of 64 MB.
    running.broker.clients[0]?.socket.write(Buffer.from([0x90, 0x80, 0x80, 0x80, 0x20, 0, 1]));
    await running.clock.until('the end', () => connection.ended.aborted);
    expect(running.view().failures.direct?.outcome.detail).toBe(
      'connection ended by gw: the broker sent a packet of type 9 with 67108864 bytes',
    );
    await running.connected();
  });

  it('is followed by another, with the client identifier at most once in 1.1 s and waits of at most 30 s', async () => {
    const connectsAt: number[] = [];
    let isRefusing = true;
    let now = () => 0;
    await using running = await linked(
      (packet, client) => {
        if (packet.cmd !== 'connect') return false;
        connectsAt.push(now());
        if (isRefusing) client.send({ cmd: 'connack', returnCode: 3, sessionPresent: false });
        return isRefusing;
      },
      {},
      { ALPNProtocols: [ALPN] },
    );
    now = running.clock.monotonicMs;
    await running.clock.until('eight CONNECTs', () => connectsAt.length >= 8, 300_000);
    const gaps = connectsAt.slice(1).map((at, index) => at - (connectsAt[index] ?? 0));
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(1_080);
    expect(Math.max(...gaps)).toBeLessThan(32_000);
    expect(gaps.at(-1)).toBeGreaterThan(14_000);
    isRefusing = false;
    await running.connected();
  });
});

describe('the name of the broker', () => {
  it('is asked for once at a time, also when no name server answers for long', async () => {
    let asked = 0;
    await using running = runLink({
      readIdentity: async () => ({ ...identity, endpoint: 'broker.example.com' }),
      lookup: () => {
        asked += 1;
        return new Promise(() => {});
      },
    });
    const { failures } = await running.until('failed', (view) => view.failures.fallback !== null);
    expect(failures.direct?.outcome.detail).toMatch(/^no name server answered within/);
    await running.clock.advance(20_000);
    // One for each family.
    expect(asked).toBe(2);
  });
});

describe('a name server', () => {
  const readIdentity = async () => ({ ...identity, endpoint: 'broker.example.com' });
  const about = { names: ['broker.example.com'] } as const;

  it('that never answers AAAA does not keep the link from connecting', async () => {
    await using running = await linked(
      undefined,
      {
        readIdentity,
        lookup: (_host, record) =>
          record === 'A' ? Promise.resolve([{ address: '127.0.0.1' }]) : new Promise(() => {}),
      },
      about,
    );
    expect((await running.connected()).path).toBe('direct');
    expect(running.view().failures).toEqual({ direct: null, fallback: null });
  });

  it.each([3_500, 15_000])('that answers after %i ms serves a later attempt', async (answerMs) => {
    const clock = createSteppedClock();
    await using running = await linked(
      undefined,
      {
        ...{ readIdentity, clock },
        lookup: async (_host, record) => {
          await clock.sleep(answerMs);
          return record === 'A' ? [{ address: '127.0.0.1' }] : [];
        },
      },
      about,
    );
    const { failures } = await running.until('failed', (view) => view.failures.direct !== null);
    expect(failures.direct).toMatchObject({ step: 'name', outcome: { ask: expect.stringContaining('name server') } });
    await running.connected();
    expect(running.view().failures.fallback?.step ?? 'name').not.toBe('mqtt');
  });
});

describe('what the link remembers', () => {
  it.each(['{', '[]', '{"format":"gw/cloud-link/9"}', '{"format":"gw/cloud-link/1","path":"x","filters":[7,"a"]}'])(
    'may be damaged: %s',
    async (text) => {
      await using broker = await fakeBroker(undefined, { sessionPresent: true });
      const first = runLink();
      await first.stop();
      writeFileSync(join(first.dir, 'cloud-link.json'), text);
      await using running = runLink({ port: broker.port, dir: first.dir });
      expect((await running.connected()).path).toBe('direct');
      await first[Symbol.asyncDispose]();
    },
  );
});

describe('a disk that does not answer', () => {
  it('neither delays the connection for long nor holds up the end', async () => {
    const hung = () => new Promise<never>(() => {});
    await using running = await linked(undefined, { files: { read: hung, write: hung } });
    const beganMs = running.clock.monotonicMs();
    await running.connected();
    await running.stop();
    expect(running.clock.monotonicMs() - beganMs).toBeLessThan(3_000);
  });

  it('and answers late loses no filter of the session', async () => {
    const { promise: read, resolve } = Promise.withResolvers<void>();
    const written: object[] = [];
    const { memory, loaded } = openLinkMemory('/none', silentLog, {
      read: async (_, schema) => {
        await read;
        return schema.parse({ format: 'gw/cloud-link/1', path: 'fallback', filters: ['old'] });
      },
      write: async (_, value) => void written.push(value),
    });
    await memory.remember({ path: 'direct', filters: ['new'] });
    resolve();
    await loaded;
    expect([memory.path(), memory.filters()]).toEqual(['direct', ['new', 'old']]);
    await memory.remember({ filters: ['new'] });
    expect(written.at(-1)).toMatchObject({ path: 'direct', filters: ['new'] });
  });
});

describe('a stop of the link', () => {
  it.each([
    ['while a name is asked for', { lookup: () => new Promise<never>(() => {}) }, undefined],
    ['before the CONNACK', {}, 'connect'],
    ['before the SUBACK', {}, 'subscribe'],
  ] as const)('%s does not wait for the peer', async (_when, about, silentAt) => {
    let isReached = silentAt === undefined;
    await using running = await linked(
      ({ cmd }) => {
        if (cmd === silentAt) isReached = true;
        return cmd === silentAt;
      },
      {
        readIdentity: async () => ({ ...identity, ...(silentAt === undefined && { endpoint: 'broker.example.com' }) }),
        ...about,
      },
    );
    await running.clock.until('the wait', () => isReached);
    await running.clock.advance(100);
    const beganMs = running.clock.monotonicMs();
    await running.stop();
    expect(running.clock.monotonicMs() - beganMs).toBeLessThan(1_000);
    expect(running.view()).toMatchObject({ status: 'not-checked', connection: null });
    await running.clock.until('no socket left', () => running.broker.clients.every(({ socket }) => socket.destroyed));
  });
});
