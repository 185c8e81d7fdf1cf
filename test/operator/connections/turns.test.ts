import { describe, expect, it } from 'vitest';
import { createTurns, type TurnRequest } from '../../../src/lib/operator/connections/turns.ts';

interface Work extends TurnRequest {
  readonly name: string;
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
  const turns = createTurns<Work, Received>({
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
    run({ name, takesMs, isAborted }) {
      if (isAborted) return false;
      order.push(name);
      now += takesMs;
      return true;
    },
  });
  return {
    order,
    accept: () => turns.noteAccepted(),
    add: (name: string, more: Partial<Work> = {}) =>
      turns.add({ name, peer: name[0] ?? '', isUrgent: false, takesMs: 0, isAborted: false, ...more }),
    receive: (name: string, pieces: number, takesMs = 0, then?: () => void) =>
      turns.addReceived({ name, peer: name[0] ?? '', pieces, takesMs, ...(then && { then }) }),
    /** Completes the given number of event loop rounds. */
    rounds(count: number) {
      for (let i = 0; i < count; i += 1) for (const callback of deferred.splice(0)) callback();
    },
    isIdle: () => deferred.length === 0,
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

  it('serves new connections and stops during a flood of connections; other requests get one round in eight', () => {
    const { order, add, rounds, accept, isIdle } = harness();
    for (let round = 0; round < 40; round += 1) {
      accept();
      add(`a${round}`);
      if (round % 10 === 0) add(`stop${round}`, stop);
      rounds(1);
    }
    expect(order.filter((name) => name.startsWith('stop'))).toEqual(['stop0', 'stop10', 'stop20', 'stop30']);
    expect(order.indexOf('stop10')).toBeLessThanOrEqual(3);
    expect(order.filter((name) => name.startsWith('a'))).toHaveLength(5);
    rounds(4);
    expect(order).toHaveLength(44);
    rounds(1);
    expect(isIdle()).toBe(true);
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

  it('is one piece a round while connections arrive, if that one takes long', () => {
    const { order, receive, rounds, accept } = harness();
    accept();
    for (const name of ['a1', 'b1', 'c1']) receive(name, 1, 4);
    for (const parsed of [1, 2, 3]) {
      accept();
      rounds(1);
      expect(order).toHaveLength(parsed);
    }
  });
});
