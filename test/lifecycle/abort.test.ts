import { getEventListeners } from 'node:events';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { aborted, firstOf, onAbort, untilAborted, withDeadline } from '../../src/lib/lifecycle/index.ts';
import { createFakeClock } from './fake-clock.ts';

const listeners = (signal: AbortSignal) => getEventListeners(signal, 'abort').length;

describe('onAbort', () => {
  it('calls once, immediately where the signal is aborted already, and never without a signal', () => {
    const ending = new AbortController();
    const calls: string[] = [];
    using _one = onAbort(ending.signal, () => calls.push('later'));
    ending.abort();
    using _two = onAbort(ending.signal, () => calls.push('at once'));
    using _three = onAbort(undefined, () => calls.push('never'));
    expect(calls).toEqual(['later', 'at once']);
  });

  it('leaves no listener', () => {
    const ending = new AbortController();
    let calls = 0;
    {
      using _here = onAbort(ending.signal, () => {
        calls += 1;
      });
      expect(listeners(ending.signal)).toBe(1);
    }
    expect(listeners(ending.signal)).toBe(0);
    ending.abort();
    expect(calls).toBe(0);
  });
});

describe('waiting with a signal', () => {
  it('ends with the work, and removes its listener', async () => {
    const { signal } = new AbortController();
    expect(await untilAborted(signal, Promise.resolve(7))).toBe(7);
    await expect(untilAborted(signal, Promise.reject(new Error('own')))).rejects.toThrow('own');
    expect(listeners(signal)).toBe(0);
  });

  it('ends with the reason of the signal, before or during the work', async () => {
    const ending = new AbortController();
    const waiting = untilAborted(ending.signal, new Promise(() => {}));
    const abortion = aborted(ending.signal);
    ending.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    await abortion;
    await expect(untilAborted(ending.signal, new Promise(() => {}))).rejects.toThrow('enough');
  });

  it('leaves nothing of joined signals on one that outlives them, once their listeners are removed', {
    tags: 'large',
  }, async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const longLived = new AbortController();
    const joined = (isDisposed: boolean) =>
      Array.from({ length: 100 }, () => {
        const both = firstOf(longLived.signal, new AbortController().signal);
        const listening = onAbort(both, () => {});
        if (isDisposed) listening[Symbol.dispose]();
        return new WeakRef(both);
      });
    const kinds = [joined(true), joined(false)];
    for (let i = 0; i < 3; i += 1) {
      await new Promise((resolve) => setImmediate(resolve));
      collect();
    }
    // The second figure shows that the first could be another one.
    expect(kinds.map((refs) => refs.filter((ref) => ref.deref() !== undefined).length)).toEqual([0, 100]);
  });

  it('follows the first of several signals, and ignores missing ones', () => {
    const one = new AbortController();
    const both = firstOf(undefined, one.signal, new AbortController().signal);
    one.abort('one');
    expect([both.aborted, both.reason]).toEqual([true, 'one']);
    expect(withDeadline(one.signal, 1_000_000).reason).toBe('one');
  });

  it('ends with a TimeoutError after the deadline of the given clock', async () => {
    const clock = createFakeClock();
    const late = withDeadline(new AbortController().signal, 500, clock);
    await clock.advance(499);
    expect(late.aborted).toBe(false);
    await clock.advance(1);
    expect(late.reason).toMatchObject({ name: 'TimeoutError' });
  });
});
