import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSignInQueue, type Lane, queueLimits } from '../../../src/lib/operator/sign-in/sign-in-queue.ts';
import { runs } from '../../properties.ts';
import { standInClock } from '../stand-ins.ts';

/** A queue whose work is completed by the test. */
function world() {
  const clock = standInClock();
  const line = createSignInQueue(clock, 2);
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const sentAway: string[] = [];
  const ask = (key: string, lane: Lane = 'new', more: { rank?: number; signal?: AbortSignal } = {}) =>
    line
      .take({ key, lane, ...more }, async () => {
        begun.push(key);
        await new Promise<void>((resolve) => ends.set(key, resolve));
        return key;
      })
      .then((result) => {
        if (result === null) sentAway.push(key);
        return result;
      });
  const settle = () => new Promise<void>((resolve) => setImmediate(resolve));
  const end = async (key: string) => {
    const finish = ends.get(key);
    if (finish === undefined) throw new Error(`${key} was not begun`);
    finish();
    await settle();
  };
  /** The queue of new clients is full of these. */
  const flood = (name: string) => {
    for (let i = 0; i < queueLimits.waiting.new; i += 1) void ask(`${name} ${i}`);
  };
  return { clock, line, begun, sentAway, ask, end, settle, flood };
}

/** Both hash slots are occupied by other clients. */
async function occupied() {
  const made = world();
  void made.ask('a');
  void made.ask('b');
  await made.settle();
  expect(made.begun).toEqual(['a', 'b']);
  return made;
}

describe('the queue for the password hash', () => {
  it('limits concurrent work, and serves the others in the order of arrival', async () => {
    const { begun, ask, end, settle } = await occupied();
    for (const key of ['c', 'd', 'e']) void ask(key);
    await settle();
    expect(begun).toEqual(['a', 'b']);
    await end('b');
    await end('a');
    await end('d');
    expect(begun).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  it('gives a key one place; three more of it wait behind, and further ones are rejected', async () => {
    const { begun, sentAway, ask, end, settle } = await occupied();
    for (let i = 0; i < queueLimits.behindOwn + 2; i += 1) void ask('c');
    void ask('d');
    await settle();
    expect(sentAway).toEqual(['c']);
    await end('a');
    expect(begun).toEqual(['a', 'b', 'c']);
    // The second of the same key enters the queue now, after those already in it.
    await end('c');
    expect(begun).toEqual(['a', 'b', 'c', 'd']);
    await end('d');
    expect(begun).toEqual(['a', 'b', 'c', 'd', 'c']);
  });

  it('serves a known device first, before all waiting clients', async () => {
    const { begun, ask, end, settle, flood } = await occupied();
    flood('new');
    for (let i = 0; i < queueLimits.waiting.failed; i += 1) void ask(`failed ${i}`, 'failed', { rank: 1 });
    void ask('tablet', 'known');
    await settle();
    await end('a');
    expect(begun).toEqual(['a', 'b', 'tablet']);
  });

  it('serves clients that failed after those that did not, but at every fourth turn', async () => {
    const { begun, ask, end, settle } = await occupied();
    void ask('mistyped twice', 'failed', { rank: 2 });
    void ask('mistyped', 'failed', { rank: 1 });
    for (let i = 0; i < 8; i += 1) void ask(`new ${i}`);
    await settle();
    for (let i = 0; i < 6; i += 1) await end(begun[i] as string);
    expect(begun.slice(2)).toHaveLength(6);
    expect(begun.slice(2, 5).every((key) => key.startsWith('new'))).toBe(true);
    expect(begun.indexOf('mistyped')).toBe(5);
    expect(begun).not.toContain('mistyped twice');
  });

  it('keeps the place of a rejected client, before all later ones', async () => {
    const { clock, begun, sentAway, ask, end, settle, flood } = await occupied();
    flood('flood');
    void ask('honest');
    await settle();
    expect(sentAway).toEqual(['honest']);
    clock.advance(1_000);
    await end('a');
    for (let i = 0; i < 50; i += 1) void ask(`later ${i}`);
    await settle();
    void ask('honest');
    await settle();
    // It replaces the latest one; earlier ones keep their place.
    expect(sentAway.filter((key) => key === 'honest')).toHaveLength(1);
    while (!begun.includes('honest')) await end(begun.at(-1) as string);
    expect(begun.some((key) => key.startsWith('later'))).toBe(false);
  });

  it('removes the place of a client that retries too early', async () => {
    const { clock, begun, sentAway, ask, end, settle, flood } = await occupied();
    flood('flood');
    clock.advance(1);
    void ask('hasty');
    clock.advance(1);
    void ask('honest');
    await settle();
    clock.advance(queueLimits.backAfterMs - 2);
    void ask('hasty');
    await settle();
    expect(sentAway).toEqual(['hasty', 'honest', 'hasty']);
    clock.advance(queueLimits.waitMs);
    void ask('hasty');
    void ask('honest');
    await settle();
    await end('a');
    await end('b');
    expect(begun).toEqual(['a', 'b', 'honest', 'hasty']);
  });

  it('forgets a place after a minute', async () => {
    const { clock, line, sentAway, ask, settle, flood } = await occupied();
    flood('flood');
    void ask('honest');
    await settle();
    expect(line.size().places).toBe(1);
    clock.advance(queueLimits.placeKeptMs);
    await settle();
    flood('flood again');
    void ask('honest');
    await settle();
    expect(sentAway.filter((key) => key === 'honest')).toHaveLength(2);
  });

  it('rejects a client that waited too long, and keeps nothing of one that disconnected', async () => {
    const { clock, line, begun, sentAway, ask, end, settle } = await occupied();
    const gone = new AbortController();
    void ask('gone', 'new', { signal: gone.signal });
    void ask('patient');
    await settle();
    gone.abort();
    await settle();
    expect([sentAway, line.size()]).toEqual([['gone'], { waiting: 1, places: 0 }]);
    clock.advance(queueLimits.waitMs);
    await settle();
    expect([sentAway, line.size()]).toEqual([['gone', 'patient'], { waiting: 0, places: 1 }]);
    await end('a');
    expect(begun).toEqual(['a', 'b']);
  });

  it('does not serve a client that left just as the turn of its key came', async () => {
    const { line, begun, sentAway, ask, settle } = world();
    const left = new AbortController();
    // The abort comes after the turn was passed on, and before the next attempt enters the queue.
    void line.take({ key: 'c', lane: 'new' }, settle).then(() => left.abort());
    void ask('c', 'new', { signal: left.signal });
    await settle();
    await settle();
    expect([begun, sentAway, line.size()]).toEqual([[], ['c'], { waiting: 0, places: 0 }]);
  });

  it('continues after work that throws', async () => {
    const { line, begun, ask, settle } = world();
    for (let i = 0; i < 5; i += 1) {
      const failing = line.take({ key: 'x', lane: 'new' }, () => Promise.reject(new Error('no memory')));
      await expect(failing).rejects.toThrow('no memory');
    }
    void ask('next');
    await settle();
    expect(begun).toEqual(['next']);
  });

  it('stays within its bounds, and always proceeds', { tags: 'property' }, async () => {
    const step = fc.record({
      key: fc.integer({ min: 0, max: 20_000 }),
      lane: fc.constantFrom<Lane>('known', 'new', 'failed'),
      rank: fc.integer({ min: 0, max: 5 }),
      step: fc.constantFrom('nothing', 'end', 'time'),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 300 }), async (steps) => {
        const { clock, line, begun, ask, end, settle } = world();
        const ended = new Set<number>();
        const { waiting } = queueLimits;
        for (const { key, lane, rank, step } of steps) {
          void ask(`${key}`, lane, { rank });
          await settle();
          expect(line.size().waiting).toBeLessThanOrEqual(waiting.known + waiting.new + waiting.failed);
          if (step === 'time') clock.advance(500);
          const index = begun.findIndex((_, i) => !ended.has(i));
          if (step === 'end' && index >= 0) {
            ended.add(index);
            await end(begun[index] as string);
          }
        }
        for (let i = 0; i < begun.length; i += 1) if (!ended.has(i)) await end(begun[i] as string);
        expect(line.size().waiting).toBe(0);
      }),
      { numRuns: runs(30) },
    );
  });

  it('keeps a bounded number of places, preferring clients that return', async () => {
    const { line, ask, settle, flood } = await occupied();
    flood('first');
    for (let i = 0; i < queueLimits.places * 2; i += 1) {
      void ask(`flood ${i}`);
      if (i % 1_000 === 0) void ask('honest');
    }
    await settle();
    expect(line.size().places).toBe(queueLimits.places);
    void ask('honest');
    await settle();
    expect(line.size()).toMatchObject({ places: queueLimits.places });
  });
});
