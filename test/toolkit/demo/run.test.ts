import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { GwError } from '../../../src/lib/error/index.ts';
import { systemClock } from '../../../src/lib/lifecycle/index.ts';
import { type Sim, startSim } from '../../../src/lib/sim/index.ts';
import { readSecret } from '../../../src/lib/site/index.ts';
import { runChecklist } from '../../../src/lib/toolkit/checklist/run.ts';
import { demoSchema } from '../../../src/lib/toolkit/demo/demo.result.ts';
import { type DemoOptions, type DemoRun, runDemo } from '../../../src/lib/toolkit/demo/demo.ts';
import { claimFolder } from '../../../src/lib/toolkit/demo/folder.ts';
import { enrolDevice } from '../../../src/lib/toolkit/enrol/enrol.ts';
import { openToolkit } from '../../../src/lib/toolkit/toolkit.ts';
import { createFakeClock } from '../../lifecycle/fake-clock.ts';
import { until } from '../../waiting.ts';
import { context, sharedFolder } from '../kit.ts';

const root = sharedFolder();
const dir = join(root, 'demo');
const lists = join(root, 'lists');
const [sitePath, recordPath] = [join(dir, 'site.yaml'), join(dir, 'record.json')];
let sim: Sim;
let silent: Server;
let ready: object;
let lastRecord: string;
/** To the server that never answers. */
let requests = 0;

/** A simulator enrols a device once, so each run has one of its own, in the same folder. */
async function startRobot(): Promise<void> {
  sim = await startSim({
    ...{ dir, with: ['password', 'enrolment'] },
    onEvent(event) {
      if (event.event === 'ready') ready = event;
    },
  });
}

/** Small programs in the place of `gw sim` and `gw serve`; the simulated robot is in this process. */
beforeAll(async () => {
  mkdirSync(dir, { mode: 0o755 });
  writeFileSync(join(dir, '.gw-demo'), 'made by gw demo');
  await startRobot();
  silent = createServer(() => {
    requests += 1;
  }).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const { port } = silent.address() as AddressInfo;
  mkdirSync(lists);
  const head = 'schema: gw/checklist/1\ntitle: A list\npurpose: To see.\n';
  const first =
    '  - { id: file, title: The file, proves: x, run: site check, expect: { valid: true }, remedy: Look. }\n';
  const silence = `run: http, with: { url: "http://127.0.0.1:${port}/", timeoutS: 60 }, withinS: 600`;
  const hanging = `  - { id: hangs, title: It hangs, proves: x, ${silence}, expect: { status: 200 }, remedy: Look. }\n`;
  const last =
    '  - { id: last, title: The last, proves: x, needs: [hangs], run: site check, expect: { valid: true }, remedy: Look. }\n';
  writeFileSync(join(lists, 'short.yaml'), `${head}name: short\nsteps:\n${first}`);
  writeFileSync(join(lists, 'demo.yaml'), `${head}name: demo\nsteps:\n${first}${hanging}${last}`);
  mkdirSync(join(root, 'packaging'));
  writeFileSync(join(root, 'packaging', 'launch.sh'), `echo '{"event":"ready"}'\nexec sleep 3600\n`);

  // What a complete run has left.
  const toolkit = await openToolkit(sitePath);
  const readCode = () => readSecret(sim.enrolment?.codePath ?? '', 'the code');
  await enrolDevice(toolkit, { renew: false, readCode }, context());
  const about = { motionAllowed: false, gwVersion: '0', clock: systemClock, ...context() };
  await runChecklist({ nameOrFile: 'short', dir: lists, sitePaths: [sitePath], recordPath, ...about });
  lastRecord = readFileSync(recordPath, 'utf8');
  writeFileSync(join(dir, 'acceptance.pdf'), 'of the last run');
  await sim[Symbol.asyncDispose]();
});
afterAll(() => {
  silent.closeAllConnections();
  silent.close();
});

let interrupt: AbortController;
beforeEach(async () => {
  interrupt = new AbortController();
  requests = 0;
  await startRobot();
});
afterEach(() => sim[Symbol.asyncDispose]());
const ctrlC = () => interrupt.abort(new GwError('INTERRUPTED', 'Interrupted.'));

function run(simScript: string, more: Partial<DemoOptions> = {}): Promise<DemoRun> {
  const options = {
    ...{ dir, root, checklistsDir: lists, searchPath: undefined, gwVersion: '0', clock: systemClock },
    gw: [process.execPath, '-e', simScript],
    environment: { PATH: process.env.PATH },
    ...{ onProgress: () => {}, onWaiting: () => {}, switchFault: async () => {}, freePort: async () => 5173 },
    cloudOf: () => {
      throw new Error('not reached');
    },
    signal: interrupt.signal,
    ...more,
  };
  return runDemo(options as unknown as DemoOptions);
}

const STAY = `require('node:net').createServer().listen(0, '127.0.0.1');`;
const isReady = () => `console.log(${JSON.stringify(JSON.stringify(ready))}); ${STAY}`;
/** Resolves when the step that never ends runs. */
const hangs = () =>
  until(
    () => requests,
    (count) => count > 0,
  );

function expectLastRecord({ demo }: DemoRun): void {
  expect(demoSchema.parse(demo)).toEqual(demo);
  expect(demo.record).toBeNull();
  expect(demo.lastRecord).toMatchObject({ path: recordPath, state: 'verified' });
  expect(demo.lastRecord?.subject?.endedAt).toBe(JSON.parse(lastRecord).endedAt);
  expect(readFileSync(recordPath, 'utf8')).toBe(lastRecord);
  expect(readFileSync(join(dir, 'acceptance.pdf'), 'utf8')).toBe('of the last run');
  for (const name of ['.gw-demo-run', '.identity-before']) expect(existsSync(join(dir, name)), name).toBe(false);
}

describe('a demo that is interrupted', () => {
  it('while the simulator is not ready says what it waits for, and leaves the record of the last run', async () => {
    const clock = createFakeClock();
    const lines: string[] = [];
    const said = JSON.stringify({ event: 'waiting', what: 'the keys', ms: 7000 });
    const running = run(`console.log(${JSON.stringify(said)}); ${STAY}`, {
      clock,
      onWaiting: (text) => lines.push(text),
    });
    await until(
      async () => {
        await clock.advance(10_000);
        return lines.at(-1) ?? '';
      },
      (line) => line.includes('it waits for the keys, 7000 ms'),
    );
    expect(lines.at(-1)).toMatch(/^Waiting for gw sim to be ready: \d+ s; its last line: .*; log: .*sim\.log$/);
    ctrlC();
    const ended = await running;
    expect(ended).toMatchObject({ problem: { code: 'INTERRUPTED' }, demo: { end: 'interrupted', checklist: null } });
    expect(ended.demo.cloud.map(({ verdict }) => verdict)).toEqual(Array.from({ length: 6 }, () => 'not-checked'));
    expectLastRecord(ended);
  });

  it('in a step shows the steps with their verdicts, and what was not run as not checked', async () => {
    const results: string[] = [];
    const running = run(isReady(), {
      onResult: ({ id, verdict }, { n, of }) => results.push(`${n}/${of} ${id} ${verdict}`),
    });
    await hangs();
    ctrlC();
    const ended = await running;
    const { problem, demo } = ended;
    expect([problem?.code, problem?.exitCode, demo.ok, demo.kept]).toEqual(['INTERRUPTED', 130, false, false]);
    expect(demo.checklist).toMatchObject({ interrupted: true, record: null, written: [] });
    expect(demo.checklist?.steps.map(({ id, verdict }) => [id, verdict])).toEqual([
      ['file', 'ok'],
      ['hangs', 'not-checked'],
      ['last', 'not-checked'],
    ]);
    expect(results).toEqual(['1/9 file ok']);
    expectLastRecord(ended);
  });
});

describe('a demo of which a program ends', () => {
  const endsLate = () => `process.on('SIGUSR2', () => process.exit(3)); ${writesPid}; ${isReady()}`;
  const writesPid = `require('node:fs').writeFileSync(${JSON.stringify(join(root, 'pid'))}, String(process.pid))`;
  const endSim = () => process.kill(Number(readFileSync(join(root, 'pid'), 'utf8')), 'SIGUSR2');

  it('shows what was done until then', async () => {
    const running = run(endsLate());
    await hangs();
    endSim();
    const ended = await running;
    expect(ended.problem).toMatchObject({ code: 'PART_ENDED', message: expect.stringContaining('gw sim ended') });
    expect(ended.demo).toMatchObject({ end: 'failed', kept: false, standing: [], checklist: { counts: { ok: 1 } } });
    expectLastRecord(ended);
  });

  it('keeps what stands with --keep, until Ctrl-C', async () => {
    const { promise: kept, resolve: onKept } = Promise.withResolvers<DemoRun>();
    const running = run(endsLate(), { onKept });
    await hangs();
    endSim();
    const { demo, problem } = await kept;
    expect(problem?.code).toBe('PART_ENDED');
    expect(demo).toMatchObject({ ok: false, kept: true, standing: ['gw serve'], checklist: { counts: { ok: 1 } } });
    expect(demo.addresses?.service).toBe('http://127.0.0.1:5173/service');
    ctrlC();
    const ended = await running;
    expect(ended.problem).toBe(problem);
    expectLastRecord(ended);
  });

  it('ends with the last one that stands', async () => {
    const { promise: kept, resolve: onKept } = Promise.withResolvers<DemoRun>();
    const noGateway = join(root, 'without-gateway');
    const running = run(endsLate(), { onKept, root: noGateway });
    expect((await kept).demo.standing).toEqual(['gw sim']);
    endSim();
    expect((await running).problem?.message).toContain('gw serve ended');
  });
});

describe('the record of a demo', () => {
  it('replaces that of the last run once it is complete, and what was made of that', async () => {
    const own = join(root, 'complete');
    const first = await claimFolder(own);
    writeFileSync(join(own, 'record.json'), 'old');
    writeFileSync(join(own, 'demo.md'), 'old');
    writeFileSync(join(own, 'acceptance.pdf'), 'old');
    await first.begin();
    expect(readFileSync(join(own, 'record.json'), 'utf8')).toBe('old');
    const report = join(first.unfinishedDir, 'demo.md');
    for (const path of [report, first.unfinishedRecord]) writeFileSync(path, 'new');
    const paths = { record: join(own, 'record.json'), written: [join(own, 'demo.md')] };
    expect(await first.finish([report])).toEqual(paths);
    for (const path of [paths.record, ...paths.written]) expect(readFileSync(path, 'utf8')).toBe('new');
    for (const name of ['acceptance.pdf', '.gw-demo-run']) expect(existsSync(join(own, name)), name).toBe(false);
  });

  it('has its identity again when a run was killed before it was enrolled', async () => {
    const own = join(root, 'killed');
    const killed = await claimFolder(own);
    mkdirSync(join(own, 'identity'));
    writeFileSync(join(own, 'identity', 'key'), 'of the record');
    await killed.begin();
    // A half identity of the run that was killed.
    mkdirSync(join(own, 'identity'));
    const next = await claimFolder(own);
    await next.begin();
    expect(await next.undo(sitePath)).toBeNull();
    expect(readFileSync(join(own, 'identity', 'key'), 'utf8')).toBe('of the record');
  });
});
