import { existsSync, readdirSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { isFull } from '../properties.ts';
import { type Corpus, createMutator } from './mutate.ts';
import { parsers } from './parsers.ts';
import { startSession } from './session.ts';

/** To show that each parser is reached; `npm run fuzz` tries many more, of another seed each time. */
const INPUTS = 300;
const seed = 1;
const session = startSession();
afterAll(() => session[Symbol.asyncDispose]());

describe('mutated inputs', () => {
  it.each(Object.keys(parsers))(
    'and the hits of earlier runs are answered or refused within the bounds by the parser %s',
    { tags: 'large' },
    async (name) => {
      const { tried, accepted, hits } = await session.run({ name, inputs: INPUTS, seed });
      expect(hits.map(({ index, problem }) => `${index}: ${problem}`)).toEqual([]);
      const folder = new URL(`./hits/${name}/`, import.meta.url);
      expect(tried - INPUTS).toBe(existsSync(folder) ? readdirSync(folder).length : 0);
      // A parser that refuses or accepts everything is not reached.
      expect(accepted).toBeGreaterThan(0);
      expect(accepted).toBeLessThan(INPUTS * 0.9);
    },
  );
});

describe('a session', () => {
  const table = new URL('./faulty.ts', import.meta.url);

  const costly = [
    ['endless', /^not finished after 2000 ms$/],
    ['kept', /^all inputs leave \d+ MB behind$/],
    ['unbounded', /memory/],
  ] as const;
  it.each<readonly [string, RegExp]>([
    // They take seconds of the processor.
    ...(isFull ? costly : []),
    ['throws', /^TypeError: of the parser\n/],
    ['slow', /^it takes \d+ ms$/],
    ['large', /^it takes \d+ MB$/],
    ['polluting', /^Object\.prototype has polluted$/],
  ])('reports a parser with the fault %s, with the input, and goes on', { tags: 'property' }, async (name, problem) => {
    await using faulty = startSession({ table, heapMb: 64, ...(name === 'endless' && { stuckMs: 2_000 }) });
    const inputs = name === 'kept' ? 2_600 : 3;
    const { accepted, hits } = await faulty.run({ name, inputs, seed: 1 });
    expect(hits.map((hit) => hit.problem)).toEqual([expect.stringMatching(problem)]);
    if (name !== 'kept') expect(Buffer.from(hits[0]?.input ?? []).toString()).toBe('fault');
    expect(accepted).toBeGreaterThanOrEqual(2);
  });
});

describe('a mutator', () => {
  const COUNT = isFull ? 3_000 : 2_000;
  const corpus = { samples: ['{"a":[1,"b"]}', Buffer.from([0, 1, 2, 255])], maxBytes: 500 };
  const inputs = (own: number, of: Corpus = corpus) =>
    Array.from({ length: COUNT }, (_, index) => createMutator(of, own)(index));

  it('makes the same inputs of the same seed, others of another, and none above the limit, half of them repaired', {
    tags: 'property',
  }, () => {
    const first = inputs(1);
    expect(first).toEqual(inputs(1));
    expect(first).not.toEqual(inputs(2));
    const longest = Math.max(...first.map(({ length }) => length));
    expect(longest).toBeLessThanOrEqual(500);
    expect(longest).toBeGreaterThan(250);
    const repaired = inputs(1, { ...corpus, repair: () => Buffer.from('repaired') }).filter(
      (it) => `${it}` === 'repaired',
    );
    expect(Math.abs(repaired.length / COUNT - 0.5)).toBeLessThan(0.07);
    expect(new Set(first.map((input) => input.toString('hex'))).size).toBeGreaterThan(COUNT / 2);
  });
});
