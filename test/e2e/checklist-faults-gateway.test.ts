import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { StepResult } from '../../src/lib/checklist/index.ts';
import { drivingSteps, type Main, openEnrolled, testQuestions } from './checklist-enrolled.ts';
import { gatewayRows, pairsOf } from './checklist-fault-rows.ts';
import { allOk, runSteps, testRecovery, testRows, verdicts } from './checklist-steps.ts';
import { stepOf } from './checklist-world.ts';

/** The faults of the gateway and of drives, each on a robot whose steps were ok before. */

const steps = [...new Set([...pairsOf(gatewayRows), ...drivingSteps])];

async function prepareMain(): Promise<Main> {
  await using undo = new AsyncDisposableStack();
  const world = undo.use(await openEnrolled());
  await world.startGateway();
  await world.linkReady();
  const before = new Map<string, StepResult>();
  // One list after the other, since there is one robot to drive. The demo ends at B, so that every drive of a fault is one.
  for (const list of ['premises', 'handover', 'site', 'demo']) {
    const own = steps.filter((pair) => stepOf(pair).list.name === list);
    for (const [pair, result] of await runSteps(world, own, () => ({}))) before.set(pair, result);
  }
  await world.remember();
  const running = undo.move();
  return { world, before, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

let main: Main | undefined;
beforeAll(async () => {
  main = await prepareMain();
});
afterAll(() => main?.[Symbol.asyncDispose]());

function robotInOrder(): Main {
  if (!main) throw new Error('there is no robot');
  return main;
}

test('every step of these faults, and every drive of the site, is ok on a robot without faults', () => {
  expect(verdicts(steps, robotInOrder().before)).toEqual(allOk(steps));
});

describe('questions about a drive', () => {
  testQuestions((pair) => drivingSteps.includes(pair), robotInOrder);
});
describe('faults of the gateway', () => {
  testRows(gatewayRows, robotInOrder);
  // There is one robot to drive.
  const pairs = pairsOf(gatewayRows).filter((pair) => pair === 'demo/tour' || !stepOf(pair).step.moves);
  testRecovery(pairs, robotInOrder);
});
