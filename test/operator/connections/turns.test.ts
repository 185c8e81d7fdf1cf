import { describe, expect, it } from 'vitest';
import { createRequestTurns, type TurnRequest } from '../../../src/lib/operator/connections/turns.ts';

interface Work extends TurnRequest {
  readonly name: string;
  readonly takesMs: number;
  readonly isAborted: boolean;
}

function harness() {
  let now = 1_000_000;
  const deferred: (() => void)[] = [];
  const order: string[] = [];
  const turns = createRequestTurns<Work>({
    monotonicMs: () => now,
    defer: (callback) => deferred.push(callback),
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
