import { existsSync } from 'node:fs';
import { copyFile, mkdir, readFile, readlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../../bench/figures.ts';
import { type ReleaseStep, releaseSteps } from '../../../src/lib/cloud/release/agent-model.ts';
import { readState } from '../../../src/lib/cloud/release/state.ts';
import { verifyInstalled } from '../../../src/lib/cloud/release/unpack.ts';
import { runProcess, startProcess } from '../../process.ts';
import type { ChildWorld } from './agent-child.ts';
import { createJobService } from './job-service.ts';
import { makeKeys, makePackage, scratch, writeTree } from './packages.ts';
import { documentOf } from './robot.ts';

const child = new URL('./agent-child.ts', import.meta.url).href;
const packaging = new URL('../../../packaging/', import.meta.url).pathname;
const NEW = '0.2.0';
const OLD = '0.1.0';

/** bin/run.js of a version. */
const program = (isHealthy: boolean) => `import { readFileSync } from 'node:fs';
const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
const { runVersion } = await import(process.env.GW_TEST_CHILD);
await runVersion(version, ${isHealthy});
`;

/** A gateway with a base installation and a release in its queue. */
async function createGateway({
  killAt = null,
  run = program(true),
  isSigned = true,
}: {
  killAt?: ReleaseStep | null;
  /** bin/run.js of the release. */
  run?: string;
  isSigned?: boolean;
}) {
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
  const key = isSigned ? keys.privateKey : makeKeys().privateKey;
  const made = await makePackage(folder.dir, key, { version: NEW, files: { 'bin/run.js': run } });
  const dir = join(folder.dir, 'releases');
  const world: ChildWorld = {
    dir,
    keyFile,
    jobs: join(folder.dir, 'jobs.json'),
    packages: { [made.sha256]: made.path },
    // A loaded machine takes seconds to start a healthy version; an unhealthy one is waited for that long.
    healthWithinS: run === program(false) ? 1 : 30,
    killAt,
    killed: join(folder.dir, 'killed'),
  };
  await writeFile(join(folder.dir, 'world.json'), JSON.stringify(world));
  const service = createJobService(world.jobs);
  service.add('job', documentOf(made, NEW));
  const launcher = [join(base, 'packaging/launch.sh'), dir, 'serve'];
  const env = { ...process.env, GW_TEST_CHILD: child, GW_TEST_WORLD: join(folder.dir, 'world.json') };
  return {
    ...folder,
    releases: dir,
    world,
    keys,
    service,
    launcher,
    env,
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
type Gateway = Awaited<ReturnType<typeof createGateway>>;

/** The running version is complete, the state is an end, and the job has the status of exactly this end. */
async function assertEnd(gateway: Gateway, running: string): Promise<void> {
  const { releases, keys, service } = gateway;
  const link = await readlink(join(releases, 'current')).catch(() => null);
  const { run } = await readState(releases);
  const isNew = running === NEW;
  expect(link).toBe(isNew ? NEW : null);
  if (isNew) expect(await verifyInstalled(releases, NEW, { keys: [keys.publicKey] })).toMatchObject({ version: NEW });
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

describe.concurrent('a release that is killed', () => {
  it.each(successSteps)('after %s ends in the new version', { timeout: 60_000 }, async (step) => {
    await using gateway = await createGateway({ killAt: step });
    const running = await gateway.settle();
    expect(await readFile(gateway.world.killed, 'utf8')).toBe(step);
    expect(running).toBe(NEW);
    await assertEnd(gateway, running);
  });

  it.each([...rollbackSteps, 'new-version-started', 'reported'] as const)(
    'after %s, with an unhealthy new version, ends in the old one',
    { timeout: 60_000 },
    async (step) => {
      await using gateway = await createGateway({ killAt: step, run: program(false) });
      const running = await gateway.settle();
      expect(await readFile(gateway.world.killed, 'utf8')).toBe(step);
      expect(running).toBe(OLD);
      await assertEnd(gateway, running);
      expect(gateway.service.job('job')?.history.at(-1)?.details).toMatchObject({
        phase: 'switched',
        rolledBackTo: OLD,
      });
    },
  );

  it.each(['downloaded', 'phase-rejected', 'reported'] as const)(
    'after %s, with a foreign signature, ends in the old version',
    { timeout: 60_000 },
    async (step) => {
      await using gateway = await createGateway({ killAt: step, isSigned: false });
      const running = await gateway.settle();
      expect(existsSync(gateway.world.killed)).toBe(true);
      expect(running).toBe(OLD);
      await assertEnd(gateway, running);
    },
  );

  it.each(['switch-announced', 'phase-switched', 'link-switched'] as const)(
    'after %s, with a new version that crashes, ends in the old one',
    { timeout: 60_000 },
    async (step) => {
      await using gateway = await createGateway({ killAt: step, run: 'process.exit(1);\n' });
      const running = await gateway.settle();
      expect(await readFile(gateway.world.killed, 'utf8')).toBe(step);
      expect(running).toBe(OLD);
      await assertEnd(gateway, running);
    },
  );

  it.each([1, 2, 3, 4])('at random times ends in one of the two (seed %i)', { timeout: 90_000 }, async (seed) => {
    const random = seededRandom(seed);
    await using gateway = await createGateway({});
    const isAccepted = () => existsSync(join(gateway.releases, 'state.json'));
    let underWay = 0;
    for (let kill = 0; kill < 4; kill += 1) {
      await using started = startProcess('sh', gateway.launcher, { env: gateway.env, detached: true });
      const { pid } = started.child;
      if (pid === undefined) throw new Error('not started');
      // However slow the machine is, the first one comes soon after the release was accepted.
      while (kill === 0 && !isAccepted() && !started.hasEnded()) await new Promise((wake) => setTimeout(wake, 2));
      await new Promise((wake) => setTimeout(wake, random() * (kill === 0 ? 60 : 900)));
      // With everything that it started, as a power cut does.
      const isAlive = !started.hasEnded();
      if (isAlive) process.kill(-pid, 'SIGKILL');
      await started.closed;
      if (isAlive && (await readState(gateway.releases)).run?.isReported === false) underWay += 1;
    }
    expect(underWay, 'kills of a release under way').toBeGreaterThan(0);
    await assertEnd(gateway, await gateway.settle());
  });
});

describe.concurrent('a new version', () => {
  it.each([
    ['crashes at its start', 'process.exit(1);\n'],
    ['does not accept the site file', 'process.exit(2);\n'],
    ['has a syntax error', 'import {\n'],
  ])('that %s is started three times, then the old one runs', { timeout: 60_000 }, async (_what, run) => {
    await using gateway = await createGateway({ run });
    const running = await gateway.settle();
    expect(running).toBe(OLD);
    await assertEnd(gateway, running);
    expect((await readState(gateway.releases)).run).toMatchObject({
      starts: 3,
      failure: { reason: 'The new version was started 3 times and never confirmed.' },
    });
  });
});
