import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { MapArchive } from '../../src/lib/maps/index.ts';
import { type MapChassis, mapChassis, storedMap } from './map-chassis.ts';
import { archiveOf, calm, empty, keepsBackups, outcomeOf, restore } from './restoring.ts';
import { archivedMap, errorOf, mapDocument, oddOverlays, picture } from './samples.ts';

keepsBackups();

/** This robot, and a backup of another one. */
let chassis: MapChassis;
let archive: MapArchive;
beforeEach(async () => {
  chassis = await mapChassis([]);
  archive = {
    ...(await archiveOf(chassis)),
    ...{ chassis: { serial: 'SN-OTHER', software: null, model: null }, maps: [archivedMap(1), archivedMap(2)] },
  };
});
afterEach(() => chassis[Symbol.asyncDispose]());

describe('a backup of another robot', () => {
  it('is refused with the word that permits it', async () => {
    const error = await errorOf(restore(chassis, archive));
    expect(error).toMatchObject({ code: 'ARCHIVE_FOREIGN', exitCode: 4 });
    expect(error.remedy).toContain('--from-another-robot SN-OTHER');
    const spiteful = { ...archive, chassis: { ...archive.chassis, serial: 'a; reboot' } };
    expect((await errorOf(restore(chassis, spiteful))).remedy).toContain('--from-another-robot SERIAL.');
    expect(chassis.writes).toEqual([]);
  });

  it.each(['SN-1', 'sn-other', 'SN-OTHE', ''])(
    'is refused with another serial number, as %j',
    async (fromAnotherRobot) => {
      const error = await errorOf(restore(chassis, archive, { fromAnotherRobot }));
      expect(error).toMatchObject({ code: 'ARCHIVE_FOREIGN', message: expect.stringContaining('"SN-OTHER"') });
      expect(chassis.writes).toEqual([]);
    },
  );

  it('that is one of this robot is refused with the word', async () => {
    const own = { ...archive, chassis: { ...archive.chassis, serial: 'SN-1' } };
    const error = await errorOf(restore(chassis, own, { fromAnotherRobot: 'SN-1' }));
    expect(error).toMatchObject({ code: 'USAGE', remedy: 'Omit --from-another-robot.' });
    expect(chassis.writes).toEqual([]);
  });

  it('is copied map by map, and none becomes the current one', async () => {
    const run = await restore(chassis, archive, { fromAnotherRobot: 'SN-OTHER', write: { onBackup: calm } });
    expect(run.plan.maps.map(({ verdict }) => verdict)).toEqual(['missing', 'missing']);
    expect([outcomeOf(run, 1), outcomeOf(run, 2)]).toMatchObject([{ outcome: 'written' }, { outcome: 'written' }]);
    expect(run.written?.use).toBeNull();
    expect(chassis.writes.map(({ what }) => what)).toEqual(['create', 'create']);
    expect(chassis.current).toBeNull();
    const again = await restore(chassis, archive, { fromAnotherRobot: 'SN-OTHER' });
    expect(again.plan.maps.map(({ verdict, matchedBy }) => [verdict, matchedBy])).toEqual([
      ['same', 'uid'],
      ['same', 'uid'],
    ]);
  });

  it('never takes a map of the same number for its own', async () => {
    chassis.maps.set(1, storedMap(1, { uid: null, name: 'Hall', image: picture(9, 9) }));
    const foreign = { ...archive, maps: [archivedMap(1, { uid: null })] };
    const run = await restore(chassis, foreign, { fromAnotherRobot: 'SN-OTHER' });
    expect(run.plan.maps).toMatchObject([{ verdict: 'missing', live: null }]);
    expect(chassis.maps.get(1)).toMatchObject({ name: 'Hall', overlays: oddOverlays });
  });

  it('leaves a map alone that this robot has made anew since', async () => {
    chassis.maps.set(1, storedMap(1, { originXM: 4, overlays: empty }));
    const run = await restore(
      chassis,
      { ...archive, maps: [archivedMap(1, { data: mapDocument(1, oddOverlays) })] },
      {
        fromAnotherRobot: 'SN-OTHER',
      },
    );
    expect(run.plan.maps).toMatchObject([{ verdict: 'conflict' }]);
    expect(chassis.writes).toEqual([]);
  });
});
