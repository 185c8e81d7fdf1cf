import { expect, test } from 'vitest';
import type { RunStep, StepResult } from '../../src/lib/checklist/index.ts';
import type { Row } from './checklist-breaking.ts';
import { pairsOf } from './checklist-fault-rows.ts';
import { reasonOf, stepOf, type World } from './checklist-world.ts';

/** What the tests of faults share: which steps were ok before a fault, and see it. */

export type Taken = ReadonlyMap<string, StepResult>;

/** What has to be run so that these steps are taken, by list. */
function idsToRun(pairs: readonly string[]): ReadonlyMap<string, string[]> {
  const byList = new Map<string, string[]>();
  for (const pair of pairs) {
    const { list, step } = stepOf(pair);
    const { id, reads } = step as RunStep;
    byList.set(list.name, [...new Set([...(byList.get(list.name) ?? []), reads ?? id])]);
  }
  return byList;
}

/** Runs these steps; gives their results by `list/step`. */
export async function take(
  world: World,
  pairs: readonly string[],
  options: (list: string) => Parameters<World['run']>[1],
) {
  const taken = new Map<string, StepResult>();
  await Promise.all(
    [...idsToRun(pairs)].map(async ([list, only]) => {
      const results = await world.run(list, { only, ...options(list) });
      for (const [id, result] of results) taken.set(`${list}/${id}`, result);
    }),
  );
  return taken;
}

export const verdicts = (pairs: readonly string[], taken: Taken) =>
  pairs.map((pair) => `${pair} ${taken.get(pair)?.verdict === 'ok' ? 'ok' : reasonOf(taken.get(pair))}`);
export const allOk = (pairs: readonly string[]) => pairs.map((pair) => `${pair} ok`);

/** Every step of the row was ok, is wrong now, says why, and says what to do. */
export function expectSeen(row: Pick<Row, 'fails'>, before: Taken, taken: Taken): void {
  for (const [named, ...says] of row.fails) {
    for (const pair of named.split(' ')) {
      const reason = reasonOf(taken.get(pair));
      expect(before.get(pair)?.verdict, pair).toBe('ok');
      expect({ pair, verdict: taken.get(pair)?.verdict, reason }).toMatchObject({ pair, verdict: 'wrong' });
      for (const text of says) expect(reason, pair).toMatch(text);
      expect(taken.get(pair)?.remedy, pair).toContain(stepOf(pair).step.remedy);
    }
  }
}

/** The tests of a table: each fault is seen by its steps, all of which were ok before. */
export function testRows(rows: readonly Row[], robot: () => { readonly world: World; readonly before: Taken }): void {
  test.each(rows)('detected: $fault', async (row) => {
    const { world, before } = robot();
    await world.goBack();
    const undo = await row.brings(world);
    try {
      const resume = row.isFresh !== true;
      const taken = await take(world, pairsOf([row]), (list) => ({ resume, ...row.options?.(world, list) }));
      expectSeen(row, before, taken);
    } finally {
      await undo();
    }
  });
}

/** After the faults of a table everything is as it was. */
export function testRecovery(pairs: readonly string[], robot: () => { readonly world: World }): void {
  test('after repair, their steps are ok again', async () => {
    const { world } = robot();
    await world.goBack();
    expect(verdicts(pairs, await take(world, pairs, () => ({ resume: true })))).toEqual(allOk(pairs));
  });
}
