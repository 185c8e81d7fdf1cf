import { existsSync } from 'node:fs';
import { copyFile, mkdir, readFile, readlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../../bench/figures.ts';
import { type ReleaseStep, releaseSteps } from '../../../src/lib/cloud/release/agent-model.ts';
import { readState } from '../../../src/lib/cloud/release/state.ts';
import { verifyInstalled } from '../../../src/lib/cloud/release/unpack.ts';
import { runProcess, startProcess } from '../../process.ts';
import { isFull } from '../../properties.ts';
import { until } from '../../waiting.ts';
import type { ChildWorld } from './agent-child.ts';
import { createJobService } from './job-service.ts';
import { makeKeys, makePackage, scratch, writeTree } from './packages.ts';
import { createRobot, documentOf, BASE as OLD } from './robot.ts';

const child = new URL('./agent-child.ts', import.meta.url).href;
const packaging = new URL('../../../packaging/', import.meta.url).pathname;
const NEW = '0.2.0';

/** bin/run.js of a version. */
const program = (isHealthy: boolean) => `import { readFileSync } from 'node:fs';
const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
const { runVersion } = await import(process.env.GW_TEST_CHILD);
await runVersion(version, ${isHealthy});
`;

type Release = 'healthy' | 'unhealthy' | 'foreign signature' | 'crashes' | 'refuses the site file' | 'syntax error';
const programs: Record<Release, string> = {
  healthy: program(true),
  unhealthy: program(false),
  'foreign signature': program(true),
  crashes: 'process.exit(1);\n',
  'refuses the site file': 'process.exit(2);\n',
  'syntax error': 'import {\n',
};

interface Gateway {
  readonly dir: string;
  readonly keys: ReturnType<typeof makeKeys>;
  readonly service: ReturnType<typeof createJobService>;
}

/** A gateway with a base installation and a release in its queue, whose versions are processes. */
async function createGateway(release: Release, killAt: ReleaseStep | null) {
  const folder = scratch();
  const base = join(folder.dir, 'base');
  await writeTree(base, {
    'bin/run.js': program(true),
    'package.json': JSON.stringify({ version: OLD, type: 'module' }),
  });
  await mkdir(join(base, 'packaging'));
  for (const name of ['launch.sh', 'boot.js']) await copyFile(join(packaging, name), join(base, 'packaging', name));
  const keys = makeKeys();
  const keyFile = join(folder.dir, 'key.pem');
  await writeFile(keyFile, keys.publicPem);
  const key = release === 'foreign signature' ? makeKeys().privateKey : keys.privateKey;
  const made = await makePackage(folder.dir, key, { version: NEW, files: { 'bin/run.js': programs[release] } });
  const dir = join(folder.dir, 'releases');
  const world: ChildWorld = {
    ...{ dir, keyFile, jobs: join(folder.dir, 'jobs.json'), packages: { [made.sha256]: made.path } },
    // A loaded machine takes seconds to start a healthy version; an unhealthy one is waited for that long.
    healthWithinS: release === 'unhealthy' ? 1 : 60,
    killAt,
    killed: join(folder.dir, 'killed'),
    steps: join(folder.dir, 'steps'),
  };
  await writeFile(join(folder.dir, 'world.json'), JSON.stringify(world));
  const service = createJobService(world.jobs);
  service.add('job', documentOf(made, NEW));
  const launcher = [join(base, 'packaging/launch.sh'), dir, 'serve'];
  const env = { ...process.env, GW_TEST_CHILD: child, GW_TEST_WORLD: join(folder.dir, 'world.json') };
  return {
    ...folder,
    ...{ dir, world, keys, service, launcher, env },
    /** Starts it again and again, as its supervisor does, until its release has ended and is reported. */
    async settle(): Promise<string> {
      const log: string[] = [];
      for (let start = 0; start < 12; start += 1) {
        const { stdout, stderr, code, signal } = await runProcess('sh', launcher, { env });
        log.push(`${code ?? signal} ${stdout}${stderr}`);
        const settled = /settled (\S+)/.exec(stdout)?.[1];
        if (settled !== undefined) return settled;
      }
      throw new Error(`not settled:\n${log.join('\n')}`);
    },
  };
}

/** The running version is complete, the state is an end, and the job has the status of exactly this end. */
async function assertEnd({ dir, keys, service }: Gateway, running: string): Promise<void> {
  const link = await readlink(join(dir, 'current')).catch(() => null);
  const { run } = await readState(dir);
  const isNew = running === NEW;
  expect(link).toBe(isNew ? NEW : null);
  if (isNew) expect(await verifyInstalled(dir, NEW, { keys: [keys.publicKey] })).toMatchObject({ version: NEW });
  expect(run).toMatchObject({ isReported: true });
  expect(run?.phase === 'confirmed').toBe(isNew);
  const job = service.job('job');
  expect(job?.status).toBe(isNew ? 'SUCCEEDED' : 'FAILED');
  expect(job?.history.filter(({ status }) => status !== 'IN_PROGRESS')).toHaveLength(1);
}

const rollbackSteps = ['phase-rolling-back', 'link-restored', 'phase-rolled-back'] as const;
const successSteps = releaseSteps.filter(
  (step) => !(rollbackSteps as readonly string[]).includes(step) && step !== 'phase-rejected',
);
const kills: readonly (readonly [Release, readonly ReleaseStep[]])[] = [
  ['healthy', successSteps],
  ['unhealthy', [...rollbackSteps, 'new-version-started', 'reported']],
  ['foreign signature', ['downloaded', 'phase-rejected', 'reported']],
  ['crashes', ['switch-announced', 'phase-switched', 'link-switched']],
];

const cases = kills.flatMap(([release, steps]) => steps.map((step) => ({ release, step })));

/** What kill -9 leaves is on the disk whether a process or an agent in this process ends after the step. */
describe('a release that is cut off', () => {
  it.each(cases)('$release: after $step ends in one of the two', async ({ release, step: cutAt }) => {
    await using robot = await createRobot();
    const key = release === 'foreign signature' ? makeKeys().privateKey : robot.keys.privateKey;
    const made = await makePackage(join(robot.dir, '..'), key, { version: NEW });
    robot.packages.set(made.sha256, made.path);
    robot.service.add('job', documentOf(made, NEW));
    let isCut = false;
    let cuts = 0;
    for (let start = 0; start < 12; start += 1) {
      robot.restarts.length = 0;
      isCut = false;
      const hasBooted = await robot.boot({
        async onStep(step) {
          if (step !== cutAt || cuts > 0) return;
          cuts += 1;
          isCut = true;
          await robot.powerCut;
        },
      });
      const isNew = hasBooted.includes(NEW);
      if (isNew && release === 'crashes') {
        await robot.stop();
        continue;
      }
      robot.robot.health = { isHealthy: !isNew || release !== 'unhealthy', missing: 'the cloud link' };
      const isOver = () => robot.agent().view().run?.isReported === true;
      await robot.until(() => isCut || robot.restarts.length > 0 || isOver());
      if (isCut) robot.crash();
      else if (robot.restarts.length === 0) break;
    }
    expect(cuts).toBe(1);
    const running = robot.robot.launched?.folder ?? OLD;
    expect(running).toBe(release === 'healthy' ? NEW : OLD);
    await assertEnd(robot, running);
    if (release === 'unhealthy') {
      const details = { phase: 'switched', rolledBackTo: OLD };
      expect(robot.service.job('job')?.history.at(-1)?.details).toMatchObject(details);
    }
  });
});

const more = [
  { release: 'healthy', step: 'downloaded' },
  { release: 'healthy', step: 'phase-confirmed' },
  { release: 'unhealthy', step: 'link-restored' },
  { release: 'foreign signature', step: 'phase-rejected' },
  { release: 'crashes', step: 'link-switched' },
] as const;

/** With the launcher, and real processes: one kill of each kind. */

describe.concurrent('a release whose process is killed', () => {
  const killed: readonly (typeof cases)[number][] = [
    { release: 'healthy', step: 'link-switched' },
    ...(isFull ? more : []),
  ];
  it.each(killed)('$release: after $step ends in one of the two', { tags: 'property' }, async ({ release, step }) => {
    await using gateway = await createGateway(release, step);
    const running = await gateway.settle();
    expect(await readFile(gateway.world.killed, 'utf8')).toBe(step);
    expect(running).toBe(release === 'healthy' ? NEW : OLD);
    await assertEnd(gateway, running);
  });

  it.each([1, 2])('at random times ends in one of the two (seed %i)', { tags: 'large' }, async (seed) => {
    const random = seededRandom(seed);
    await using gateway = await createGateway('healthy', null);
    const { steps } = gateway.world;
    const count = async () => (existsSync(steps) ? (await readFile(steps, 'utf8')).split('\n').length - 1 : 0);
    for (let kill = 0; kill < 4; kill += 1) {
      await using started = startProcess('sh', gateway.launcher, { env: gateway.env, detached: true });
      const { pid } = started.child;
      if (pid === undefined) throw new Error('not started');
      const after = (await count()) + 1 + Math.floor(random() * 8);
      await until(
        async () => started.hasEnded() || (await count()) >= after,
        (is) => is,
      );
      // With everything that it started, as a power cut does.
      const isAlive = !started.hasEnded();
      if (isAlive) process.kill(-pid, 'SIGKILL');
      await started.closed;
    }
    await assertEnd(gateway, await gateway.settle());
  });
});

describe.concurrent('a new version', () => {
  const failing = ['crashes', 'refuses the site file', 'syntax error'] as const;
  it.each(failing)('that %s is started three times, then the old one runs', { tags: 'large' }, async (release) => {
    await using gateway = await createGateway(release, null);
    const running = await gateway.settle();
    expect(running).toBe(OLD);
    await assertEnd(gateway, running);
    expect((await readState(gateway.dir)).run).toMatchObject({
      starts: 3,
      failure: { reason: 'The new version was started 3 times and never confirmed.' },
    });
  });
});
