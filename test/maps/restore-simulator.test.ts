import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createChassisClient } from '../../src/lib/chassis/index.ts';
import {
  backUpMaps,
  checkStillness,
  type MapArchive,
  type MapOutcome,
  type RestoreRun,
  restoreMaps,
} from '../../src/lib/maps/index.ts';
import { directDialer } from '../../src/lib/net/index.ts';
import { type Sim, startSim } from '../../src/lib/sim/index.ts';
import { createPacedClock } from '../lifecycle/paced-clock.ts';
import { quickPace } from './map-chassis.ts';

let dir: string;
let count = 0;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'gw-restore-sim-'));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const signal = new AbortController().signal;
const calm = () => {};

/** A simulated robot with a backup of its maps, and other overlays on its map with unusual overlays. */
async function changedRobot() {
  const clock = createPacedClock();
  const sim = await startSim({ clock });
  const { host, port, serial } = sim.chassis;
  const endpoint = { host, port };
  const client = createChassisClient({ endpoint, dialer: directDialer, expectedSerial: serial, clock });
  const archive = await backUpMaps(client, {
    ids: 'all',
    gwVersion: '0.1.0',
    clock,
    signal,
    onProgress: calm,
  });
  const odd = archive.maps.find(({ name }) => name === 'Musterblatt');
  if (!odd) throw new Error('the simulator has no map with odd overlays');
  const other = changedText(odd.overlays ?? '');
  await fetch(`http://${host}:${port}/maps/${odd.id}`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ overlays: other }),
  });
  const overlaysNow = async (id = odd.id) => {
    const reply = await fetch(`http://${host}:${port}/maps/${id}`);
    return ((await reply.json()) as { overlays: string }).overlays;
  };
  const restore = (write: boolean): Promise<RestoreRun> => {
    count += 1;
    return restoreMaps({
      client,
      archive,
      ids: 'all',
      topics: { endpoint, dialer: directDialer, clock },
      write: write
        ? {
            checkStillness: (ending) => checkStillness({ endpoint, dialer: directDialer, clock }, ending),
            isConfirmedStill: false,
            backupPath: join(dir, `before-${count}.tar.gz`),
            gwVersion: '0.1.0',
            onBackup: calm,
            pace: quickPace,
          }
        : null,
      clock,
      signal,
      onProgress: calm,
    });
  };
  return {
    sim,
    archive,
    odd,
    other,
    overlaysNow,
    restore,
    async [Symbol.asyncDispose]() {
      await client[Symbol.asyncDispose]();
      await sim[Symbol.asyncDispose]();
    },
  };
}

/** One feature is moved and one has lost a property, as after editing. */
function changedText(text: string): string {
  const collection = JSON.parse(text) as {
    features: { geometry?: { type?: string; coordinates?: number[] } | null }[];
  };
  const point = collection.features.find((feature) => feature.geometry?.type === 'Point');
  if (!point?.geometry) throw new Error('no point');
  point.geometry.coordinates = [9.25, -9.25];
  return JSON.stringify(collection);
}

function outcomeOf(run: RestoreRun, archive: MapArchive, name = 'Musterblatt'): MapOutcome {
  const id = archive.maps.find((map) => map.name === name)?.id;
  const found = run.written?.maps.find(({ planned }) => planned.archived.id === id);
  if (!found) throw new Error('nothing was written');
  return found.outcome;
}

const requests = (sim: Sim, method: string) => sim.requests().filter((one) => one.method === method);

describe('restoring overlays on the simulated robot', () => {
  it('restores them character for character', async () => {
    await using robot = await changedRobot();
    const dry = await robot.restore(false);
    expect(dry.plan.maps.find(({ archived }) => archived.name === 'Musterblatt')).toMatchObject({
      verdict: 'overlays-differ',
      overlays: { same: false, diff: { counts: { changed: 1, moved: 1 } } },
    });
    expect(requests(robot.sim, 'PATCH')).toHaveLength(1);
    const run = await robot.restore(true);
    expect(run.written?.stillness.verdict).toBe('still');
    expect(outcomeOf(run, robot.archive)).toMatchObject({ outcome: 'written', after: { sameText: true } });
    expect(await robot.overlaysNow()).toBe(robot.odd.overlays);
    expect((await robot.restore(true)).written).toBeNull();
  });

  it('does not need a new overlays_version', async () => {
    await using robot = await changedRobot();
    robot.sim.setFault('overlays-version-stuck', true);
    expect(outcomeOf(await robot.restore(true), robot.archive)).toMatchObject({ outcome: 'written' });
  });

  it('reports no effect when the robot answers 200 and changes nothing', async () => {
    await using robot = await changedRobot();
    robot.sim.setFault('patch-ignored', true);
    const before = await robot.overlaysNow();
    expect(outcomeOf(await robot.restore(true), robot.archive)).toMatchObject({
      outcome: 'no-effect',
      rolledBack: false,
    });
    expect(await robot.overlaysNow()).toBe(before);
  });

  it('reports neither content when the robot drops properties, of the old overlays too', async () => {
    await using robot = await changedRobot();
    robot.sim.setFault('patch-drops', true);
    const outcome = outcomeOf(await robot.restore(true), robot.archive);
    expect(outcome).toMatchObject({
      outcome: 'differs',
      rolledBack: true,
      after: { same: false },
      now: { same: false },
    });
    if (outcome.kind !== 'overlays') throw new Error('not overlays');
    expect(outcome.after?.diff?.changed.some(({ values }) => values.some(({ change }) => change === 'removed'))).toBe(
      true,
    );
    expect(outcome.now?.diff?.counts.moved).toBe(0);
  });

  it('reports neither content when the robot assigns its own ids', async () => {
    await using robot = await changedRobot();
    robot.sim.setFault('patch-renames', true);
    const outcome = outcomeOf(await robot.restore(true), robot.archive);
    expect(outcome).toMatchObject({ outcome: 'differs', rolledBack: true });
    if (outcome.kind !== 'overlays') throw new Error('not overlays');
    expect(outcome.after?.diff?.changed.some(({ values }) => values.some(({ name }) => name === 'id'))).toBe(true);
  });

  it('rolls back when the fault has ended by then', async () => {
    await using robot = await changedRobot();
    robot.sim.setFault('patch-drops', true);
    const patches = requests(robot.sim, 'PATCH').length;
    const watching = setInterval(() => {
      if (requests(robot.sim, 'PATCH').length > patches) robot.sim.setFault('patch-drops', false);
    }, 5);
    const before = await robot.overlaysNow();
    const outcome = outcomeOf(await robot.restore(true), robot.archive);
    clearInterval(watching);
    expect(outcome).toMatchObject({ outcome: 'rolled-back', rolledBack: true, now: { same: true } });
    expect(await robot.overlaysNow()).toBe(before);
  });

  it('continues without pictures on the chassis, and reports what was not compared', async () => {
    await using robot = await changedRobot();
    robot.sim.setFault('image-fails', true);
    const run = await robot.restore(true);
    expect(outcomeOf(run, robot.archive)).toMatchObject({ outcome: 'written' });
    expect(run.plan.maps.map(({ picture }) => picture)).toEqual(run.plan.maps.map(() => 'not-compared'));
    expect(run.written?.backup?.archive.maps[0]?.missing).toHaveLength(2);
  });

  it('writes nothing while the robot moves', async () => {
    await using robot = await changedRobot();
    const { host, port } = robot.sim.chassis;
    await fetch(`http://${host}:${port}/chassis/moves`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ creator: 'test', type: 'standard', target_x: 2, target_y: 1 }),
    });
    await expect(robot.restore(true)).rejects.toMatchObject({ code: 'CHASSIS_MOVING' });
    expect(requests(robot.sim, 'PATCH')).toHaveLength(1);
  });

  it('reports unknown when the connection is lost during the write', async () => {
    await using robot = await changedRobot();
    const patches = requests(robot.sim, 'PATCH').length;
    const watching = setInterval(() => {
      if (requests(robot.sim, 'PATCH').length > patches) robot.sim.setFault('cut', true);
    }, 1);
    const run = await robot.restore(true);
    clearInterval(watching);
    robot.sim.setFault('cut', false);
    await robot.sim.settled();
    const outcome = outcomeOf(run, robot.archive);
    if (outcome.kind !== 'overlays') throw new Error('not overlays');
    // The connection may end before or after the read-back.
    if (outcome.outcome === 'written') expect(await robot.overlaysNow()).toBe(robot.odd.overlays);
    else
      expect(outcome).toMatchObject({ outcome: 'unknown', why: expect.stringContaining('not connected'), now: null });
    expect(run.written?.backup?.path).toContain('before-');
  });
});
