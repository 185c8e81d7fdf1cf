import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSharedLookup, type Lookup, resolveHost } from '../../src/lib/net/index.ts';
import { createFakeClock } from '../lifecycle/fake-clock.ts';
import { runs } from '../properties.ts';

type Answer = readonly string[] | 'fails' | 'times-out' | undefined;
type Answers = { readonly [record in Parameters<Lookup>[1]]?: Answer };

/** Answers these queries, and no other ones. */
function nameServer(answers: Answers) {
  const asked: string[] = [];
  const lookup: Lookup = async (_host, record) => {
    asked.push(record);
    const answer = answers[record];
    if (answer === undefined) return await new Promise(() => {});
    if (answer === 'fails') throw Object.assign(new Error(), { code: 'ENOTFOUND' });
    if (answer === 'times-out') throw Object.assign(new Error(), { code: 'ETIMEOUT' });
    return answer.map((address) => ({ address }));
  };
  return { lookup, asked };
}

/** What is known of a name after so much time. */
async function resolved(answers: Answers, passesMs: number, timeoutMs = 3_000) {
  const clock = createFakeClock();
  const { lookup, asked } = nameServer(answers);
  let name: unknown;
  const resolving = resolveHost('robot.example', { timeoutMs, clock, lookup }).then((found) => {
    name = found;
  });
  await clock.advance(passesMs);
  if (name !== undefined) await resolving;
  return { name, asked, pending: clock.pending };
}

describe('a name', () => {
  it('that is an address needs no lookup', async () => {
    const lookup = () => expect.fail('it was looked up');
    const expected = { kind: 'literal', addresses: ['127.0.0.1'] };
    expect(await resolveHost('127.0.0.1', { timeoutMs: 10, lookup })).toEqual(expected);
    expect(await resolveHost('::1', { timeoutMs: 10, lookup })).toMatchObject({ kind: 'literal' });
  });

  it('has the addresses of both families, IPv4 first, each once', async () => {
    const { name, pending } = await resolved({ AAAA: ['::1'], A: ['192.0.2.7', '192.0.2.7', '192.0.2.8'] }, 0);
    expect(name).toEqual({ kind: 'resolved', addresses: ['192.0.2.7', '192.0.2.8', '::1'], tookMs: 0 });
    expect(pending).toBe(0);
  });

  it('is used with the addresses at hand when the other query is never answered', async () => {
    const half = { kind: 'resolved', addresses: ['192.0.2.7'], unanswered: 'AAAA', tookMs: 250 };
    expect((await resolved({ A: ['192.0.2.7'] }, 250)).name).toEqual(half);
    const other = { kind: 'resolved', addresses: ['::1'], unanswered: 'A', tookMs: 1_000 };
    expect((await resolved({ AAAA: ['::1'] }, 1_000)).name).toEqual(other);
    expect((await resolved({ A: ['192.0.2.7'], AAAA: 'times-out' }, 0)).name).toMatchObject({ unanswered: 'AAAA' });
    expect((await resolved({ A: ['192.0.2.7'], AAAA: 'fails' }, 0)).name).not.toHaveProperty('unanswered');
  });

  it('has an address that only this machine knows, in its hosts file', async () => {
    const { name, asked } = await resolved({ A: 'fails', AAAA: 'fails', any: ['2001:db8::7'] }, 0);
    expect(name).toMatchObject({ kind: 'resolved', addresses: ['2001:db8::7'] });
    expect(asked).toEqual(['A', 'AAAA', 'any']);
  });

  it('is unknown only when both queries were answered, and says which one was not', async () => {
    expect((await resolved({ A: 'fails', AAAA: [], any: 'fails' }, 0)).name).toEqual({ kind: 'unknown', tookMs: 0 });
    expect((await resolved({}, 3_000)).name).toEqual({ kind: 'no-answer', tookMs: 3_000 });
    const lost = { kind: 'no-answer', unanswered: 'A', tookMs: 3_000 };
    expect((await resolved({ AAAA: [] }, 3_000)).name).toEqual(lost);
    expect((await resolved({ A: [] }, 3_000)).name).toMatchObject({ kind: 'no-answer', unanswered: 'AAAA' });
    expect((await resolved({ A: [], AAAA: 'times-out' }, 3_000)).name).toMatchObject({ unanswered: 'AAAA' });
  });

  it('has no address that no query had, whatever is answered', { tags: 'property' }, async () => {
    const addresses = fc.array(fc.constantFrom('192.0.2.1', '192.0.2.2', '2001:db8::1'), { maxLength: 3 });
    const answer = fc.option(fc.oneof(addresses, fc.constantFrom('fails' as const, 'times-out' as const)), {
      nil: undefined,
    });
    const property = fc.asyncProperty(fc.record({ A: answer, AAAA: answer, any: answer }), async (answers) => {
      const { name, pending } = await resolved(answers, 3_000);
      const addressesOf = (all: readonly Answer[]) => all.flatMap((it) => (typeof it === 'object' ? it : []));
      const had = addressesOf([answers.A, answers.AAAA, answers.any]);
      const direct = addressesOf([answers.A, answers.AAAA]);
      const { kind, addresses: found = [] } = name as { kind: string; addresses?: readonly string[] };
      expect(found.every((address) => had.includes(address))).toBe(true);
      expect(kind === 'resolved').toBe(found.length > 0);
      if (direct.length > 0) expect(kind).toBe('resolved');
      expect(pending).toBe(0);
    });
    await fc.assert(property, { numRuns: runs(200) });
  });
});

describe('a shared lookup', () => {
  it('asks once at a time, serves later attempts by the query that still runs, and keeps a late answer', async () => {
    const clock = createFakeClock();
    const queries: PromiseWithResolvers<{ address: string }[]>[] = [];
    const shared = createSharedLookup(async () => {
      const query = Promise.withResolvers<{ address: string }[]>();
      queries.push(query);
      return await query.promise;
    }, clock);
    const attempt = async (passesMs: number) => {
      const name = resolveHost('broker.example', { timeoutMs: 3_000, clock, lookup: shared });
      await clock.advance(passesMs);
      return await name;
    };
    expect(await attempt(3_000)).toMatchObject({ kind: 'no-answer' });
    expect(await attempt(3_000)).toMatchObject({ kind: 'no-answer' });
    expect(queries).toHaveLength(2);
    // Between two attempts.
    queries[0]?.resolve([{ address: '192.0.2.7' }]);
    queries[1]?.resolve([]);
    await clock.advance(20_000);
    expect(await attempt(0)).toMatchObject({ kind: 'resolved', addresses: ['192.0.2.7'] });
    expect(queries).toHaveLength(2);
    await clock.advance(60_000);
    void attempt(0);
    expect(queries).toHaveLength(4);
  });

  it('keeps neither a quick answer nor a failure', async () => {
    const clock = createFakeClock();
    let asked = 0;
    const shared = createSharedLookup(async () => {
      asked += 1;
      if (asked === 2) throw Object.assign(new Error(), { code: 'EAI_AGAIN' });
      return [{ address: `192.0.2.${asked}` }];
    }, clock);
    expect(await shared('x', 'A')).toEqual([{ address: '192.0.2.1' }]);
    await expect(shared('x', 'A')).rejects.toThrow();
    expect(await shared('x', 'A')).toEqual([{ address: '192.0.2.3' }]);
  });
});
