import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { StepResult } from '../../src/lib/checklist/index.ts';
import { readSecret } from '../../src/lib/site/index.ts';
import { enrolDevice } from '../../src/lib/toolkit/enrol/enrol.ts';
import { openToolkit } from '../../src/lib/toolkit/toolkit.ts';
import { hasProgram } from '../peers/peer.ts';
import {
  closeTablet,
  cloudRows,
  gatewayRows,
  namespaceQuestion,
  namespaceSteps,
  pairsOf,
  tabletRows,
  trialSteps,
} from './checklist-fault-rows.ts';
import { allOk, type Results, runSteps, testRecovery, testRows, verdicts } from './checklist-steps.ts';
import { answerYes, context, listOf, lists, openWorld, sameness, stepOf, type World } from './checklist-world.ts';

/** The faults of test/e2e/checklist-faults.test.ts that need a running gateway. */

interface Main extends AsyncDisposable {
  readonly world: World;
  readonly before: Results;
}

/** An enrolled robot with gateway, cloud, tablet and two neighbours, on which every list was run. */
async function prepareMain(): Promise<Main> {
  await using undo = new AsyncDisposableStack();
  const parts = ['password', 'enrolment', 'cloud', 'tablet'] as const;
  const world = undo.use(
    await openWorld({ with: parts, robots: 2, tablet: { rebootMs: 300 } }, (site) => {
      site.cloud.region = 'eu-central-1';
      // Short paths.
      site.stations.B = { xM: 0.7, yM: 0.3, yawDeg: 180 };
      site.tours = { acceptance: { stations: ['B', 'A'] }, demo: { stations: ['B'] } };
    }),
  );
  const toolkit = await openToolkit(world.sitePath);
  const readCode = () => readSecret(world.sim.enrolment?.codePath ?? '', 'the one-time code');
  await enrolDevice(toolkit, { renew: false, readCode }, context);
  if (hasTablet) await closeTablet(world);
  await world.startGateway();

  const before = new Map<string, StepResult>();
  const work = async (list: string, options: Parameters<World['run']>[1] = {}) => {
    for (const [id, result] of await world.run(list, options)) before.set(`${list}/${id}`, result);
  };
  /** A whole list in two runs: a run in which every step is ok is not resumed, so its last step is run separately. */
  const workThrough = async (list: string, onResult: (result: StepResult) => unknown = () => {}) => {
    const ids = listOf(list).steps.flatMap(({ id }) => (trialSteps.includes(`${list}/${id}`) ? [] : [id]));
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
  await work('service', { resume: true, only: ['drive'] });
  await world.remember('service');
  await workThrough('demo');
  const running = undo.move();
  return { world, before, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

const hasTablet = hasProgram('adb');

let main: Main | undefined;
beforeAll(async () => {
  main = await prepareMain();
}, 120_000);
afterAll(() => main?.[Symbol.asyncDispose](), 120_000);

function robotInOrder(): Main {
  if (!main) throw new Error('there is no robot');
  return main;
}

test('every step of every list is ok on a robot without faults', () => {
  const { before } = robotInOrder();
  // The steps of trials are ok in test/e2e/trial.test.ts.
  const apart = [...namespaceSteps, namespaceQuestion, ...trialSteps, ...(hasTablet ? [] : pairsOf(tabletRows))];
  const excused = new Set(apart.map((pair) => sameness(stepOf(pair).step)));
  const pairs = [...lists.values()].flatMap(({ name, steps }) =>
    steps
      .filter((step) => step.kind !== 'unavailable' && !excused.has(sameness(step)))
      .map(({ id }) => `${name}/${id}`),
  );
  expect(verdicts(pairs, before)).toEqual(allOk(pairs));
});

describe('questions and measured values', () => {
  testQuestions();
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
describe('faults of the gateway', () => {
  testRows(gatewayRows, robotInOrder);
  // There is one robot to drive.
  const pairs = pairsOf(gatewayRows).filter((pair) => pair === 'demo/tour' || !stepOf(pair).step.moves);
  testRecovery(pairs, robotInOrder);
});

function testQuestions(): void {
  const questions = [...lists.values()].flatMap(({ name, steps }) =>
    steps.flatMap((step) =>
      step.kind === 'confirm' || step.kind === 'measure' ? [{ list: name, id: step.id, step }] : [],
    ),
  );

  test.each(questions.filter(({ list, id }) => `${list}/${id}` !== namespaceQuestion))(
    '$list/$id is ok, wrong, or open, according to its answer',
    async ({ list, id, step }) => {
      const { world, before } = robotInOrder();
      expect(verdicts([`${list}/${id}`], before)).toEqual(allOk([`${list}/${id}`]));
      await world.goBack(list);
      const ask = async (answer: 'yes' | 'no' | 'skip' | null, value: number | null = null) => {
        const given = answer && { ...(await answerYes(step)), answer, value };
        return (await world.run(list, { resume: true, only: [id], ask: async () => given })).get(id);
      };
      const isMeasure = step.kind === 'measure';
      const no = isMeasure ? await ask('yes', 1e6) : await ask('no');
      expect(no).toMatchObject({ verdict: 'wrong', remedy: step.remedy, answer: { initials: 'KM' } });
      expect(no?.why).toContain(
        isMeasure
          ? `value: expected ${step.expectations[0]?.matcher.expected}, found 1000000`
          : `answered no: ${step.question}`,
      );
      const open = await ask('skip');
      expect(open).toMatchObject({ verdict: 'not-checked', remedy: step.remedy });
      expect(open?.why).toContain(`left it open: ${step.question}`);
      expect(await ask(null)).toMatchObject({ verdict: 'not-checked', why: `Not answered: ${step.question}` });
      expect(await ask('yes', isMeasure ? 3 : null)).toMatchObject({ verdict: 'ok', remedy: null });
    },
  );
}
