import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { cloudViewSchema } from '../../src/lib/cloud/index.ts';
import { addUpload, UPLOADS_FOLDER } from '../../src/lib/cloud/storage/spool.ts';
import { GwError } from '../../src/lib/error/index.ts';
import { createSupervisor } from '../../src/lib/lifecycle/index.ts';
import { cloudWorld } from './cloud-world.ts';
import { fresh } from './fresh.ts';
import { SERIAL } from './link/world.ts';
import { during } from './stepped-clock.ts';

const STOP = `gw/${SERIAL}/stop`;
const fire = { id: 'a1', reason: 'fire alarm', by: 'control centre' };

/** The state of a release folder whose current version awaits its confirmation. */
const switchedTo = (version: string) => ({
  ...{ schema: 'gw/release-state/1', previous: null, onSite: null },
  run: {
    ...{ jobId: 'job-7', executionNumber: 1, phase: 'switched', from: { folder: '1.2.3', version: '1.2.3' } },
    ...{ to: { folder: version, version }, package: { bytes: 10, sha256: 'ab'.repeat(32) }, allowDowngrade: false },
    ...{ stage: null, since: '2026-01-31T12:00:00.000Z', detail: null, starts: 1, healthWithinS: 180 },
    ...{ failure: null, outcome: null, isReported: false },
  },
});

/** A connected world, with what differs. */
async function connectedWorld(more: Parameters<typeof cloudWorld>[0] = {}) {
  const world = await cloudWorld(more);
  await world.connected();
  const discarded = (reason: 'duplicate' | 'retained') => world.cloud.view().received?.discarded[reason] ?? 0;
  return {
    world,
    /** A stop that reaches the robot as the nth one. */
    async stopped(stop: Parameters<typeof world.sim.stop>[0] = fire, count = 1) {
      await world.sim.stop(stop);
      await world.until('the stop', () => world.stops.length === count);
    },
    discarded: (reason: 'duplicate' | 'retained', count: number) =>
      world.until(`${reason} ${count}`, () => discarded(reason) >= count),
    recorded: (count = 1) => world.until('its record', () => world.received('records').length === count),
    async restarted(connects = 2) {
      await world.sim.restart();
      await world.until('reconnected', () => (world.cloud.view().link?.connects ?? 0) >= connects);
    },
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  };
}

/** A file stands where the folder of the outbox is to be. */
const withoutOutbox = (stateDir: string) => {
  mkdirSync(join(stateDir, 'cloud'), { mode: 0o700 });
  writeFileSync(join(stateDir, 'cloud', 'outbox'), 'a file in place of the folder');
};

const it = test.extend('at', fresh(connectedWorld)).extend('world', fresh(cloudWorld));

describe('the status of the cloud', () => {
  it('is not-checked, then not-enrolled, connected, not-connected, and connected again', async ({ world }) => {
    const { cloud } = world;
    const installed = world.identity;
    world.identity = null;
    expect(cloud.view()).toMatchObject({ status: 'not-checked', remedy: null, outbox: { status: 'not-open' } });
    await world.start();
    await world.until('not enrolled', () => cloud.view().status === 'not-enrolled');
    expect(cloud.view()).toMatchObject({
      detail: 'This device has no identity, so nothing is sent and nothing is received.',
      outbox: { status: 'not-open', kept: null },
      received: { stops: 0, releases: 0 },
    });
    expect((await world.checkPath('fallback')).outcome.verdict).toBe('not-checked');
    expect(world.sim.broker.clients()).toEqual([]);
    world.identity = installed;
    await world.until('connected', () => cloud.view().status === 'connected');
    expect(cloud.describe?.()).toContain('connected to 127.0.0.1:');
    await world.setFault('cloud-cut', true);
    await world.until('a failed attempt', () => cloud.view().link?.failures.direct?.step === 'tcp');
    expect(cloud.view()).toMatchObject({ status: 'not-connected', link: { connection: null, losses: 1 } });
    expect(cloud.view().detail).toContain('connection refused');
    const { outcome, step } = await world.checkPath('direct');
    expect([step, outcome.verdict]).toEqual(['tcp', 'wrong']);
    expect(outcome.detail).toContain(`attempt at ${cloud.view().link?.failures.direct?.at}`);
    await world.setFault('cloud-cut', false);
    await world.until('connected again', () => cloud.view().status === 'connected');
  });

  it('keeps nothing before the enrolment, whatever there is to report', async () => {
    await using world = await cloudWorld({
      faults: () => ({ present: [{ key: 'alert.7', text: 'x', number: 7, mark: 'HINWEIS' }], unchecked: [] }),
      siteLines: () => '  telemetryS: 1\n',
    });
    const installed = world.identity;
    world.identity = null;
    await world.start();
    await world.clock.advance(20_000);
    expect(existsSync(join(world.stateDir, 'cloud', 'outbox'))).toBe(false);
    expect(readdirSync(world.stateDir)).not.toContain('cloud-faults.json');
    world.identity = installed;
    await world.until('reported', () => world.received('faults').length > 0 && world.received('telemetry').length > 0);
    expect(world.received('telemetry')[0]).toMatchObject({ seq: 1 });
  });

  it('has in its view what is reported and whether received stops are remembered, in the shape of the API', async () => {
    await using world = await cloudWorld({
      faults: () => ({ present: [{ key: 'alert.7', text: 'x', number: 7, mark: 'HINWEIS' }], unchecked: [] }),
      // The folder of the state file cannot be used: a directory stands where the file is written.
      prepare: (stateDir) => void mkdirSync(join(stateDir, 'cloud-seen.json')),
    });
    expect(world.cloud.view()).toMatchObject({ seen: { status: 'not-checked' } });
    await world.connected();
    await world.until('reported', () => world.cloud.view().reporting?.faults.raised.length === 1);
    await world.until('accepted', () => (world.cloud.view().reporting?.telemetry.accepted ?? 0) > 0);
    const view = world.cloud.view();
    expect(cloudViewSchema.parse(view)).toEqual(view);
    expect(view).toMatchObject({
      seen: { status: 'failing', detail: expect.stringContaining('delivered again counts as new') },
      reporting: { faults: { raised: [{ key: 'alert.7', state: 'present' }] }, telemetry: { trouble: null } },
      link: { troubles: [], connection: { withQos0: [] } },
    });
  });

  it('is not not-enrolled while the identity is broken, also after it was missing', async ({ world }) => {
    const { cloud } = world;
    world.identity = null;
    await world.start();
    await world.until('not enrolled', () => cloud.view().status === 'not-enrolled');
    world.identity = new GwError('IDENTITY_BROKEN', 'The key does not fit the certificate.', { remedy: 'Enrol anew.' });
    await world.until('broken', () => cloud.view().link?.identity === 'broken');
    expect(cloud.view()).toMatchObject({
      status: 'not-checked',
      detail: 'The key does not fit the certificate.',
      remedy: 'Enrol anew.',
      outbox: { status: 'not-open', detail: expect.stringContaining('identity') },
    });
    expect(cloud.view().outbox?.detail).not.toContain('enrolled');
  });
});

describe('a stop from the cloud', () => {
  it('reaches the robot every time it is sent, also under one id, before and after a reconnect and a restart', async ({
    at,
  }) => {
    const { world } = at;
    await at.stopped(fire, 1);
    await at.stopped(fire, 2);
    await at.recorded(2);
    await at.restarted();
    await at.stopped(fire, 3);
    expect(world.stops).toEqual([fire, fire, fire]);
    // What was received is kept for the cloud too.
    await at.recorded(3);
    const about = { kind: 'stop-executed', stopId: 'a1', reason: 'fire alarm', by: 'control centre' };
    expect(world.received('records')).toMatchObject([1, 2, 3].map((seq) => ({ ...about, seq })));
    await world.stop();
    world.another();
    await world.connected();
    await at.stopped(fire, 4);
    expect(world.cloud.view().received).toMatchObject({
      stops: 1,
      stopsOfKnownContent: 1,
      discarded: { duplicate: 0 },
    });
  });

  it('arrives later when it was sent while the gateway was away, and its record is not lost', async ({ at }) => {
    const { world } = at;
    await world.stop();
    await world.sim.stop({ id: 'sent-meanwhile' });
    world.another();
    await world.connected();
    // The broker delivers it before the outbox is open.
    await world.until('the stop', () => world.stops.length === 1);
    expect(world.stops).toEqual([{ id: 'sent-meanwhile' }]);
    await at.recorded();
    expect(world.received('records')).toMatchObject([{ stopId: 'sent-meanwhile', reason: null, by: null }]);
  });

  it('is recorded once the disk takes an outbox again', async () => {
    await using at = await connectedWorld({ prepare: withoutOutbox });
    const { world } = at;
    await world.until('a failed outbox', () => world.cloud.view().outbox?.status === 'failing');
    await at.stopped();
    rmSync(join(world.stateDir, 'cloud', 'outbox'));
    await at.recorded();
    expect(world.received('records')).toMatchObject([{ stopId: 'a1', seq: 1 }]);
  });

  it('that cannot be saved is left to the broker, which sends it again after a reconnect and after a restart', async () => {
    const disk = Promise.withResolvers<void>();
    const stops: (string | null)[] = [];
    const onStop = ({ id }: { id: string | null }) => {
      stops.push(id);
      return disk.promise;
    };
    await using at = await connectedWorld({ onStop });
    const { world } = at;
    await world.sim.stop(fire);
    await world.until('a stop that is not saved', () => world.cloud.view().received?.unsavedStops === 1);
    expect(world.cloud.view()).toMatchObject({
      status: 'connected',
      detail: expect.stringContaining('1 stop executed but not acknowledged'),
      remedy: expect.stringContaining('Free space'),
      link: { troubles: [{ kind: 'stop-not-saved' }] },
    });
    // The record says so, and does not wait for the latch.
    await at.recorded();
    expect(world.received('records')).toMatchObject([{ kind: 'stop-executed', stopId: 'a1', saved: false }]);
    await at.restarted();
    await at.discarded('duplicate', 1);
    expect(stops).toEqual(['a1']);
    // Another life knows nothing of it, since nothing was saved.
    await world.stop();
    world.another();
    await world.connected();
    await world.until('the same stop', () => stops.length === 2);
    expect(stops).toEqual(['a1', 'a1']);
    disk.resolve();
    await at.recorded(2);
    await at.restarted();
    await world.sim.stop({ id: 'next' });
    await world.until('the next stop', () => stops.length === 3);
    // Acknowledged at last: the restarted broker did not send it again before the next one.
    expect(stops).toEqual(['a1', 'a1', 'next']);
    expect(world.cloud.view()).toMatchObject({ received: { unsavedStops: 0, discarded: { duplicate: 0 } } });
  });

  it.each([
    ['with an id', '{"id":"old"}', { id: 'old' }],
    ['without one', 'stop', { id: null }],
  ])('acts once when it is retained, and not at every later connect: %s', async (_, payload, expected) => {
    await using world = await cloudWorld();
    // Retained before the first connect, so that the broker gives it out as a retained message.
    await world.sim.send(STOP, payload, { retain: true });
    await world.connected();
    await world.until('the stop', () => world.stops.length === 1);
    const repeated = (count: number) =>
      world.until('repeated', () => world.cloud.view().received?.discarded.duplicate === count);
    await world.sim.restart();
    await repeated(1);
    await world.stop();
    world.another();
    await world.connected();
    await repeated(1);
    expect(world.stops).toEqual([expected]);
    await world.sim.stop({ id: 'new' });
    await world.until('the next stop', () => world.stops.length === 2);
  });

  const seenFile = (stateDir: string): { stops: string[]; deliveries: string[] } => {
    const path = join(stateDir, 'cloud-seen.json');
    return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : { stops: [], deliveries: [] };
  };

  it('is known by its delivery until the broker must have the acknowledgement', async ({ at }) => {
    const { world } = at;
    const deliveries = () => seenFile(world.stateDir).deliveries;
    await world.sim.send(STOP, 'stop', {});
    await world.until('saved', () => deliveries().length === 1);
    const savedMs = world.clock.monotonicMs();
    await world.until('forgotten', () => deliveries().length === 0, 300_000);
    expect(world.clock.monotonicMs() - savedMs).toBeGreaterThanOrEqual(110_000);
    // Its content is known all the same, for a retained copy.
    expect(seenFile(world.stateDir).stops).toHaveLength(1);
  });

  it('is known by its delivery no more once the broker has lost the session', async ({ at }) => {
    const { world } = at;
    await at.stopped();
    await world.until('saved', () => seenFile(world.stateDir).deliveries.length === 1);
    await world.setFault('cloud-session-lost', true);
    await at.restarted();
    await world.until('forgotten', () => seenFile(world.stateDir).deliveries.length === 0, 30_000);
    expect(seenFile(world.stateDir).stops).toHaveLength(1);
  });

  it.each([
    ['without an id', 'stop', { id: null }],
    ['under the id of the first', '{"id":"stop-1"}', { id: 'stop-1' }],
  ])(
    '%s that was sent while the gateway was away stops, also with the content of an earlier one',
    async (_, payload, sent) => {
      await using at = await connectedWorld();
      const { world } = at;
      const send = (options: object = {}) => world.sim.send(STOP, payload, options);
      await send();
      await world.until('the stop', () => world.stops.length === 1);
      await at.recorded();
      await world.stop();
      // Also retained: the session has it as a new message.
      await send({ retain: true });
      world.another();
      await world.connected();
      await world.until('the next stop', () => world.stops.length === 2);
      await at.recorded(2);
      await at.restarted();
      await world.sim.stop({ id: 'last' });
      await world.until('the last stop', () => world.stops.length === 3);
      expect(world.stops).toEqual([sent, sent, { id: 'last' }]);
      // The last run counts its own.
      expect(world.cloud.view().received).toMatchObject({ stops: 2, stopsOfKnownContent: 1 });
    },
  );

  it('does not end the link when the robot cannot be stopped, and acts when it is delivered again', async () => {
    let calls = 0;
    await using world = await cloudWorld({
      onStop() {
        calls += 1;
        if (calls === 1) throw new Error('the motion module is broken');
        return Promise.resolve();
      },
    });
    await world.connected();
    await world.sim.stop(fire);
    await world.until('the first call', () => calls === 1);
    expect(world.warnings).toContainEqual(
      expect.objectContaining({
        message: 'acting on a message of the cloud failed',
        fields: expect.objectContaining({ kind: 'stop' }),
      }),
    );
    await world.sim.stop(fire);
    await world.until('the second call', () => calls === 2);
    expect(world.cloud.view()).toMatchObject({ status: 'connected', link: { connects: 1, losses: 0 } });
    expect(world.failures).toEqual([]);
  });

  it('arrives while the disk takes no outbox and earlier stops cannot be read', async () => {
    await using at = await connectedWorld({
      prepare(stateDir) {
        withoutOutbox(stateDir);
        mkdirSync(join(stateDir, 'cloud-seen.json'));
      },
    });
    const { world } = at;
    await world.until('a failed outbox', () => world.cloud.view().outbox?.status === 'failing');
    await at.stopped();
    expect(world.cloud.view()).toMatchObject({
      status: 'connected',
      outbox: { status: 'failing', kept: null, remedy: expect.any(String) },
      received: { stops: 1 },
    });
    // In memory it is remembered, and that its record is lost is in the log.
    await at.restarted();
    await at.discarded('duplicate', 1);
    expect(world.stops).toHaveLength(1);
    await world.until('the error', () => world.warnings.some(({ message }) => message.startsWith('a record')));
    expect(world.warnings.map(({ message }) => message)).toEqual(
      expect.arrayContaining([
        'outbox: the disk cannot be written to',
        'which cloud messages were received earlier could not be read',
        'a record for the cloud waits for the outbox',
      ]),
    );
  });
});

describe('presence', () => {
  it('is published on each connect, as the last will after a cut, and as stopped at an orderly end', async ({ at }) => {
    const { world } = at;
    const presence = () => world.received('presence');
    await world.until('online', () => presence().length === 1);
    await world.setFault('cloud-cut', true);
    await world.setFault('cloud-cut', false);
    await world.until('online again', () => presence().filter(({ online }) => online === true).length === 2);
    await at.stopped();
    await at.recorded();
    // It leaves the connection, the outbox and nothing unsent behind, and may be ended twice.
    await world.stop();
    await world.stop();
    expect(world.sim.broker.connected()).toBe(0);
    expect(world.cloud.view()).toMatchObject({ status: 'not-checked', outbox: { status: 'not-open' } });
    expect(JSON.parse(readFileSync(join(world.stateDir, 'cloud-seen.json'), 'utf8'))).toMatchObject({
      stops: [expect.stringMatching(/^[0-9a-f]{64}$/)],
    });
    expect(presence().at(-1)).toEqual({ serial: SERIAL, online: false, reason: 'stopped' });
    expect(presence().filter(({ reason }) => reason === 'stopped')).toHaveLength(1);
    expect(presence()).toContainEqual({ serial: SERIAL, online: true, reason: null });
  });
});

describe('an unusable cloud.caFile', () => {
  it('makes transfers wait until it is usable, and neither the link nor a stop', async () => {
    let caFile = '';
    await using at = await connectedWorld({
      siteLines(dir) {
        caFile = join(dir, 'cloud-ca.pem');
        writeFileSync(caFile, 'no certificate');
        return '  caFile: cloud-ca.pem\n';
      },
    });
    const { world } = at;
    await at.stopped();
    const archive = join(dirname(caFile), 'maps.tar');
    writeFileSync(archive, 'archive');
    await addUpload(join(world.stateDir, UPLOADS_FOLDER), { file: archive, name: 'maps/maps.tar' });
    const upload = () => world.cloud.view().uploads[0];
    await world.until('the upload waits', () => upload()?.detail?.includes('holds no certificate') === true);
    writeFileSync(caFile, world.authority.caPem);
    await world.until('uploaded', () => upload()?.state === 'uploaded');
  });

  it.each([
    ['confirms', '2.0.0', 'confirmed'],
    ['rolls back from', '1.2.3', 'rolled-back'],
  ] as const)('%s a version that was switched to', async (_what, launchedFolder, end) => {
    let releases = '';
    await using world = await cloudWorld({
      siteLines(dir) {
        releases = join(dir, 'releases');
        mkdirSync(releases, { mode: 0o700 });
        symlinkSync('2.0.0', join(releases, 'current'));
        writeFileSync(join(releases, 'state.json'), JSON.stringify(switchedTo('2.0.0')));
        writeFileSync(join(dir, 'cloud-ca.pem'), 'no certificate');
        writeFileSync(join(dir, 'release-key.pem'), 'of no use here');
        return `  caFile: cloud-ca.pem\n  release: { dir: ${releases}, keyFile: release-key.pem }\n`;
      },
    });
    world.another({ version: launchedFolder, launched: { dir: releases, folder: launchedFolder } });
    await world.start();
    await world.until(end, () => world.cloud.view().release?.run?.phase === end);
  });
});

describe('a check of a path by the running link', () => {
  it('moves to the fallback, returns to the direct path, and loses no stop meanwhile', async ({ world }) => {
    const { cloud } = world;
    expect((await world.checkPath('direct')).outcome).toEqual({
      verdict: 'not-checked',
      detail: 'the gateway is not connected',
    });
    await world.connected();
    const { mqtt } = world.sim.places;
    const fallback = world.checkPath('fallback');
    await world.sim.stop(fire);
    expect(await fallback).toMatchObject({ path: 'fallback', step: null, outcome: { verdict: 'ok' } });
    expect(cloud.view().link?.connection).toMatchObject({ path: 'fallback', port: mqtt.fallbackPort, alpn: mqtt.alpn });
    expect(await world.checkPath('direct')).toMatchObject({ path: 'direct', step: null, outcome: { verdict: 'ok' } });
    expect(cloud.view().link).toMatchObject({ connection: { path: 'direct' }, losses: 0 });
    await world.until('the stop', () => world.stops.length === 1);
    expect(world.sim.broker.clients().map(({ byAlpn }) => byAlpn)).toEqual([false, true, false]);
  });

  it('says wrong with the step, and keeps the connection, when the path is closed', async ({ at }) => {
    const { world } = at;
    expect((await world.checkPath('fallback')).outcome.verdict).toBe('ok');
    await world.setFault('cloud-direct-closed', true);
    const result = await world.checkPath('direct');
    expect(result).toMatchObject({ step: 'tcp', outcome: { verdict: 'wrong' } });
    expect(world.cloud.view()).toMatchObject({
      status: 'connected',
      link: { connection: { path: 'fallback' }, losses: 0 },
    });
    // It returns by itself.
    await world.setFault('cloud-direct-closed', false);
    await world.until('direct', () => world.cloud.view().link?.connection?.path === 'direct', 3_600_000);
  });
});

describe('an orderly end', () => {
  it('is published as such also when the supervisor ends the service by its signal', async ({ world }) => {
    const supervisor = createSupervisor([world.cloud], { clock: world.clock, onEvent() {} });
    await supervisor.start(new AbortController().signal);
    await world.until('connected', () => world.cloud.view().status === 'connected');
    await during(world.clock, supervisor.stop());
    expect(world.received('presence').at(-1)).toEqual({ serial: SERIAL, online: false, reason: 'stopped' });
  });
});
