import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { renderMapSelect } from '../../../../src/cli/render/map.ts';
import { renderMapRestore } from '../../../../src/cli/render/map-restore.ts';
import { renderOverlaysInspect } from '../../../../src/cli/render/overlays.ts';
import { type FaultName, startSim } from '../../../../src/lib/sim/index.ts';
import { backUpMapsToFile } from '../../../../src/lib/toolkit/map/backup.ts';
import { mapSelectSchema } from '../../../../src/lib/toolkit/map/change.result.ts';
import { restoreFromBackup } from '../../../../src/lib/toolkit/map/restore.ts';
import { selectStoredMap } from '../../../../src/lib/toolkit/map/select.ts';
import { overlaysInspectSchema } from '../../../../src/lib/toolkit/overlays/inspect.result.ts';
import { inspectMapOverlays } from '../../../../src/lib/toolkit/overlays/inspect.ts';
import type { Toolkit } from '../../../../src/lib/toolkit/toolkit.ts';
import { createPacedClock } from '../../../lifecycle/paced-clock.ts';
import { type MapChassis, mapChassis, storedMap, time } from '../../../maps/map-chassis.ts';
import { sharedFolder, toolkitOf } from '../../kit.ts';

const dir = sharedFolder();

const context = { signal: new AbortController().signal, onProgress: () => {}, onSafetyBackup: () => {} };
const firstLines = (text: string, count = 1) => text.split('\n').slice(0, count).join('\n');
const other = '{"type":"FeatureCollection","features":[]}';

async function inspectCurrent(toolkit: Toolkit, map = 'current') {
  const result = await inspectMapOverlays(
    { source: { kind: 'live', map }, openToolkit: () => Promise.resolve(toolkit), now: () => new Date(0) },
    context,
  );
  expect(overlaysInspectSchema.parse(result)).toEqual(result);
  return { running: result.running, text: renderOverlaysInspect(result, { isComplete: false }) };
}

async function simulated(name: string) {
  const clock = createPacedClock();
  const sim = await startSim({ clock });
  const toolkit = toolkitOf(sim.chassis, { clock });
  const backup = join(dir, `${name}.tar.gz`);
  await backUpMapsToFile(toolkit, { ids: [], path: backup, force: false, gwVersion: '0.1.0' }, context);
  const { host, port } = sim.chassis;
  const patch = async (overlays: string) =>
    await fetch(`http://${host}:${port}/maps/1`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ overlays }),
    });
  const options = { itStandsStill: false, sitePath: 'site.yaml', gwVersion: '0.1.0' };
  return {
    sim,
    toolkit,
    patch,
    fault: (fault: FaultName, on: boolean) => sim.setFault(fault, on),
    restore: () =>
      restoreFromBackup(
        toolkit,
        { ...options, path: backup, ids: [], write: true, backupPath: join(dir, `${name}-before.tar.gz`) },
        context,
      ),
    select: (id: string, select = true) =>
      selectStoredMap(toolkit, { ...options, id, select, backupPath: join(dir, `${name}-select.tar.gz`) }, context),
    [Symbol.asyncDispose]: () => sim[Symbol.asyncDispose](),
  };
}

describe('a simulated robot that keeps the overlays it has loaded', () => {
  it('is detected by restore, inspection and selection', { timeout: 60_000 }, async () => {
    await using robot = await simulated('keeps');
    await robot.patch(other);
    expect((await inspectCurrent(robot.toolkit)).running).toMatchObject({ verdict: 'equal' });

    robot.fault('running-map-keeps-overlays', true);
    const restored = await robot.restore();
    expect(restored).toMatchObject({ verdict: 'stored-only', running: { verdict: 'differs', mapId: 1 } });
    expect(firstLines(renderMapRestore(restored))).toMatch(
      /^Stored, but the robot drives by other overlays: 1 map of SIM-0001 written, read back and compared; the running map 1 has other overlays than the stored one; /,
    );
    expect(restored.next.join('\n')).toContain('gw map select 1');

    const seen = await inspectCurrent(robot.toolkit);
    expect(seen.running).toMatchObject({ verdict: 'differs', difference: { counts: { to: 0 } } });
    expect(firstLines(seen.text)).toContain('; the running map 1 has other overlays than the stored one.');
    expect(firstLines(seen.text, 4)).toContain('from the stored to the running map');

    const selected = await robot.select('1');
    expect(selected).toEqual(mapSelectSchema.parse(selected));
    expect(selected).toMatchObject({
      verdict: 'selected',
      runningBefore: { verdict: 'differs' },
      running: { verdict: 'equal', announced: { overlaysVersion: 5 } },
      stored: { verdict: 'unchanged' },
    });
    expect(firstLines(renderMapSelect(selected))).toContain('the position of the robot must be set');
    // It is lost: a move fails.
    expect(robot.sim.requests().filter(({ path }) => path === '/chassis/pose')).toEqual([]);
    expect((await inspectCurrent(robot.toolkit)).running).toMatchObject({ verdict: 'equal' });
  });

  it('whose chassis refuses PATCH with 405 keeps its content, with the error in the result', async () => {
    await using robot = await simulated('refuses');
    await robot.patch(other);
    robot.fault('patch-405', true);
    const restored = await robot.restore();
    expect(restored).toMatchObject({ verdict: 'differs', running: { verdict: 'not-checked' } });
    expect(restored.maps[0]).toMatchObject({
      outcome: 'no-effect',
      orderError: expect.stringContaining('Method "PATCH" not allowed'),
    });
    expect(firstLines(renderMapRestore(restored))).toMatch(/^Write failed: content on the chassis differs/);
  });
});

describe('overlays inspect of the current map', () => {
  const of = ({ fake }: MapChassis) => toolkitOf({ ...fake.endpoint, serial: fake.serial }, { clock: time });

  it('compares the running map in its first line, with the reason when not checked', async () => {
    await using chassis = await mapChassis([storedMap(1), storedMap(2)]);
    expect(firstLines((await inspectCurrent(of(chassis))).text)).toMatch(
      /; stored and running map 1 have the same overlays\.$/,
    );
    chassis.mapInfo = ({ name, uid }) => ({ topic: '/map/info', name, uid });
    const silent = await inspectCurrent(of(chassis));
    expect(silent.running).toMatchObject({ verdict: 'not-checked' });
    expect(firstLines(silent.text)).toMatch(/; running map 1 not compared with the stored one\.$/);
    expect(silent.text).toContain('/map/info announces no overlays');
    chassis.mapInfo = ({ overlays }) => ({ topic: '/map/info', name: 'Keller\u001b[31m', uid: 'uid-9', overlays });
    const elsewhere = await inspectCurrent(of(chassis));
    expect(elsewhere.running).toMatchObject({ verdict: 'another-map' });
    expect(firstLines(elsewhere.text)).toContain('uid-9');
    expect(elsewhere.text).not.toContain('\u001b[31m');
  });

  it('does not compare a named map with the running one', async () => {
    await using chassis = await mapChassis();
    if (chassis.running) chassis.running.overlays = other;
    const named = await inspectCurrent(of(chassis), '2');
    expect(named.running).toBeNull();
    expect(firstLines(named.text)).not.toContain('running');
  });

  it('is not checked when the current map changes between reading and comparison', async () => {
    await using chassis = await mapChassis();
    chassis.onRead = (path) => {
      if (path === '/maps/1.png') {
        chassis.current = 2;
        chassis.load(2);
      }
      return 'usual';
    };
    expect((await inspectCurrent(of(chassis))).running).toMatchObject({
      verdict: 'not-checked',
      detail: 'another map was selected while the overlays were read',
    });
  });
});
