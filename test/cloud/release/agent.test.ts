import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ReleaseAgentOptions } from '../../../src/lib/cloud/release/agent-model.ts';
import { carryOutRollback, planRollback } from '../../../src/lib/cloud/release/on-site.ts';
import { readState } from '../../../src/lib/cloud/release/state.ts';
import { verifyInstalled } from '../../../src/lib/cloud/release/unpack.ts';
import { GwError } from '../../../src/lib/error/index.ts';
import { fresh } from '../fresh.ts';
import { notConnected } from './job-service.ts';
import { makeKeys, makePackage } from './packages.ts';
import { BASE, createRobot, documentOf, type Robot } from './robot.ts';

/** Puts a package into the storage and its job into the queue. */
async function queueRelease(robot: Robot, version: string, more: object = {}, key = robot.keys.privateKey) {
  const made = await makePackage(robot.dir.replace(/releases$/, ''), key, { version });
  robot.packages.set(made.sha256, made.path);
  return { made, execution: robot.service.add(`job-${version.replaceAll('.', '-')}`, documentOf(made, version, more)) };
}

const ended = (robot: Robot, jobId: string, status: string) => () => robot.service.job(jobId)?.status === status;
const lastDetails = (robot: Robot, jobId: string) => robot.service.job(jobId)?.history.at(-1)?.details;

interface Offer {
  readonly document?: object;
  readonly start?: (robot: Robot) => Partial<ReleaseAgentOptions>;
}

/** A robot that was offered a version. */
async function offering(version = '0.2.0', { document, start = () => ({}) }: Offer = {}) {
  const robot = await createRobot();
  const queued = await queueRelease(robot, version, document);
  robot.start(start(robot)).offer(queued.execution);
  return { ...robot, ...queued };
}

/** A robot that has switched to a version and asks for its restart. */
async function switched(version?: string, offer?: Offer) {
  const robot = await offering(version, offer);
  await robot.restarted();
  return robot;
}

/** A robot that has installed a version, and does not switch to it since it moves or may move. */
async function waiting(moving: boolean | null = true) {
  const start = ({ robot }: Robot) => {
    robot.moving = moving;
    return {};
  };
  const robot = await offering('0.2.0', { start });
  await robot.until(() => robot.agent().view().run?.detail?.includes('waits') === true);
  return robot;
}

/** Installs a version as the current one, from the base installation. */
async function installed(robot: Robot, version: string): Promise<void> {
  const { execution } = await queueRelease(robot, version);
  if (robot.robot.launched === null) throw new Error('no launcher');
  await robot.boot();
  robot.agent().offer(execution);
  await robot.restarted();
  await robot.boot();
  await robot.reported();
  robot.restarts.length = 0;
  robot.steps.length = 0;
}

const it = test.extend('robot', fresh(createRobot)).extend('switching', fresh(switched));

describe('the release agent', () => {
  it('installs a version beside the old one, switches, confirms it and reports', async () => {
    const starts: unknown[] = [];
    const start = ({ dir }: Robot): Partial<ReleaseAgentOptions> => ({
      async onStep(step) {
        if (step === 'accepted' || step === 'phase-switched') starts.push((await readState(dir)).run?.starts);
      },
    });
    await using robot = await switched('0.2.0', { document: { stage: 3 }, start });
    // No start is counted before the switch, so that three are in front of it.
    expect(starts).toEqual([0, 0]);
    expect(robot.restarts).toEqual(['release 0.2.0']);
    expect(await robot.current()).toBe('0.2.0');
    expect(robot.agent().view()).toMatchObject({ status: 'ready', runningVersion: BASE, previous: BASE });
    expect(robot.service.job('job-0-2-0')?.status).toBe('IN_PROGRESS');

    expect(await robot.boot()).toBe('unconfirmed 0.2.0 240');
    await robot.until(ended(robot, 'job-0-2-0', 'SUCCEEDED'));
    await robot.reported();
    expect(lastDetails(robot, 'job-0-2-0')).toMatchObject({ version: '0.2.0', fromVersion: BASE, stage: '3' });
    expect(robot.agent().view()).toMatchObject({
      ...{ status: 'ready', runningVersion: '0.2.0', installed: ['0.2.0'], previous: BASE },
      run: { phase: 'confirmed', isReported: true, stage: 3, starts: 1 },
    });
    expect(await verifyInstalled(robot.dir, '0.2.0', { keys: [robot.keys.publicKey] })).toMatchObject({
      version: '0.2.0',
    });
    // Neither the package nor its URL stays.
    expect((await readdir(robot.dir)).toSorted()).toEqual(['0.2.0', 'current', 'state.json']);
    expect(await readFile(join(robot.dir, 'state.json'), 'utf8')).not.toContain('secret');
    expect(await robot.boot()).toBe('confirmed 0.2.0');
  });

  it('reports documentParameters with every status, as they came and across the restart', async () => {
    const site = `\${${'site'}}`;
    const documentParameters = { site: 'A', path: site, nested: [1, null], text: 'a\u0085b' };
    await using robot = await switched('0.2.0', { document: { documentParameters } });
    await robot.boot();
    await robot.until(ended(robot, 'job-0-2-0', 'SUCCEEDED'));
    const reported = robot.service.job('job-0-2-0')?.history.filter(({ details }) => 'version' in details) ?? [];
    expect(reported.length).toBeGreaterThan(1);
    for (const { details } of reported) {
      expect(JSON.parse(details.documentParameters ?? 'null')).toEqual(documentParameters);
    }
    expect(robot.agent().view().run?.documentParameters).toBe(reported[0]?.details.documentParameters);
  });

  it('reports documentParameters that exceed a status detail by their size and SHA-256', async () => {
    const documentParameters = { site: 'ä'.repeat(2_000) };
    await using robot = await switched('0.2.0', { document: { documentParameters } });
    const digest = createHash('sha256').update(JSON.stringify(documentParameters)).digest('hex');
    expect(lastDetails(robot, 'job-0-2-0')?.documentParameters).toBe(
      `not repeated: 4011 bytes of JSON, SHA-256 ${digest}`,
    );
  });

  it('asks the queue at its start, for each connection, and for a notification without a document', async ({
    robot,
  }) => {
    await queueRelease(robot, '0.2.0');
    robot.start();
    await robot.restarted();
    await robot.boot();
    await robot.until(ended(robot, 'job-0-2-0', 'SUCCEEDED'));
    const { execution } = await queueRelease(robot, '0.3.0');
    const { jobDocument: _, ...bare } = execution;
    await robot.reported();
    robot.agent().offer(bare);
    await robot.restarted(2);
    expect(await robot.current()).toBe('0.3.0');
    await robot.boot();
    await robot.until(ended(robot, 'job-0-3-0', 'SUCCEEDED'));
    await robot.reported();
    // A notification was lost.
    await queueRelease(robot, '0.4.0');
    await robot.clock.advance(20_000);
    expect(robot.restarts).toHaveLength(2);
    robot.agent().checkQueue();
    await robot.restarted(3);
  });

  it('rolls back a version that is not healthy in time, and reports why', async ({ robot }) => {
    await installed(robot, '0.2.0');
    const { execution } = await queueRelease(robot, '0.3.0');
    robot.agent().offer(execution);
    await robot.restarted();
    robot.robot.health = { isHealthy: false, missing: 'the chassis link is not connected' };
    await robot.boot();
    await robot.restarted(2);
    expect(robot.restarts).toEqual(['release 0.3.0', 'rollback to 0.2.0']);
    // Not reported before the old version runs.
    expect(robot.service.job('job-0-3-0')?.status).toBe('IN_PROGRESS');
    expect(await robot.boot()).toBe('confirmed 0.2.0');
    await robot.until(ended(robot, 'job-0-3-0', 'FAILED'));
    expect(lastDetails(robot, 'job-0-3-0')).toMatchObject({
      phase: 'switched',
      reason: 'The new version was not healthy within 180 s: the chassis link is not connected',
      rolledBackTo: '0.2.0',
    });
    await robot.reported();
    expect(robot.agent().view()).toMatchObject({ previous: BASE, installed: ['0.2.0'], run: { phase: 'rolled-back' } });
  });

  it('confirms only after five seconds of health without a gap', async ({ switching: robot }) => {
    const isSteady = { now: false };
    let polls = 0;
    await robot.boot({
      health: () => {
        polls += 1;
        // Every fourth time the link is not connected: never five seconds in a row.
        return isSteady.now || polls % 4 !== 0
          ? { isHealthy: true, missing: null }
          : { isHealthy: false, missing: 'the cloud link' };
      },
    });
    await robot.until(() => polls > 60);
    expect((await robot.state()).run?.phase).toBe('switched');
    isSteady.now = true;
    await robot.until(ended(robot, 'job-0-2-0', 'SUCCEEDED'));
  });

  it.each([true, null])('waits while the robot moves or may move (%s)', async (moving) => {
    await using robot = await waiting(moving);
    await robot.clock.advance(600_000);
    expect(robot.restarts).toEqual([]);
    expect(await robot.current()).toBeNull();
    expect(robot.agent().view()).toMatchObject({
      run: { phase: 'ready', detail: expect.stringContaining('Installed') },
    });
    robot.robot.moving = false;
    await robot.restarted();
  });

  it.each([
    [true, 0],
    // Without the chassis link it could never be left.
    [null, 1],
  ])('rolls back at once unless the robot is known to move (%s)', async (moving, restarts) => {
    await using robot = await switched();
    robot.restarts.length = 0;
    robot.robot.health = { isHealthy: false, missing: 'the chassis link' };
    robot.robot.moving = moving;
    await robot.boot();
    await robot.until(() => robot.agent().view().run?.phase === 'rolling-back');
    await robot.clock.advance(50_000);
    expect(robot.restarts).toHaveLength(restarts);
    // Any start of gw starts the old version.
    expect(await robot.current()).toBeNull();
    // The decision survives a power cut in any case.
    robot.robot.moving = false;
    expect(await robot.boot()).toBe('base');
    await robot.until(ended(robot, 'job-0-2-0', 'FAILED'));
  });

  it('restarts no moving robot for a rollback whose link was restored already, as by a rollback on site', async ({
    switching: robot,
  }) => {
    robot.restarts.length = 0;
    robot.robot.health = { isHealthy: false, missing: 'the cloud link' };
    await robot.boot();
    await robot.until(() => robot.agent().view().run?.detail?.includes('the cloud link') === true);
    robot.robot.moving = true;
    const wish = { toBase: false, baseVersion: BASE };
    const plan = await planRollback(robot.dir, { ...wish, keys: [robot.keys.publicKey] });
    await carryOutRollback(robot.dir, plan, { ...wish, at: '2026-01-31T12:00:00.000Z' });
    expect(await robot.current()).toBeNull();
    // The agent learns of it at the end of the health check.
    await robot.until(() => robot.agent().view().run?.detail?.includes('until the robot stands') === true);
    await robot.clock.advance(100_000);
    expect(robot.restarts).toEqual([]);
    robot.robot.moving = false;
    await robot.restarted();
    // The order to restart had no effect, and is not repeated under way.
    robot.robot.moving = true;
    await robot.clock.advance(100_000);
    expect(robot.restarts).toEqual([`rollback to ${BASE}`]);
    robot.robot.moving = null;
    await robot.restarted(2);
  });

  it('does not restart for a switch when the robot started to move while the link was replaced', async () => {
    const start = ({ robot }: Robot): Partial<ReleaseAgentOptions> => ({
      onStep: (step) => {
        if (step === 'link-switched') robot.moving = true;
      },
    });
    await using robot = await offering('0.2.0', { start });
    await robot.until(() => robot.robot.moving === true);
    await robot.clock.advance(100_000);
    expect(robot.restarts).toEqual([]);
    robot.robot.moving = false;
    await robot.restarted();
  });

  it('does not switch when the robot starts to move while the switch is announced', async () => {
    let isFirst = true;
    const start = ({ robot, service }: Robot) => ({
      requester: service.requester({
        after: ({ body }) => {
          if (isFirst && JSON.stringify(body).includes('The robot stands')) {
            isFirst = false;
            robot.moving = true;
          }
        },
      }),
    });
    await using robot = await offering('0.2.0', { start });
    await robot.until(() => robot.robot.moving === true);
    await robot.clock.advance(20_000);
    expect(await robot.current()).toBeNull();
    robot.robot.moving = false;
    await robot.restarted();
  });

  it('stops before the switch when its job was cancelled, and leaves nothing behind', async () => {
    await using robot = await waiting();
    robot.service.set('job-0-2-0', { status: 'CANCELED' });
    robot.robot.moving = false;
    await robot.until(() => robot.agent().view().run?.phase === 'rejected');
    expect(robot.restarts).toEqual([]);
    expect(robot.agent().view()).toMatchObject({
      run: { isReported: false, hasJobEnded: true, detail: expect.stringContaining('ended in the cloud') },
    });
    expect(robot.service.job('job-0-2-0')?.status).toBe('CANCELED');
    // The next job is taken from the queue without a notification.
    await queueRelease(robot, '0.3.0');
    robot.agent().checkQueue();
    await robot.restarted();
    expect(await robot.current()).toBe('0.3.0');
  });

  it('learns of the cancelled job while the robot moves, when another job is offered', async () => {
    await using robot = await waiting();
    robot.service.set('job-0-2-0', { status: 'CANCELED' });
    const next = await queueRelease(robot, '0.3.0');
    robot.agent().offer(next.execution);
    await robot.until(() => robot.agent().view().run?.toVersion === '0.3.0');
    expect(await robot.current()).toBeNull();
  });

  it.each([
    ['cancelled', { status: 'CANCELED' }],
    ['removed', { jobId: 'another', status: 'REMOVED' }],
  ] as const)('goes on after the switch when its job was %s', async (_what, change) => {
    await using robot = await switched();
    robot.service.set('job-0-2-0', change);
    await robot.boot();
    await robot.until(() => robot.agent().view().run?.hasJobEnded === true);
    expect((await robot.state()).run).toMatchObject({ phase: 'confirmed', outcome: 'SUCCEEDED', isReported: true });
    expect(robot.agent().view()).toMatchObject({
      detail: expect.stringContaining('had ended in the cloud before'),
      run: { phase: 'confirmed', isReported: false },
    });
  });

  it('has reported its end when only the acknowledgement of an earlier report was lost', async ({
    switching: robot,
  }) => {
    let lost = 0;
    const requester = robot.service.requester({
      after: ({ body }) => {
        if (body.status !== 'SUCCEEDED' || lost > 0) return;
        lost += 1;
        throw new GwError('CLOUD_NO_ANSWER', 'no answer');
      },
    });
    await robot.boot({ requester });
    await robot.reported();
    expect(lost).toBe(1);
    expect(robot.agent().view().run).toMatchObject({ phase: 'confirmed', hasJobEnded: false });
  });

  it.each([
    ['an older version', '0.0.9', {}, 'REJECTED', /0.0.9 is older than the running version 0.1.0.*allowDowngrade/],
    [
      'a placeholder',
      '0.2.0',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the placeholder is the point
      { version: '${gw:version}' },
      'REJECTED',
      /unresolved placeholder "\$\{gw:version\}" in "version"/,
    ],
    ['an unknown field', '0.2.0', { force: true }, 'REJECTED', /unknown field "force"/],
    ['a stage outside 1 to 4', '0.2.0', { stage: 5 }, 'REJECTED', /"stage": expected a whole number from 1 to 4/],
    [
      'another version in the package',
      '0.2.0',
      { version: '0.2.1' },
      'FAILED',
      /package is version 0.2.0, expected 0.2.1/,
    ],
  ])('refuses %s', async (_what, version, more, status, reason) => {
    await using robot = await offering(version, { document: more });
    const { execution } = robot;
    await robot.until(ended(robot, execution.jobId, status));
    expect(lastDetails(robot, execution.jobId)?.reason).toMatch(reason);
    await robot.reported();
    expect(robot.agent().view().run?.phase).toBe('rejected');
    expect(robot.restarts).toEqual([]);
    expect(await readdir(robot.dir)).toEqual(['state.json']);
  });

  it('installs an older version when the job document allows it', async () => {
    await using robot = await switched('0.0.9', { document: { allowDowngrade: true } });
    await robot.boot();
    await robot.until(ended(robot, 'job-0-0-9', 'SUCCEEDED'));
  });

  it('installs the running version again as a rehearsal, in a folder of its own', async ({ robot }) => {
    await installed(robot, '0.2.0');
    const { made } = await queueRelease(robot, '0.2.0');
    robot.service.set('job-0-2-0', { status: 'CANCELED' });
    robot.agent().offer(robot.service.add('rehearsal', documentOf(made, '0.2.0')));
    await robot.restarted();
    expect(await robot.current()).toBe('0.2.0_2');
    await robot.boot();
    await robot.until(ended(robot, 'rehearsal', 'SUCCEEDED'));
    await robot.reported();
    expect(robot.agent().view()).toMatchObject({ installed: ['0.2.0'], previous: '0.2.0', runningVersion: '0.2.0' });
    // And back into the first folder, whose name is free again after another version.
    const third = await queueRelease(robot, '0.3.0');
    robot.agent().offer(third.execution);
    await robot.restarted(2);
    await robot.boot();
    await robot.until(ended(robot, 'job-0-3-0', 'SUCCEEDED'));
    await robot.reported();
    await robot.clock.advance(1_000);
    expect((await readdir(robot.dir)).toSorted()).toEqual(['0.2.0_2', '0.3.0', 'current', 'state.json']);
  });

  it.each([
    ['once when it was damaged', { minimumVersion: '0.0.1', isDamaged: true }, 2, 'ready'],
    ['never when its manifest refuses it', { minimumVersion: '2.0.0', isDamaged: false }, 1, 'rejected'],
  ] as const)('downloads a package that is there already again %s', async (_what, made, downloads, phase) => {
    await using robot = await createRobot();
    robot.robot.moving = true;
    const { path, bytes, sha256 } = await makePackage(join(robot.dir, '..'), robot.keys.privateKey, {
      version: '3.0.0',
      minimumVersion: made.minimumVersion,
    });
    const content = await readFile(path);
    // Left by a power cut.
    const there = join(robot.dir, `${sha256.slice(0, 16)}.tar`);
    await writeFile(there, made.isDamaged ? content.fill(0x55, 600, 700) : content);
    let count = 0;
    robot
      .start({
        download: async (target) => {
          count += 1;
          if (!existsSync(target.path)) await copyFile(path, target.path);
        },
      })
      .offer(robot.service.add('job', documentOf({ path, bytes, sha256 }, '3.0.0')));
    await robot.until(async () => (await robot.state()).run?.phase === phase);
    expect(count).toBe(downloads);
    if (phase === 'ready') return;
    await robot.until(ended(robot, 'job', 'REJECTED'));
    expect(lastDetails(robot, 'job')?.reason).toContain('replaces version 2.0.0 or newer; 0.1.0 runs');
  });

  it('reports each phase before the switch, and does not unpack for a job that was cancelled', async ({
    switching: robot,
  }) => {
    const phases = robot.service.job('job-0-2-0')?.history.map(({ details }) => details.phase);
    expect(phases).toEqual(['downloading', 'unpacking', 'ready', 'ready']);
    robot.service.set('job-0-2-0', { status: 'CANCELED' });
    await robot.stop();
    await rm(robot.dir, { recursive: true });
    await mkdir(robot.dir);
    robot.steps.length = 0;

    const next = await queueRelease(robot, '0.3.0');
    robot
      .start({
        onStep: (step) => {
          robot.steps.push(step);
          if (step === 'verified') robot.service.set('job-0-3-0', { status: 'CANCELED' });
        },
      })
      .offer(next.execution);
    await robot.until(() => robot.agent().view().run?.hasJobEnded === true);
    expect(robot.steps).not.toContain('file-unpacked');
  });

  it('fails for a wrong signature, a wrong hash, and a key that is not there', async ({ robot }) => {
    const foreign = await queueRelease(robot, '0.2.0', {}, makeKeys().privateKey);
    robot.start().offer(foreign.execution);
    await robot.until(ended(robot, 'job-0-2-0', 'FAILED'));
    expect(lastDetails(robot, 'job-0-2-0')).toMatchObject({
      phase: 'downloading',
      reason: expect.stringContaining('does not match the release key'),
    });

    const other = await queueRelease(robot, '0.3.0');
    const sha256 = 'ab'.repeat(32);
    robot.packages.set(sha256, other.made.path);
    robot.service.set('job-0-3-0', { status: 'CANCELED' });
    const document = documentOf({ ...other.made, sha256 }, '0.3.0');
    robot.agent().offer(robot.service.add('bad-hash', document));
    await robot.until(ended(robot, 'bad-hash', 'FAILED'));
    expect(lastDetails(robot, 'bad-hash')?.reason).toContain(`expected ${other.made.bytes} bytes and ${sha256}`);

    await rm(robot.keyFile);
    robot.agent().offer(robot.service.add('no-key', document));
    await robot.until(ended(robot, 'no-key', 'REJECTED'));
    expect(lastDetails(robot, 'no-key')?.reason).toContain('cannot be read (no such file or folder)');
    expect(robot.restarts).toEqual([]);
  });

  it('fails before the download when package, unpacked files and reserve do not fit', async ({ robot }) => {
    const { execution, made } = await queueRelease(robot, '0.2.0');
    // A part of the package is on the disk already.
    await writeFile(join(robot.dir, `${made.sha256.slice(0, 16)}.tar.partial`), 'x'.repeat(1_000));
    robot.robot.freeBytes = 2 * made.bytes - 1_000 + 999_999;
    robot.start().offer(execution);
    await robot.until(ended(robot, 'job-0-2-0', 'FAILED'));
    expect(lastDetails(robot, 'job-0-2-0')?.reason).toContain(`needed are ${2 * made.bytes - 1_000 + 1_000_000}`);
    expect(robot.steps).not.toContain('downloaded');
    // Only then is no draft of the state being written.
    await robot.reported();
    expect(await readdir(robot.dir)).toEqual(['state.json']);

    robot.robot.freeBytes += 1_001;
    robot.agent().offer(robot.service.add('again', documentOf(made, '0.2.0')));
    await robot.restarted();
  });

  it('repeats a download until the storage is reachable, and asks for a new URL when it is expired', async ({
    robot,
  }) => {
    const { execution, made } = await queueRelease(robot, '0.2.0');
    const urls: string[] = [];
    let attempts = 0;
    robot
      .start({
        download: async (target, { url }) => {
          attempts += 1;
          urls.push((await url({ expired: false })).url);
          if (attempts < 3) throw new GwError('STORAGE_NOT_REACHABLE', 'storage.example.com does not answer.');
          robot.service.set('job-0-2-0', {
            jobDocument: {
              ...documentOf(made, '0.2.0'),
              package: { ...documentOf(made, '0.2.0').package, url: 'https://storage.example.com/new' },
            },
          });
          urls.push((await url({ expired: true })).url);
          await writeFile(target.path, await readFile(made.path));
        },
      })
      .offer(execution);
    await robot.restarted();
    expect(urls.map((url) => url.replace(/\?.*/, ''))).toEqual([
      ...Array(3).fill('https://storage.example.com/package'),
      'https://storage.example.com/new',
    ]);
  });

  it('waits with the download until the CA file of the storage can be used', async () => {
    const trust = { isUsable: false };
    const storageTrust = () => {
      if (!trust.isUsable) throw new GwError('STORAGE_NOT_REACHABLE', 'ca.pem holds no valid certificate.');
      return 'PEM';
    };
    await using robot = await offering('0.2.0', { start: () => ({ storageTrust }) });
    await robot.until(() => lastDetails(robot, 'job-0-2-0')?.detail === 'ca.pem holds no valid certificate.');
    expect(robot.steps).not.toContain('downloaded');
    trust.isUsable = true;
    await robot.restarted();
  });

  it('refuses a job whose document was changed during the download', async ({ robot }) => {
    const { execution, made } = await queueRelease(robot, '0.2.0');
    robot
      .start({
        download: async (_target, { url }) => {
          robot.service.set('job-0-2-0', { jobDocument: documentOf({ ...made, bytes: 5 }, '0.2.0') });
          await url({ expired: true });
        },
      })
      .offer(execution);
    await robot.until(ended(robot, 'job-0-2-0', 'REJECTED'));
    expect(lastDetails(robot, 'job-0-2-0')?.reason).toContain('changed during the release');
  });

  it('reports its end until the cloud has acknowledged it, also after a restart', async ({ switching: robot }) => {
    let asked = 0;
    const codes = ['RequestThrottled', 'InternalError', 'VersionMismatch'];
    const requester = robot.service.requester({
      before: ({ kind }) => {
        if (kind !== 'job-update') return undefined;
        asked += 1;
        const code = codes[asked % 4];
        if (code === undefined) throw notConnected();
        return { kind: 'rejected', rejected: { code, message: 'later' } };
      },
    });
    await robot.boot({ requester });
    await robot.until(() => asked > 8);
    expect((await robot.state()).run).toMatchObject({ phase: 'confirmed', isReported: false });
    expect(robot.agent().view()).toMatchObject({
      run: { isReported: false },
      detail: expect.stringContaining('has not acknowledged'),
    });
    await robot.boot();
    await robot.until(ended(robot, 'job-0-2-0', 'SUCCEEDED'));
    await robot.reported();
  });

  it('reports again when the queue still lists a job that has ended here, but does not loop', async ({ robot }) => {
    await installed(robot, '0.2.0');
    let updates = 0;
    robot.service.set('job-0-2-0', { status: 'IN_PROGRESS' });
    const lost = robot.service.requester({
      before: ({ kind }) => {
        if (kind !== 'job-update') return undefined;
        updates += 1;
        return { kind: 'job-updated' };
      },
    });
    await robot.boot({ requester: lost });
    await robot.until(() => updates === 1);
    await robot.clock.advance(20_000);
    expect(updates).toBe(1);
    await robot.boot();
    await robot.until(ended(robot, 'job-0-2-0', 'SUCCEEDED'));
    expect(robot.restarts).toEqual([]);
  });

  it('reports details of 1 to 1024 characters without control characters', async () => {
    const download = async () => {
      throw new GwError('STORAGE_REFUSED', `first line\nsecond\u0007 ${'😀'.repeat(600)}`);
    };
    await using robot = await offering('0.2.0', { start: () => ({ download }) });
    await robot.until(ended(robot, 'job-0-2-0', 'FAILED'));
    for (const [key, value] of Object.entries(lastDetails(robot, 'job-0-2-0') ?? {})) {
      expect(value.length, key).toBeGreaterThan(0);
      expect(value.length, key).toBeLessThanOrEqual(1_024);
      expect(value, key).toMatch(/^[^\p{Cc}\p{Cs}]+$/u);
    }
    expect(lastDetails(robot, 'job-0-2-0')?.reason).toMatch(/^first line second +😀/u);
  });

  it('rejects every release without cloud.release, and without the launcher', async () => {
    await using robot = await offering('0.2.0', { start: () => ({ release: undefined }) });
    await robot.until(ended(robot, 'job-0-2-0', 'REJECTED'));
    expect(robot.agent().view()).toMatchObject({ status: 'not-configured', run: null });
    await robot.stop();

    for (const [launched, detail] of [
      [null, 'not started by its launcher'],
      [{ dir: '/elsewhere', folder: null }, 'The launcher uses /elsewhere, the site file'],
    ] as const) {
      const next = await queueRelease(robot, launched === null ? '0.3.0' : '0.4.0');
      robot.robot.launched = launched;
      robot.start().offer(next.execution);
      await robot.until(ended(robot, next.execution.jobId, 'REJECTED'));
      expect(lastDetails(robot, next.execution.jobId)?.reason).toContain(detail);
      expect(robot.agent().view()).toMatchObject({ status: 'unmanaged', detail: expect.stringContaining(detail) });
      await robot.stop();
    }
    expect(await readdir(robot.dir)).toEqual([]);
  });

  it('leaves a new version alone that a person started without the launcher', async ({ switching: robot }) => {
    await robot.stop();
    robot.robot.launched = null;
    robot.start();
    await robot.until(() => robot.agent().view().status === 'unmanaged');
    await robot.clock.advance(300_000);
    expect((await robot.state()).run?.phase).toBe('switched');
    expect(await robot.current()).toBe('0.2.0');
  });

  it.each([
    ['the launcher started another version', { launched: 'base' as const }, /did not start the new version/],
    ['the program has another version', { version: '0.2.1' }, /reports 0.2.1, expected 0.2.0/],
  ])('rolls back when %s', async (_what, change, reason) => {
    await using robot = await switched();
    const isBase = 'launched' in change;
    await robot.boot(isBase ? { launched: { dir: robot.dir, folder: null }, version: BASE } : change);
    if (!isBase) {
      await robot.restarted(2);
      expect(await robot.boot()).toBe('base');
    }
    await robot.until(ended(robot, 'job-0-2-0', 'FAILED'));
    expect(lastDetails(robot, 'job-0-2-0')?.reason).toMatch(reason);
    expect(await robot.current()).toBeNull();
  });

  it('keeps what is not its own in the release folder, and only two versions', async ({ robot }) => {
    await mkdir(join(robot.dir, 'lost+found'));
    await writeFile(join(robot.dir, 'notes.txt'), 'of a person');
    for (const version of ['0.2.0', '0.3.0', '0.4.0']) await installed(robot, version);
    expect((await readdir(robot.dir)).toSorted()).toEqual([
      '0.3.0',
      '0.4.0',
      'current',
      'lost+found',
      'notes.txt',
      'state.json',
    ]);
  });

  it.each([
    ['is no state', '{"schema":"gw/release-state/1"}', 'away'],
    ['is of another version', '{"schema":"gw/release-state/9"}', 'Install that version of gw again'],
  ])('reports a state file that %s, and takes no release', async (_what, text, remedy) => {
    await using robot = await createRobot();
    await writeFile(join(robot.dir, 'state.json'), text);
    const { execution } = await queueRelease(robot, '0.2.0');
    robot.start().offer(execution);
    await robot.until(() => robot.agent().view().detail.includes('state.json'));
    expect(robot.agent().view()).toMatchObject({ status: 'failing', remedy: expect.stringContaining(remedy) });
    expect(robot.service.job('job-0-2-0')?.status).toBe('QUEUED');
    await rm(join(robot.dir, 'state.json'));
    await robot.restarted();
  });

  it('downloads nothing before the cloud has acknowledged the start, and says what it waits for', async () => {
    let isConnected = false;
    const before = () => {
      if (!isConnected) throw notConnected();
      return undefined;
    };
    await using robot = await offering('0.2.0', {
      start: ({ service }) => ({ requester: service.requester({ before }) }),
    });
    await robot.until(() => robot.agent().view().run?.detail?.includes('until the cloud') === true);
    await robot.clock.advance(100_000);
    expect(robot.steps).toEqual(['accepted']);
    isConnected = true;
    await robot.restarted();
  });

  it('says so while it does not run', async ({ robot }) => {
    const agent = robot.start();
    await robot.until(() => agent.view().status === 'ready');
    expect(agent.view().detail).toBe(`Version ${BASE} runs; no release was received yet.`);
    await robot.stop();
    expect(agent.view()).toMatchObject({ status: 'failing', detail: 'The release agent is not running.' });
    expect(robot.clock.pending).toBe(0);
  });

  it('does not follow a current that is no link', async ({ robot }) => {
    await mkdir(join(robot.dir, 'current'));
    const { execution } = await queueRelease(robot, '0.2.0');
    robot.start().offer(execution);
    await robot.until(ended(robot, 'job-0-2-0', 'FAILED'));
    expect(lastDetails(robot, 'job-0-2-0')?.reason).toContain('is not a symbolic link');
    await rm(join(robot.dir, 'current'), { recursive: true });
    await symlink('0.9.9', join(robot.dir, 'current'));
    // A link to nothing: the base installation runs.
    expect(await robot.boot()).toBe('base');
  });
});
