import { afterAll, beforeAll, describe } from 'vitest';
import { pairsOf, processRows } from './checklist-fault-rows.ts';
import { type Results, runSteps, testRecovery, testRows } from './checklist-steps.ts';
import { openWorld, type ProcessWorld } from './checklist-world.ts';

describe('faults of the gateway as a process', () => {
  const pairs = pairsOf(processRows);
  let robot: { readonly world: ProcessWorld; readonly before: Results };
  beforeAll(async () => {
    await using undo = new AsyncDisposableStack();
    const world = undo.use(await openWorld({ with: ['password'] }));
    await world.startGateway();
    robot = { world, before: await runSteps(world, pairs, () => ({})) };
    await world.remember();
    undo.move();
  });
  afterAll(() => robot?.world[Symbol.asyncDispose]());
  testRows(processRows, () => robot);
  testRecovery(pairs, () => robot);
});
