import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RunStep, StepResult } from '../../src/lib/checklist/index.ts';
import { readSecret } from '../../src/lib/site/index.ts';
import { enrolDevice } from '../../src/lib/toolkit/enrol/enrol.ts';
import { openToolkit } from '../../src/lib/toolkit/toolkit.ts';
import { inside, run } from '../peers/namespace.ts';
import { hasNamespaces, hasProgram } from '../peers/peer.ts';
import type { Row } from './checklist-breaking.ts';
import { openCable, SEGMENT } from './checklist-cable.ts';
import {
  allRows,
  chassisRows,
  closeTablet,
  cloudRows,
  gatewayRows,
  mapLossRow,
  namespaceQuestion,
  namespaceSteps,
  pairsOf,
  slowRows,
  tabletRows,
  trialSteps,
} from './checklist-fault-rows.ts';
import {
  answerYes,
  context,
  listOf,
  lists,
  openWorld,
  reasonOf,
  sameness,
  stepOf,
  type World,
} from './checklist-world.ts';
import { gwBinary } from './gw.ts';

/**
 * Every step of every built-in checklist was ok on a robot without faults, and fails for the right reason when its
 * subject is broken as in the field. A row of a table is one fault, with the steps that must detect it. Steps of
 * several lists that are the same check with the same options and expectations share a row.
 */

type Results = ReadonlyMap<string, StepResult>;

test('every step that gw checks itself has a fault in this file', () => {
  const seen = new Set(
    [...pairsOf(allRows), ...namespaceSteps, ...trialSteps].map((pair) => sameness(stepOf(pair).step)),
  );
  const forgotten = [...lists.values()].flatMap(({ name, steps }) =>
    steps.filter((step) => step.kind === 'run' && !seen.has(sameness(step))).map(({ id }) => `${name}/${id}`),
  );
  expect(forgotten).toEqual([]);
});

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
async function runSteps(
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

const verdicts = (pairs: readonly string[], outcomes: Results) =>
  pairs.map((pair) => `${pair} ${outcomes.get(pair)?.verdict === 'ok' ? 'ok' : reasonOf(outcomes.get(pair))}`);
const allOk = (pairs: readonly string[]) => pairs.map((pair) => `${pair} ok`);

/** Every step of the row was ok, is wrong now, and has a reason and a remedy. */
function expectDetected(row: Pick<Row, 'fails'>, before: Results, outcomes: Results): void {
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
function testRows(rows: readonly Row[], robot: () => { readonly world: World; readonly before: Results }): void {
  test.each(rows)('detected: $fault', async (row) => {
    const { world, before } = robot();
    await world.goBack();
    const undo = await row.brings(world);
    try {
      const resume = row.isFresh !== true;
      const outcomes = await runSteps(world, pairsOf([row]), (list) => ({ resume, ...row.options?.(world, list) }));
      expectDetected(row, before, outcomes);
    } finally {
      await undo();
    }
  });
}

/** After the faults of a table all steps are ok again. */
function testRecovery(pairs: readonly string[], robot: () => { readonly world: World }): void {
  test('after repair, their steps are ok again', async () => {
    const { world } = robot();
    await world.goBack();
    expect(verdicts(pairs, await runSteps(world, pairs, () => ({ resume: true })))).toEqual(allOk(pairs));
  });
}

interface Main extends AsyncDisposable {
  readonly world: World;
  readonly before: Results;
}

/** A slow fault on a robot of its own, concurrent with the others. */
async function runSlowRow(row: Row): Promise<{ before: Results; outcomes: Results }> {
  await using world = await openWorld({});
  const pairs = pairsOf([row]);
  const before = await runSteps(world, pairs, () => ({}));
  await row.brings(world);
  return { before, outcomes: await runSteps(world, pairs, () => ({ resume: true })) };
}

const slow = new Map<Row, ReturnType<typeof runSlowRow>>();
function beginSlowRows(): void {
  for (const row of slowRows) {
    const running = runSlowRow(row);
    running.catch(() => {});
    slow.set(row, running);
  }
}
let opening: Promise<Main> | undefined;
let main: Main | undefined;
/** It is slow, so it begins before it is needed. */
function openMain(): Promise<Main> {
  opening ??= prepareMain();
  opening.catch(() => {});
  return opening;
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

// Also when not all of these tests are run.
afterAll(async () => {
  await Promise.allSettled(slow.values());
  const made = await opening?.catch(() => undefined);
  await made?.[Symbol.asyncDispose]();
}, 120_000);

function robotInOrder(): Main {
  if (!main) throw new Error('there is no robot');
  return main;
}

describe('faults of chassis and files', () => {
  let bench: { world: World; before: Results } | undefined;
  const robot = () => {
    if (!bench) throw new Error('there is no robot');
    return bench;
  };
  beforeAll(async () => {
    void openMain();
    beginSlowRows();
    const world = await openWorld({ with: ['password'] });
    bench = { world, before: new Map() };
    bench.before = await runSteps(world, pairsOf(chassisRows), () => ({}));
    await world.remember();
  });
  afterAll(() => bench?.world[Symbol.asyncDispose]());
  testRows(chassisRows, robot);
  testRecovery(pairsOf(chassisRows), robot);
  testRows([mapLossRow], robot);
});

// Meanwhile the robot with gateway and cloud is prepared.

describe.skipIf(!hasNamespaces())('on a cable between two hosts (network namespaces)', () => {
  test('detected: a hardware address that is not the reserved one, and a program that listens on all addresses', async () => {
    await using bench = await openCable();
    const runSteps = async (...more: string[]) => {
      const args = ['checklist', 'run', 'site', '--site', bench.site, '--initials', 'KM', '--json', ...more];
      const { stdout } = await run(bench.gatewaySide, [gwBinary, ...args]);
      const { data } = JSON.parse(stdout) as { data: { steps: StepResult[] } };
      return new Map(data.steps.map((step) => [`site/${step.id}`, step]));
    };
    const answers = async (answer: string) => {
      const path = join(bench.dir, 'answers.yaml');
      await writeFile(path, `chassis-reservation: ${answer}\n`);
      return ['--answers', path];
    };
    const only = (...ids: string[]) => ids.flatMap((id) => ['--only', id]);
    const question = only('chassis-reservation');

    const before = await runSteps(...only('listening', 'segments'), ...question, ...(await answers('yes')));
    const steps = [...namespaceSteps, namespaceQuestion];
    expect(verdicts(steps, before)).toEqual(allOk(steps));

    const { step } = stepOf(namespaceQuestion);
    const no = (await runSteps('--resume', ...question, ...(await answers('no')))).get(namespaceQuestion);
    expect(no).toMatchObject({ verdict: 'wrong', why: expect.stringContaining('answered no'), remedy: step.remedy });
    const left = (await runSteps('--resume', ...question, ...(await answers('skip')))).get(namespaceQuestion);
    expect(left).toMatchObject({ verdict: 'not-checked', why: expect.stringContaining('left it open') });

    const other = bench.mac.startsWith('02:00:00') ? '02:00:01:00:00:01' : '02:00:00:00:00:01';
    const text = await readFile(bench.site, 'utf8');
    const lift = '{ name: Lift A, kind: lift, host: 192.0.2.2, port: 3100 }';
    const network = `{ robotSegment: 192.0.2.128/28, devices: [${lift}],`;
    await writeFile(bench.site, text.replace(bench.mac, other).replace(`{ robotSegment: ${SEGMENT},`, network));
    const stranger = "require('node:net').createServer().listen(8080, '0.0.0.0', () => console.log('listening'));";
    await using program = inside(bench.gatewaySide, ['-e', stranger]);
    await program.untilOutput('listening');
    expectDetected(
      {
        fails: [
          [
            'site/chassis-mac',
            /mac\.verdict: expected 'ok', found 'wrong'/,
            /hardware address differs from the DHCP reservation/,
          ],
          [
            'site/segments',
            /found \d of \d+ wrong: .*the chassis \(192\.0\.2\.2\) is not in 192\.0\.2\.128\/28/,
            /The gateway reaches Lift A \(not connected/,
          ],
          ['site/listening', /lines: expected every finding .* ok, found \d of \d+ wrong: .*TCP 8080 is not open/],
        ],
      },
      before,
      await runSteps('--resume', ...only('chassis-mac', 'cloud-reached')),
    );
  });
});

test.each(slowRows)('detected: $fault', async (row) => {
  const { before, outcomes } = await (slow.get(row) ?? runSlowRow(row));
  expectDetected(row, before, outcomes);
});

describe('with gateway and cloud', () => {
  beforeAll(async () => {
    main = await openMain();
  }, 120_000);

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
