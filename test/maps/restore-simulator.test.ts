import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createChassisClient } from '../../src/lib/chassis/index.ts';
import { backUpMaps, checkStillness, type MapOutcome, type RestoreRun, restoreMaps } from '../../src/lib/maps/index.ts';
import { directDialer } from '../../src/lib/net/index.ts';
import { startSim } from '../../src/lib/sim/index.ts';
import { createPacedClock } from '../lifecycle/paced-clock.ts';
import { quickPace } from './map-chassis.ts';
import { calm, dir, keepsBackups, never as signal } from './restoring.ts';

keepsBackups();
let count = 0;

/** A simulated robot with a backup of its maps, and other overlays on its map with unusual overlays. */
async function changedRobot() {
  const clock = createPacedClock();
  const sim = await startSim({ clock });
  const { host, port, serial } = sim.chassis;
  const endpoint = { host, port };
  const client = createChassisClient({ endpoint, dialer: directDialer, expectedSerial: serial, clock });
  const archive = await backUpMaps(client, { ids: 'all', gwVersion: '0.1.0', clock, signal, onProgress: calm });
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
  const access = { endpoint, dialer: directDialer, clock };
  const restore = (isWritten = true): Promise<RestoreRun> => {
    count += 1;
    const write = {
      checkStillness: (ending?: AbortSignal) => checkStillness(access, ending),
      ...{ isConfirmedStill: false, backupPath: join(dir, `before-${count}.tar.gz`), gwVersion: '0.1.0' },
      ...{ onBackup: calm, pace: quickPace },
    };
    return restoreMaps({
      fromAnotherRobot: null,
      ...{ client, archive, ids: 'all', topics: access, clock, signal, onProgress: calm },
      write: isWritten ? write : null,
    });
  };
  return {
    ...{ sim, odd, overlaysNow, restore },
    outcomeOf(run: RestoreRun): MapOutcome {
      const found = run.written?.maps.find(({ planned }) => planned.archived.id === odd.id);
      if (!found) throw new Error('nothing was written');
      return found.outcome;
    },
    patches: () => sim.requests().filter(({ method }) => method === 'PATCH').length,
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

describe('restoring overlays on the simulated robot', () => {
  it('restores them character for character', async () => {
    await using robot = await changedRobot();
    const dry = await robot.restore(false);
    expect(dry.plan.maps.find(({ archived }) => archived.name === 'Musterblatt')).toMatchObject({
      verdict: 'overlays-differ',
      overlays: { same: false, diff: { counts: { changed: 1, moved: 1 } } },
    });
    expect(robot.patches()).toBe(1);
    const run = await robot.restore();
    expect(run.written?.stillness.verdict).toBe('still');
    expect(robot.outcomeOf(run)).toMatchObject({ outcome: 'written', after: { sameText: true } });
    expect(await robot.overlaysNow()).toBe(robot.odd.overlays);
    expect((await robot.restore()).written).toBeNull();
  });

  it('reports neither content when the robot drops properties, of the old overlays too', async () => {
    await using robot = await changedRobot();
    robot.sim.setFault('patch-drops', true);
    const outcome = robot.outcomeOf(await robot.restore());
    const differs = { outcome: 'differs', rolledBack: true, after: { same: false }, now: { same: false } };
    expect(outcome).toMatchObject(differs);
    if (outcome.kind !== 'overlays') throw new Error('not overlays');
    const changes = outcome.after?.diff?.changed.flatMap(({ values }) => values.map(({ change }) => change));
    expect(changes).toContain('removed');
    expect(outcome.now?.diff?.counts.moved).toBe(0);
  });

  it('writes nothing while the robot moves', async () => {
    await using robot = await changedRobot();
    const { host, port } = robot.sim.chassis;
    await fetch(`http://${host}:${port}/chassis/moves`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ creator: 'test', type: 'standard', target_x: 2, target_y: 1 }),
    });
    await expect(robot.restore()).rejects.toMatchObject({ code: 'CHASSIS_MOVING' });
    expect(robot.patches()).toBe(1);
  });
});
