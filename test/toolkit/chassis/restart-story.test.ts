import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { renderChassisRestart } from '../../../src/cli/render/chassis-restart.ts';
import { renderMapRestore } from '../../../src/cli/render/map-restore.ts';
import { readArchive } from '../../../src/lib/maps/index.ts';
import { startSim } from '../../../src/lib/sim/index.ts';
import { chassisRestartSchema } from '../../../src/lib/toolkit/chassis/chassis.result.ts';
import { restartWithBackup } from '../../../src/lib/toolkit/chassis/restart.ts';
import { backUpMapsToFile } from '../../../src/lib/toolkit/map/backup.ts';
import { mapRestoreSchema } from '../../../src/lib/toolkit/map/change.result.ts';
import { listMaps } from '../../../src/lib/toolkit/map/list.ts';
import { restoreFromBackup } from '../../../src/lib/toolkit/map/restore.ts';
import { verifyMapBackup } from '../../../src/lib/toolkit/map/verify.ts';
import { openToolkit } from '../../../src/lib/toolkit/toolkit.ts';
import { createPacedClock } from '../../lifecycle/paced-clock.ts';
import { mapChassis, storedMap } from '../../maps/map-chassis.ts';
import { has, sharedFolder, toolkitOf } from '../kit.ts';

const dir = sharedFolder();

const context = { signal: new AbortController().signal, onProgress: () => {}, onSafetyBackup: () => {} };
/** As long as a restart of the simulator takes. */
const quick = { pollMs: 50, answerMs: 5_000, showsWithinMs: 5_000, settleMs: 300, announceMs: 1_000 };
const firstLine = (text: string) => text.split('\n')[0];

async function robotWithBackup(name: string) {
  const clock = createPacedClock();
  const sim = await startSim({ dir: join(dir, name), bootMs: 0, clock });
  const sitePath = sim.sitePath ?? '';
  const toolkit = { ...(await openToolkit(sitePath)), clock };
  const path = join(dir, `${name}.tar.gz`);
  await backUpMapsToFile(toolkit, { ids: [], path, force: false, gwVersion: '0.1.0' }, context);
  const options = { path, sitePath, gwVersion: '0.1.0', itStandsStill: false };
  return { sim, toolkit, path, options, [Symbol.asyncDispose]: () => sim[Symbol.asyncDispose]() };
}

describe('the restart story', () => {
  it('backup, restart with loss of the maps, detection, restore, verify', async () => {
    await using robot = await robotWithBackup('story');
    const { sim, toolkit, path, options } = robot;
    expect((await verifyMapBackup({ path })).verdict).toBe('ok');
    const before = await listMaps(toolkit, context);
    const bytesBefore = await readFile(path);

    sim.setFault('map-loss', true);
    const restarted = await restartWithBackup(toolkit, { ...options, withinMs: 30_000, pace: quick }, context);
    expect(restarted).toEqual(chassisRestartSchema.parse(restarted));
    expect(restarted).toMatchObject({
      verdict: 'lost',
      restarted: true,
      order: 'accepted',
      stillness: { verdict: 'still' },
      mapInUse: { before: before.current?.id, now: null, verdict: 'another' },
      restore: null,
    });
    expect(restarted.signs).toContain('start-time');
    expect(restarted.maps.map(({ status }) => status)).toEqual(before.maps.map(() => 'lost'));
    expect(restarted.restoreCommand).toContain(
      `gw map restore ${path} --write-although-never-measured --robot-stands-still`,
    );
    expect(firstLine(renderChassisRestart(restarted))).toContain(`The restart lost 3 of 3 maps`);
    expect((await listMaps(toolkit, context)).maps).toEqual([]);

    sim.setFault('map-loss', false);
    const dry = await restoreFromBackup(toolkit, { ...options, ids: [], write: false }, context);
    expect(dry).toEqual(mapRestoreSchema.parse(dry));
    expect(dry).toMatchObject({ mode: 'dry-run', verdict: 'to-do', use: { outcome: 'dry-run' }, safetyBackup: null });
    expect(dry.next[0]).toContain('--write-although-never-measured');
    expect((await listMaps(toolkit, context)).maps).toEqual([]);

    // Without a map the robot reports no pose.
    const write = { ...options, ids: [], write: true };
    await expect(restoreFromBackup(toolkit, write, context)).rejects.toMatchObject({
      code: 'CHASSIS_MOVING',
      message: has('--robot-stands-still'),
    });
    const restored = await restoreFromBackup(toolkit, { ...write, itStandsStill: true }, context);
    expect(restored).toEqual(mapRestoreSchema.parse(restored));
    expect(restored).toMatchObject({
      verdict: 'restored',
      position: 'must-be-set',
      running: { verdict: 'equal' },
      stillness: { verdict: 'not-checked' },
    });
    expect(restored.use?.outcome).toBe('set');
    expect(restored.maps.every(({ outcome, afterWrite }) => outcome === 'written' && afterWrite?.sameText)).toBe(true);
    expect(firstLine(renderMapRestore(restored))).toBe(
      'Restored: 3 maps of SIM-0001 written, read back and compared; stored and running map 4 have the same overlays.',
    );

    // Verified independently: a second backup is equal, except for the numbers of the maps.
    const after = join(dir, 'story-after.tar.gz');
    await backUpMapsToFile(toolkit, { ids: [], path: after, force: false, gwVersion: '0.1.0' }, context);
    expect((await verifyMapBackup({ path: after })).verdict).toBe('ok');
    const [one, two] = [(await readArchive(path)).archive, (await readArchive(after)).archive];
    const essence = (archive: typeof one) =>
      archive.maps.map(({ uid, name, mapVersion, isCurrent, overlays, image, localisation }) => {
        const hex = [image, localisation].map((bytes) => Buffer.from(bytes ?? []).toString('hex'));
        return { uid, name, mapVersion, isCurrent, overlays, hex };
      });
    expect(essence(two)).toEqual(essence(one));
    expect(await readFile(path)).toEqual(bytesBefore);
    const again = await restoreFromBackup(toolkit, { ...options, ids: [], write: true }, context);
    expect(again).toMatchObject({ verdict: 'nothing-to-do', safetyBackup: null });
  });

  it('without a loss succeeds, and the robot keeps its maps', async () => {
    await using robot = await robotWithBackup('kept');
    const { toolkit, options } = robot;
    const restarted = await restartWithBackup(toolkit, { ...options, withinMs: 30_000 }, context);
    expect(restarted).toEqual(chassisRestartSchema.parse(restarted));
    expect(restarted).toMatchObject({ verdict: 'ok', mapInUse: { verdict: 'same' }, restoreCommand: null });
    expect(restarted.maps.every(({ status }) => status === 'unchanged')).toBe(true);
    expect(firstLine(renderChassisRestart(restarted))).toMatch(/^Chassis SIM-0001 is back after \d+ s, and all 3 maps/);
  });

  it('does not find a current map the same that the chassis names and does not store any more', async () => {
    await using chassis = await mapChassis([storedMap(7), storedMap(8)]);
    const { endpoint, serial } = chassis.fake;
    const toolkit = toolkitOf({ ...endpoint, serial }, { clock: createPacedClock(), path: join(dir, 'site.yaml') });
    const path = join(dir, 'named.tar.gz');
    await backUpMapsToFile(toolkit, { ids: [], path, force: false, gwVersion: '0.1.0' }, context);
    chassis.onRestart = () => {
      chassis.startTimeS += 50;
      chassis.namedCurrent = chassis.maps.get(7) ?? null;
      chassis.maps.delete(7);
    };
    const options = { path, sitePath: 'site.yaml', gwVersion: '0.1.0', itStandsStill: true, withinMs: 10_000 };
    const pace = { pollMs: 20, answerMs: 300, showsWithinMs: 400, settleMs: 300, announceMs: 300 };
    const restarted = await restartWithBackup(toolkit, { ...options, pace }, context);
    expect(restarted).toEqual(chassisRestartSchema.parse(restarted));
    expect(restarted).toMatchObject({ verdict: 'lost', mapInUse: { before: 7, now: 7, verdict: 'not-checked' } });
    expect(renderChassisRestart(restarted)).toContain(
      'map 7 was the current one, and the chassis reports it as such again, but does not store it',
    );
  });

  it('restores lost maps at once after a confirmation, and asks only then', async () => {
    await using robot = await robotWithBackup('offered');
    const { sim, toolkit, options } = robot;
    sim.setFault('map-loss', true);
    let asked = 0;
    const offerRestore = async () => {
      asked += 1;
      return true;
    };
    const work = { ...context, offerRestore };
    const restarted = await restartWithBackup(toolkit, { ...options, withinMs: 30_000, pace: quick }, work);
    expect(restarted).toEqual(chassisRestartSchema.parse(restarted));
    expect(restarted).toMatchObject({ verdict: 'brought-back', restore: { verdict: 'restored' } });
    expect(asked).toBe(1);
    expect((await listMaps(toolkit, context)).maps).toHaveLength(3);
    const text = renderChassisRestart(restarted);
    expect(firstLine(text)).toContain('which were restored');
    expect(text).toContain('The position of the robot must be set');

    // The maps have other numbers now, so the same backup still fits them by their uid.
    sim.setFault('map-loss', false);
    const second = await restartWithBackup(toolkit, { ...options, withinMs: 30_000, pace: quick }, work);
    expect(second.verdict).toBe('ok');
    expect(asked).toBe(1);
  });

  it('reports the result of the restart also where the restore cannot start', async () => {
    await using robot = await robotWithBackup('stuck');
    const { sim, toolkit, options } = robot;
    sim.setFault('map-loss', true);
    const offerRestore = async () => {
      sim.setFault('cut', true);
      return true;
    };
    const work = { ...context, offerRestore };
    const restarted = await restartWithBackup(toolkit, { ...options, withinMs: 30_000, pace: quick }, work);
    expect(restarted).toMatchObject({ verdict: 'lost', restore: null });
    expect(restarted.next[0]).toMatch(/^The restore did not start: .*not connected/i);
    expect(restarted.next[1]).toContain('gw map restore');
  });

  it('does not start when the maps changed since the backup', async () => {
    await using robot = await robotWithBackup('outdated');
    const { sim, toolkit, options } = robot;
    const { host, port } = sim.chassis;
    await fetch(`http://${host}:${port}/maps/2`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ overlays: '{"type":"FeatureCollection","features":[{"type":"Feature","id":"x"}]}' }),
    });
    await expect(restartWithBackup(toolkit, { ...options, withinMs: 30_000 }, context)).rejects.toMatchObject({
      code: 'BACKUP_OUTDATED',
      message: has('map 2 "1. Stock"'),
    });
    expect(sim.requests().some(({ path }) => path.includes('restart_service'))).toBe(false);
  });
});
