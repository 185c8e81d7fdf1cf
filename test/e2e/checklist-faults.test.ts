import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { StepResult } from '../../src/lib/checklist/index.ts';
import { inside, run } from '../peers/namespace.ts';
import { hasNamespaces } from '../peers/peer.ts';
import type { Row } from './checklist-breaking.ts';
import { openCable, SEGMENT } from './checklist-cable.ts';
import {
  allRows,
  chassisRows,
  mapLossRow,
  namespaceQuestion,
  namespaceSteps,
  pairsOf,
  recordSteps,
  slowRows,
  trialSteps,
} from './checklist-fault-rows.ts';
import { allOk, expectDetected, type Results, runSteps, testRecovery, testRows, verdicts } from './checklist-steps.ts';
import { lists, openWorld, sameness, stepOf, type World } from './checklist-world.ts';
import { gwBinary } from './gw.ts';

/**
 * Every step of every built-in checklist was ok on a robot without faults, and fails for the right reason when its
 * subject is broken as in the field. A row of a table is one fault, with the steps that must detect it. Steps of
 * several lists that are the same check with the same options and expectations share a row. This file has the
 * faults without a gateway; the others are in checklist-faults-gateway.test.ts, checklist-faults-enrolled.test.ts and
 * test/story/checklist-faults.test.ts.
 */

test('every step that gw checks itself has a fault in these tables', () => {
  const seen = new Set(
    [...pairsOf(allRows), ...namespaceSteps, ...trialSteps, ...recordSteps].map((pair) => sameness(stepOf(pair).step)),
  );
  const forgotten = [...lists.values()].flatMap(({ name, steps }) =>
    steps.filter((step) => step.kind === 'run' && !seen.has(sameness(step))).map(({ id }) => `${name}/${id}`),
  );
  expect(forgotten).toEqual([]);
});

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
// Also when not all of these tests are run.
afterAll(async () => {
  await Promise.allSettled(slow.values());
});

describe('faults of chassis and files', () => {
  let bench: { world: World; before: Results } | undefined;
  const robot = () => {
    if (!bench) throw new Error('there is no robot');
    return bench;
  };
  beforeAll(async () => {
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
