import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { StepResult } from '../../src/lib/checklist/index.ts';
import { drivingSteps, type Main, shorten, testQuestions } from '../e2e/checklist-enrolled.ts';
import { gatewayRows, pairsOf } from '../e2e/checklist-fault-rows.ts';
import { allOk, type Results, runSteps, testRows, verdicts } from '../e2e/checklist-steps.ts';
import { stepOf, type World, worldOn } from '../e2e/checklist-world.ts';
import { isFull } from '../properties.ts';
import { startStory } from './story.ts';

/** The faults of the gateway and of drives, each on a robot whose steps were ok before. */

/** `npm test` has the faults of drives. */
const rows = gatewayRows.filter((row) => isFull || pairsOf([row]).every((pair) => stepOf(pair).step.moves));
const steps = [...new Set([...pairsOf(rows), ...drivingSteps])];

let main: Main | undefined;
const robotInOrder = () => {
  if (!main) throw new Error('there is no robot');
  return main;
};
async function driveToDock({ operatorPort, during, until }: World): Promise<void> {
  const url = `http://127.0.0.1:${operatorPort}/api/fahrt`;
  const headers = { 'content-type': 'application/json' };
  const begun = await during(fetch(url, { method: 'POST', headers, body: JSON.stringify({ dock: true }) }));
  expect(begun.status).toBe(202);
  const run = async () => ((await (await fetch(url)).json()) as { run: { state: string } | null }).run?.state;
  await until(run, (state) => state === 'succeeded');
}

/** One list after the other, since there is one robot to drive. It ends at B, so that every drive of a fault is one. */
async function workThrough(world: World, resume: boolean): Promise<Results> {
  const results = new Map<string, StepResult>();
  for (const list of ['premises', 'handover', 'site', 'demo']) {
    const own = steps.filter((pair) => stepOf(pair).list.name === list);
    for (const [pair, result] of await world.during(runSteps(world, own, () => ({ resume })))) {
      results.set(pair, result);
    }
  }
  return results;
}

beforeAll(async () => {
  await using undo = new AsyncDisposableStack();
  const world = await worldOn(undo.use(await startStory({ with: ['password'], robots: 2 })), shorten);
  await world.startGateway();
  const before = await workThrough(world, false);
  await world.remember();
  const running = undo.move();
  main = { world, before, [Symbol.asyncDispose]: () => running.disposeAsync() };
});
afterAll(() => main?.[Symbol.asyncDispose]());

test('every step of these faults, and every drive of the site, is ok on a robot without faults', {
  tags: 'property',
}, () => {
  expect(verdicts(steps, robotInOrder().before)).toEqual(allOk(steps));
});

describe('questions about a drive', () => {
  testQuestions((pair) => drivingSteps.includes(pair), robotInOrder);
});
describe('faults of the gateway', () => {
  testRows(rows, robotInOrder);
  test('after repair, their steps are ok again', { tags: 'large' }, async () => {
    const { world } = robotInOrder();
    await world.goBack();
    // Not where the stop of the checklist finds its first station reached.
    await driveToDock(world);
    expect(verdicts(steps, await workThrough(world, true))).toEqual(allOk(steps));
  });
});
