import { expect, test } from 'vitest';
import type { RunStep, StepResult } from '../../src/lib/checklist/index.ts';
import type { Row } from './checklist-breaking.ts';
import { pairsOf } from './checklist-fault-rows.ts';
import { reasonOf, stepOf, type World } from './checklist-world.ts';

/** Shared by the tests of faults: steps that were ok before a fault, and detect it. */

export type Results = ReadonlyMap<string, StepResult>;

/** Steps to run so that these steps are reached, by list. */
function idsToRun(pairs: readonly string[]): ReadonlyMap<string, string[]> {
  const byList = new Map<string, string[]>();
  for (const pair of pairs) {
    const { list, step } = stepOf(pair);
    const { id, reads } = step as RunStep;
    byList.set(list.name, [...new Set([...(byList.get(list.name) ?? []), reads ?? id])]);
  }
  return byList;
}

/** Runs these steps; returns their results by `list/step`. */
export async function runSteps(
  world: World,
  pairs: readonly string[],
  options: (list: string) => Parameters<World['run']>[1],
) {
  const outcomes = new Map<string, StepResult>();
  await Promise.all(
    [...idsToRun(pairs)].map(async ([list, only]) => {
      const results = await world.run(list, { only, ...options(list) });
      for (const [id, result] of results) outcomes.set(`${list}/${id}`, result);
    }),
  );
  return outcomes;
}

export const verdicts = (pairs: readonly string[], outcomes: Results) =>
  pairs.map((pair) => `${pair} ${outcomes.get(pair)?.verdict === 'ok' ? 'ok' : reasonOf(outcomes.get(pair))}`);
export const allOk = (pairs: readonly string[]) => pairs.map((pair) => `${pair} ok`);

/** Every step of the row was ok, is wrong now, and has a reason and a remedy. */
export function expectDetected(row: Pick<Row, 'fails'>, before: Results, outcomes: Results): void {
  for (const [named, ...says] of row.fails) {
    for (const pair of named.split(' ')) {
      const reason = reasonOf(outcomes.get(pair));
      expect(before.get(pair)?.verdict, pair).toBe('ok');
      expect({ pair, verdict: outcomes.get(pair)?.verdict, reason }).toMatchObject({ pair, verdict: 'wrong' });
      for (const text of says) expect(reason, pair).toMatch(text);
      expect(outcomes.get(pair)?.remedy, pair).toContain(stepOf(pair).step.remedy);
    }
  }
}

/** The tests of a table: each fault is detected by its steps, all of which were ok before. */
export function testRows<W extends World>(
  rows: readonly Row<W>[],
  robot: () => { readonly world: W; readonly before: Results },
): void {
  const detect = async (row: Row<W>) => {
    const { world, before } = robot();
    await world.goBack();
    // The gateway notices a fault of the identity, and its repair, by itself.
    await world.linkReady();
    const undo = await row.brings(world);
    try {
      const resume = row.isFresh !== true;
      const outcomes = await runSteps(world, pairsOf([row]), (list) => ({ resume, ...row.options?.(world, list) }));
      expectDetected(row, before, outcomes);
    } finally {
      await undo();
    }
  };
  test.each(rows)('detected: $fault', (row) => robot().world.during(detect(row)));
}

/** After the faults of a table all steps are ok again. */
export function testRecovery(pairs: readonly string[], robot: () => { readonly world: World }): void {
  test('after repair, their steps are ok again', async () => {
    const { world } = robot();
    await world.goBack();
    await world.linkReady();
    const results = await world.during(runSteps(world, pairs, () => ({ resume: true })));
    expect(verdicts(pairs, results)).toEqual(allOk(pairs));
  });
}
