import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { StepResult } from '../../src/lib/checklist/index.ts';
import { hasProgram } from '../peers/peer.ts';
import { drivingSteps, type Main, openEnrolled, testQuestions } from './checklist-enrolled.ts';
import {
  closeTablet,
  cloudRows,
  knownQuestions,
  namespaceQuestion,
  namespaceSteps,
  pairsOf,
  recordSteps,
  tabletRows,
  trialSteps,
} from './checklist-fault-rows.ts';
import { allOk, runSteps, testRecovery, testRows, verdicts } from './checklist-steps.ts';
import { listOf, lists, sameness, stepOf, type World } from './checklist-world.ts';

/** The faults of identity, cloud and tablet, and the questions of all lists. */

/** An enrolled robot with gateway, cloud, tablet and two neighbours, on which every list was run. */
async function prepareMain(): Promise<Main> {
  await using undo = new AsyncDisposableStack();
  const world = undo.use(await openEnrolled());
  if (hasTablet) await closeTablet(world);
  await world.startGateway();

  const before = new Map<string, StepResult>();
  const work = async (list: string, options: Parameters<World['run']>[1] = {}) => {
    for (const [id, result] of await world.run(list, options)) before.set(`${list}/${id}`, result);
  };
  /** A whole list in two runs: a run in which every step is ok is not resumed, so its last step is run separately. */
  const workThrough = async (list: string, onResult: (result: StepResult) => unknown = () => {}) => {
    const ids = listOf(list).steps.flatMap(({ id }) => (elsewhere.includes(`${list}/${id}`) ? [] : [id]));
    await work(list, { only: ids.slice(0, -1), onResult });
    await world.remember(list);
    await work(list, { resume: true, only: ids.slice(-1) });
  };
  // Concurrent, except for unique resources: the robot that drives, and the broker session of its serial number.
  const reached = Promise.withResolvers<void>();
  await workThrough('premises');
  const first = workThrough('site', ({ id }) => id === 'cloud-reached' && reached.resolve());
  await workThrough('handover');
  await Promise.race([reached.promise, first]);
  await work('service', { only: ['before', 'chassis', 'gateway', 'surface'] });
  await first;
  await work('service', { resume: true, only: ['way-clear'] });
  await world.remember('service');
  await workThrough('demo');
  const running = undo.move();
  return { world, before, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

const hasTablet = hasProgram('adb');
/** They are ok in tests of their own. */
const elsewhere: readonly string[] = [...trialSteps, ...drivingSteps, ...recordSteps, ...knownQuestions];
const samenessOf = (pairs: readonly string[]) => new Set(pairs.map((pair) => sameness(stepOf(pair).step)));

let main: Main | undefined;
beforeAll(async () => {
  main = await prepareMain();
});
afterAll(() => main?.[Symbol.asyncDispose]());

function robotInOrder(): Main {
  if (!main) throw new Error('there is no robot');
  return main;
}

test('every step of every list is ok on a robot without faults', () => {
  const { before } = robotInOrder();
  const apart = [...namespaceSteps, namespaceQuestion, ...elsewhere, ...(hasTablet ? [] : pairsOf(tabletRows))];
  const excused = samenessOf(apart);
  const pairs = [...lists.values()].flatMap(({ name, steps }) =>
    steps
      .filter((step) => step.kind !== 'unavailable' && !excused.has(sameness(step)))
      .map(({ id }) => `${name}/${id}`),
  );
  expect(verdicts(pairs, before)).toEqual(allOk(pairs));
});

describe('questions and measured values', () => {
  const excused = samenessOf(elsewhere);
  testQuestions((pair) => !excused.has(sameness(stepOf(pair).step)), robotInOrder);
});
describe('faults of identity and cloud', () => {
  testRows(cloudRows, robotInOrder);
  testRecovery(pairsOf(cloudRows), robotInOrder);
});
describe.skipIf(!hasTablet)('faults of the tablet', () => {
  testRows(tabletRows, robotInOrder);
  test('after another setup, its steps are ok again', async () => {
    const { world } = robotInOrder();
    await world.goBack();
    await world.sim.tablet?.openPort();
    await closeTablet(world);
    const pairs = pairsOf(tabletRows);
    expect(verdicts(pairs, await runSteps(world, pairs, () => ({ resume: true })))).toEqual(allOk(pairs));
  });
});
