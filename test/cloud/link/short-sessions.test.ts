import { describe, expect, it } from 'vitest';
import { linkTiming } from '../../../src/lib/cloud/link/timing.ts';
import { directDialer } from '../../../src/lib/net/index.ts';
import { createSteppedClock, type TestClock } from '../stepped-clock.ts';
import { ALPN, atLastSuback, type Client, fakeBroker, type Hook, linked, runLink, SERIAL } from './world.ts';

/** Accepts everything and calls this after the last SUBACK of each connection. */
function afterSubscribing(act: (client: Client, index: number) => void): Hook {
  let connections = 0;
  return atLastSuback((client, suback) => {
    client.send(suback);
    act(client, connections++);
  });
}

/** A link on the direct path whose every connection publishes one message. */
async function publishing(hook: Hook, clock: TestClock = createSteppedClock()) {
  const running = await linked(hook, { clock });
  running.link.subscribe((connection) => {
    // After the SUBACK has left, as the outbox does.
    if (connection) clock.after(100, () => void connection.publish('t', Buffer.from('x')).catch(() => {}));
  });
  return running;
}

describe('connections that the broker or the network ends soon, again and again', () => {
  it('are followed by the same waits with jitter as every loss: a stop cannot arrive meanwhile', async () => {
    const clock = createSteppedClock(0.25);
    await using running = await publishing(
      afterSubscribing((client) => client.socket.destroy()),
      clock,
    );
    const waits: number[] = [];
    for (let losses = 1; losses <= 4; losses += 1) {
      const { retryInMs } = await running.until('a wait', (view) => view.losses === losses && view.retryInMs !== null);
      // It is read a few steps of the clock later.
      waits.push(Math.ceil((retryInMs ?? 0) / 250) * 250);
    }
    expect(waits).toEqual([750, 1_250, 2_500, 5_000]);
  });

  it('name a message that the broker rejects when one was unacknowledged each time, as by its size limit', async () => {
    await using running = await publishing(({ cmd }, client) => {
      if (cmd === 'publish') client.socket.end();
      return cmd === 'publish';
    });
    const { failures } = await running.until('three losses', ({ losses }) => losses === 3);
    const { detail, remedy } = failures.direct?.outcome ?? {};
    expect(detail).toMatch(/3 times in a row, each time with unacknowledged messages: the broker may reject one/);
    expect(remedy).toContain('size limit');
    expect(`${detail}${remedy}`).not.toContain('another connection');
  });

  it('name a time limit when each lasted about as long', async () => {
    const clock = createSteppedClock();
    await using running = await publishing(
      afterSubscribing((client, index) => void clock.after(5_000 + 200 * index, () => client.socket.end())),
      clock,
    );
    const { failures } = await running.until('three losses', ({ losses }) => losses === 3);
    const { detail } = failures.direct?.outcome ?? {};
    expect(detail).toMatch(/3 times in a row, each time after about 5 s: a time limit of a proxy, a firewall or the/);
    expect(detail).not.toContain('another connection');
  });

  it('name a second connection when they lasted as it happens', async () => {
    const clock = createSteppedClock();
    await using running = await publishing(
      afterSubscribing((client, index) => void clock.after(1_000 + 2_000 * index, () => client.socket.end())),
      clock,
    );
    const { failures } = await running.until('three losses', ({ losses }) => losses === 3);
    expect(failures.direct?.outcome.detail).toContain(`another connection uses the client identifier ${SERIAL}`);
  });
});

describe('a broker that does not acknowledge', () => {
  it.each([
    [
      'any message',
      (_client: Client, _id: number) => {},
      /the last connection ended without PUBACK; the messages are kept/,
    ],
    [
      'the packet identifiers of the messages',
      (client: Client, id: number) => client.send({ cmd: 'puback', messageId: id === 1 ? 2 : 1 }),
      /ended without PUBACK, only PUBACKs with packet identifiers of no message; the/,
    ],
  ])('%s is a trouble of the next connection, and not a second client', async (_what, answer, expected) => {
    let isBroken = true;
    await using running = await publishing((packet, client) => {
      if (packet.cmd !== 'publish' || !isBroken) return false;
      answer(client, packet.messageId ?? 0);
      return true;
    });
    await running.until('two losses', ({ losses }) => losses === 2);
    const { detail } = running.view().failures.direct?.outcome ?? {};
    expect(detail).toMatch(/^connection ended by gw: no PUBACK received for 20 s/);
    const view = await running.until('connected again', ({ connects }) => connects === 3);
    expect(view.troubles).toMatchObject([{ kind: 'no-puback', detail: expect.stringMatching(expected) }]);
    expect(view.remedy).toContain('Ask the cloud operator');
    await running.until('three losses', ({ losses }) => losses === 3);
    expect(running.view().failures.direct?.outcome.detail).toMatch(/^connection ended by gw: no PUBACK/);
    isBroken = false;
    await running.until('connected', ({ status }) => status === 'connected');
    await running.clock.advance(29_000);
    expect(running.view().troubles).toHaveLength(1);
    await running.clock.advance(1_500);
    expect(running.view()).toMatchObject({ status: 'connected', troubles: [], losses: 3 });
  });
});

describe('the return from the fallback', () => {
  /** The ports in the order in which they were tried, with the time. */
  async function onFallback(firstMs: number, hook: Hook, random: number) {
    const clock = createSteppedClock(random);
    const tried: { readonly path: string; readonly atMs: number }[] = [];
    const [port, fallback] = [1, await fakeBroker(hook, { ALPNProtocols: [ALPN] })];
    const running = runLink({
      clock,
      timing: { ...linkTiming, directRetry: { firstMs, maxMs: 1_000_000 } },
      port,
      fallbackPort: fallback.port,
      dialer: {
        way: 'direct',
        dial(endpoint, options) {
          tried.push({ path: endpoint.port === port ? 'direct' : 'fallback', atMs: clock.monotonicMs() });
          return directDialer.dial(endpoint, options);
        },
      },
    });
    return {
      running,
      tried,
      fallback,
      async [Symbol.asyncDispose]() {
        await running[Symbol.asyncDispose]();
        await fallback[Symbol.asyncDispose]();
      },
    };
  }

  it('is not postponed by a reconnect there', async () => {
    await using at = await onFallback(
      20_000,
      afterSubscribing((client, index) => void (index === 0 && client.socket.destroy())),
      1,
    );
    const { running, tried } = at;
    const view = await running.until('connected again', ({ connects }) => connects === 2);
    expect(view.directRetryInMs).toBeGreaterThan(10_000);
    expect(view.directRetryInMs).toBeLessThan(19_500);
    await running.clock.until('the direct path', () => tried.length === 4);
    expect(tried.map(({ path }) => path)).toEqual(['direct', 'fallback', 'fallback', 'direct']);
    const [, first, , back] = tried;
    expect((back?.atMs ?? 0) - (first?.atMs ?? 0)).toBeLessThan(27_000);
    // A failed attempt is; 40 s after it at most, and looked at every 5 s.
    await running.clock.until('postponed', () => (running.view().directRetryInMs ?? 0) > 35_000);
  });

  it('goes first at a reconnect when it is due', async () => {
    await using at = await onFallback(
      1_000,
      afterSubscribing((client, index) => void (index === 0 && client.socket.destroy())),
      0,
    );
    await at.running.until('connected again', ({ connects }) => connects === 2);
    expect(at.tried.map(({ path }) => path)).toEqual(['direct', 'fallback', 'direct', 'fallback']);
  });
});
