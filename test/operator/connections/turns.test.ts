import { describe, expect, it } from 'vitest';
import { createTurns, type TurnRequest } from '../../../src/lib/operator/connections/requests/turns.ts';

interface Work extends Pick<TurnRequest, 'peer' | 'isUrgent'> {
  readonly takesMs: number;
  readonly isAborted: boolean;
}

/** A connection with this many pieces. */
interface Received {
  readonly name: string;
  readonly peer: string;
  readonly takesMs: number;
  pieces: number;
  readonly then?: () => void;
}

function harness() {
  let now = 1_000_000;
  const deferred: (() => void)[] = [];
  const order: string[] = [];
  const turns = createTurns<Received>({
    monotonicMs: () => now,
    defer: (callback) => deferred.push(callback),
    parse(reader) {
      if (reader.pieces === 0) return false;
      reader.pieces -= 1;
      order.push(reader.name);
      now += reader.takesMs;
      reader.then?.();
      if (reader.pieces > 0) turns.addReceived(reader);
      return true;
    },
  });
  return {
    order,
    accept: () => turns.noteAccepted(),
    add: (name: string, { takesMs = 0, isAborted = false, ...more }: Partial<Work> = {}) =>
      turns.add({
        ...{ peer: name[0] ?? '', isUrgent: false, ...more },
        run() {
          if (isAborted) return false;
          order.push(name);
          now += takesMs;
          return true;
        },
      }),
    receive: (name: string, pieces: number, takesMs = 0, then?: () => void) =>
      turns.addReceived({ name, peer: name[0] ?? '', pieces, takesMs, ...(then && { then }) }),
    /** Completes the given number of event loop rounds. */
    rounds(count: number) {
      for (let i = 0; i < count; i += 1) for (const callback of deferred.splice(0)) callback();
    },
    isIdle: () => deferred.length === 0,
    /** A connection is accepted in each of these rounds, which takes this long. Returns the time of all of them. */
    flood(count: number, acceptMs: number, each: (round: number) => void = () => {}): number {
      const beganMs = now;
      for (let round = 0; round < count; round += 1) {
        turns.noteAccepted();
        now += acceptMs;
        each(round);
        for (const callback of deferred.splice(0)) callback();
      }
      return now - beganMs;
    },
  };
}

const long = { takesMs: 20 };
const stop = { isUrgent: true };

describe('scheduling of requests', () => {
  it('is immediate within the time budget, and then no round is longer than its time', () => {
    const { order, add, rounds, isIdle } = harness();
    add('a1');
    add('a2', long);
    add('b1', long);
    add('c1');
    expect(order).toEqual(['a1', 'a2']);
    rounds(1);
    expect(order).toEqual(['a1', 'a2', 'b1']);
    rounds(1);
    expect(order).toEqual(['a1', 'a2', 'b1', 'c1']);
    rounds(1);
    expect(isIdle()).toBe(true);
    add('a3');
    expect(order.at(-1)).toBe('a3');
  });

  it('serves stops first, and then one request of each peer', () => {
    const { order, add, rounds } = harness();
    add('a0', long);
    for (const name of ['a1', 'a2', 'a3', 'b1', 'c1']) add(name);
    add('a-stop', stop);
    add('d-stop', stop);
    rounds(1);
    expect(order.slice(1)).toEqual(['a-stop', 'd-stop', 'a1', 'b1', 'c1', 'a2', 'a3']);
  });

  it.each([0.1, 1, 30])(
    'serves new connections and stops during a flood; other requests of %s ms get a twentieth of the time',
    (takesMs) => {
      const { order, add, rounds, flood, isIdle } = harness();
      for (let i = 0; i < 2_000; i += 1) add(`a${i}`, { takesMs });
      const before = order.length;
      const passedMs = flood(1_000, 0.5, (round) => {
        if (round % 100 === 0) add(`stop${round}`, stop);
      });
      const during = order.slice(before);
      const stops = during.filter((name) => name.startsWith('stop'));
      expect(stops).toEqual(Array.from({ length: 10 }, (_, index) => `stop${index * 100}`));
      const othersMs = (during.length - stops.length) * takesMs;
      expect(othersMs).toBeLessThanOrEqual(passedMs / 20 + takesMs);
      expect(othersMs).toBeGreaterThan(Math.min(passedMs / 40, 999 * takesMs) - takesMs);
      rounds(10_000);
      expect(order).toHaveLength(2_010);
      expect(isIdle()).toBe(true);
    },
  );

  it.each([0.2, 1, 15])('gives stops of %s ms a quarter of the time while connections arrive', (takesMs) => {
    const { order, add, rounds, flood } = harness();
    flood(1, 0.5);
    for (let i = 0; i < 5_000; i += 1) add(`a${i}`, { ...stop, takesMs });
    const before = order.length;
    const passedMs = flood(2_000, 0.5);
    const stopsMs = (order.length - before) * takesMs;
    // At least one, and two milliseconds at most before the last one begins.
    expect(stopsMs).toBeLessThanOrEqual(passedMs / 4 + Math.max(takesMs, 2 + takesMs));
    expect(stopsMs).toBeGreaterThan(passedMs / 6);
    rounds(10_000);
    expect(order).toHaveLength(5_000);
  });

  it('runs a stop of a flood before all that was parsed earlier', () => {
    const { order, add, flood } = harness();
    flood(40, 1, (round) => {
      add(`a${round}`, { takesMs: 5 });
      if (round === 20) add('stop', stop);
    });
    // What ran before it: a twentieth of twenty milliseconds, so the first one only.
    expect(order.indexOf('stop')).toBe(1);
  });

  it('spends no turn on requests that were aborted', () => {
    const { order, add, rounds, accept } = harness();
    accept();
    for (let i = 0; i < 100; i += 1) add(`a${i}`, { isAborted: true });
    add('b1');
    for (let round = 0; round < 8; round += 1) {
      rounds(1);
      accept();
    }
    expect(order).toEqual(['b1']);
  });
});

describe('scheduling of received bytes', () => {
  it('is immediate within the time budget, then one piece of each peer in turn, whatever their connections are', () => {
    const { order, receive, rounds, isIdle } = harness();
    receive('a1', 3, 11);
    for (const name of ['a2', 'a3', 'b1']) receive(name, 2);
    expect(order).toEqual(['a1']);
    rounds(1);
    expect(order.slice(1)).toEqual(['a1']);
    rounds(1);
    expect(order.slice(2)).toEqual(['b1', 'a2', 'b1', 'a3', 'a1']);
    rounds(1);
    expect(order.slice(7)).toEqual(['a2', 'a3']);
    rounds(1);
    expect(isIdle()).toBe(true);
  });

  it('leaves half of the round to requests, and runs a stop in the round in which it was parsed', () => {
    const { order, add, receive, rounds } = harness();
    receive('a1', 1_000, 11);
    add('b1');
    receive('c1', 1, 0, () => add('c-stop', stop));
    rounds(1);
    expect(order).toEqual(['a1', 'a1', 'b1']);
    rounds(1);
    expect(order.slice(3, 5)).toEqual(['c1', 'c-stop']);
  });

  it('finds a stop behind the bytes of four hundred others before their requests run', () => {
    const { order, add, receive, rounds } = harness();
    add('a', long);
    for (let peer = 0; peer < 400; peer += 1) {
      const name = String.fromCharCode(0x4e00 + peer);
      receive(name, 1, 0.02, () => add(`${name} request`, { takesMs: 0.3 }));
    }
    receive('z', 1, 0.02, () => add('z stop', stop));
    rounds(3);
    expect(order).toContain('z stop');
    rounds(100);
    expect(order.filter((name) => name.endsWith('request'))).toHaveLength(400);
  });

  it.each([0.05, 0.4, 4])('takes an eighth of the time while connections arrive, in pieces of %s ms', (takesMs) => {
    const { order, receive, flood } = harness();
    for (const name of ['a1', 'b1', 'c1']) receive(name, 100_000, takesMs);
    const before = order.length;
    const passedMs = flood(2_000, 0.5);
    const parsedMs = (order.length - before) * takesMs;
    // At least one piece, and half a millisecond at most before the last one begins.
    expect(parsedMs).toBeLessThanOrEqual(passedMs / 8 + Math.max(takesMs, 0.5 + takesMs));
    expect(parsedMs).toBeGreaterThan(passedMs / 12);
  });
});
