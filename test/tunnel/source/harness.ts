import { systemClock } from '../../../src/lib/lifecycle/index.ts';
import type { SourceEnd, SourceEvent, SourceOptions, SourceSettings } from '../../../src/lib/tunnel/source/model.ts';
import { runSource } from '../../../src/lib/tunnel/source/source.ts';
import { tokens, type World } from '../relay-world.ts';
import type { Relay } from '../second-opinion/relay.ts';

/** A clock whose sleeps are over at once and move its time; its timers fire only when a test says so. */
export function scriptedClock() {
  let skippedMs = 0;
  const slept: number[] = [];
  const timers = new Set<{ readonly ms: number; readonly fn: () => void; readonly again: boolean }>();
  const timer = (ms: number, fn: () => void, again: boolean) => {
    const entry = { ms, fn, again };
    timers.add(entry);
    return { [Symbol.dispose]: () => void timers.delete(entry) };
  };
  return {
    slept,
    monotonicMs: () => systemClock.monotonicMs() + skippedMs,
    wall: () => new Date('2026-01-02T03:04:05Z'),
    async sleep(ms: number, signal?: AbortSignal) {
      slept.push(ms);
      skippedMs += ms;
      await new Promise((resolve) => setImmediate(resolve));
      signal?.throwIfAborted();
    },
    every: (ms: number, fn: () => void) => timer(ms, fn, true),
    after: (ms: number, fn: () => void) => timer(ms, fn, false),
    random: () => 0.5,
    /** Fires the timers of this duration that are not disposed. */
    fire(ms: number) {
      const due = [...timers].filter((entry) => entry.ms === ms);
      for (const entry of due) {
        if (!entry.again) timers.delete(entry);
        entry.fn();
      }
      return due.length;
    },
  };
}

export const clientToken = '0c6f1d1e-6f0b-4a55-9d3a-6f0b4a559d3a';

/** Runs the source mode against a relay. */
export function startOurSource(
  world: World,
  relay: Pick<Relay, 'port'>,
  services: SourceSettings['services'] = [{ id: 'web', port: 0 }],
  options: Omit<Partial<SourceOptions>, 'settings'> & { readonly settings?: Partial<SourceSettings> } = {},
) {
  const ending = new AbortController();
  const events: SourceEvent[] = [];
  const listeners: ((event: SourceEvent) => void)[] = [];
  const { settings, ...rest } = options;
  const done: Promise<SourceEnd> = runSource({
    settings: {
      ...{ host: 'localhost', port: relay.port, subprotocol: 'securetunneling-3.0', services, caPem: world.caPem },
      ...settings,
    },
    tokens: { access: tokens.source, client: clientToken },
    clock: systemClock,
    signal: ending.signal,
    onEvent(event) {
      events.push(event);
      for (const listener of listeners) listener(event);
    },
    ...rest,
  });
  // Tests that expect a rejection wait for it later.
  done.catch(() => {});
  world.onClose(async () => {
    ending.abort();
    await done.catch(() => {});
  });
  return {
    done,
    events,
    end: () => ending.abort(),
    onEvent: (listener: (event: SourceEvent) => void) => void listeners.push(listener),
    /** The next event of this name, or the first one that came already. */
    async event<N extends SourceEvent['event']>(name: N, isNext = false): Promise<Extract<SourceEvent, { event: N }>> {
      const found = isNext ? undefined : events.find((event) => event.event === name);
      const event =
        found ??
        (await Promise.race([
          new Promise<SourceEvent>((resolve) => listeners.push((event) => event.event === name && resolve(event))),
          done.then((end) => Promise.reject(new Error(`ended: ${JSON.stringify(end)}`))),
        ]));
      return event as Extract<SourceEvent, { event: N }>;
    },
    /** Local ports by service. */
    async ports(): Promise<Record<string, number>> {
      const { listeners } = await this.event('listening');
      return Object.fromEntries(listeners.map(({ service, port }) => [service, port]));
    },
  };
}
