import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/lib/lifecycle/index.ts';
import {
  backUpMaps,
  type MapArchive,
  type RestartOptions,
  type RestartPace,
  restartChassis,
} from '../../src/lib/maps/index.ts';
import { heldMap, type MapChassis, mapChassis, standsStill, topicsOf } from './map-chassis.ts';
import { errorOf, picture } from './samples.ts';

const calm = () => {};
const never = new AbortController().signal;
const quick: RestartPace = { pollMs: 20, answerMs: 300, showsWithinMs: 400, settleMs: 300, announceMs: 300 };

const archiveOf = ({ client }: MapChassis): Promise<MapArchive> =>
  backUpMaps(client, { ids: 'all', gwVersion: '0.1.0', clock: systemClock, signal: never, onProgress: calm });

const restart = (chassis: MapChassis, archive: MapArchive, more: Partial<RestartOptions> = {}) =>
  restartChassis({
    client: chassis.client,
    archive,
    topics: topicsOf(chassis),
    lookForStillness: standsStill,
    personSeesItStand: false,
    withinMs: 3_000,
    clock: systemClock,
    signal: never,
    onProgress: calm,
    pace: quick,
    ...more,
  });

/** Goes down with the order and comes up again later, with another start time. */
function restartsFor(chassis: MapChassis, ms: number, then: () => void = () => {}): void {
  chassis.onRestart = () => {
    chassis.startTimeS += 50;
    chassis.fake.booting = 0.2;
    setTimeout(() => {
      then();
      chassis.fake.booting = null;
    }, ms);
  };
}

describe('a restart behind a backup', () => {
  it('waits through the start and finds every map again', async () => {
    await using chassis = await mapChassis();
    const archive = await archiveOf(chassis);
    restartsFor(chassis, 300);
    const told: string[] = [];
    const run = await restart(chassis, archive, { onProgress: (text) => told.push(text) });
    expect(run).toMatchObject({ order: 'accepted', restarted: true, end: 'back', why: null });
    expect(run.signs).toContain('starting');
    expect(run.after).toMatchObject({ sameCurrent: true, maps: [{ fate: 'there' }, { fate: 'there' }] });
    expect(run.tookMs).toBeGreaterThanOrEqual(290);
    expect(told.some((text) => text.includes('20 % done'))).toBe(true);
    expect(chassis.writes.map(({ what }) => what)).toEqual(['restart']);
  });

  it('names what is lost, what is changed, and that no map is in use any more', async () => {
    await using chassis = await mapChassis([heldMap(1), heldMap(2), heldMap(3)]);
    const archive = await archiveOf(chassis);
    restartsFor(chassis, 100, () => {
      chassis.maps.delete(1);
      const map = chassis.maps.get(2);
      if (map) map.overlays = '{"type":"FeatureCollection","features":[]}';
    });
    const { after } = await restart(chassis, archive);
    expect(after?.maps.map(({ fate }) => fate)).toEqual(['lost', 'changed', 'there']);
    expect(after?.maps[1]?.changes).toEqual(['its overlays are other ones']);
    expect(after).toMatchObject({ sameCurrent: false, current: null });
  });

  it('gives maps that come up late the time to do so', async () => {
    await using chassis = await mapChassis();
    const archive = await archiveOf(chassis);
    const kept = [...chassis.maps];
    restartsFor(chassis, 50, () => {
      chassis.maps.clear();
      setTimeout(() => {
        for (const [id, map] of kept) chassis.maps.set(id, map);
      }, 100);
    });
    const { after } = await restart(chassis, archive);
    expect(after?.maps.map(({ fate }) => fate)).toEqual(['there', 'there']);
  });

  it('does not call a map lost that came back under another number', async () => {
    await using chassis = await mapChassis([heldMap(1)]);
    const archive = await archiveOf(chassis);
    restartsFor(chassis, 50, () => {
      chassis.maps.clear();
      chassis.maps.set(5, heldMap(5, { uid: 'uid-1', name: 'Floor 1' }));
      chassis.current = 5;
    });
    const { after } = await restart(chassis, archive);
    expect(after).toMatchObject({
      sameCurrent: true,
      maps: [{ fate: 'there', id: 5, notes: ['its number is 5 now'] }],
    });
  });

  it('goes on when the answer to the order never comes', async () => {
    for (const fate of ['hang', 'cut-after', 500] as const) {
      await using chassis = await mapChassis();
      const archive = await archiveOf(chassis);
      chassis.onWrite = () => {
        chassis.startTimeS += 50;
        return fate;
      };
      const run = await restart(chassis, archive);
      expect(run).toMatchObject({ order: 'lost', said: expect.any(String), restarted: true, signs: ['start-time'] });
      expect(run.end).toBe('back');
      expect(chassis.writes).toHaveLength(1);
    }
  });

  it('says that no restart was seen when the chassis goes on as before', async () => {
    await using chassis = await mapChassis();
    const archive = await archiveOf(chassis);
    const run = await restart(chassis, archive);
    expect(run).toMatchObject({ order: 'accepted', restarted: false, signs: [], end: 'back' });
    expect(run.after?.maps.every(({ fate }) => fate === 'there')).toBe(true);
  });

  it('takes a silence for a restart only where the start time does not say otherwise', async () => {
    await using chassis = await mapChassis();
    const archive = await archiveOf(chassis);
    chassis.onRestart = () => {
      chassis.onRead = () => 'cut-before';
      setTimeout(() => {
        chassis.onRead = () => 'usual';
      }, 100);
    };
    const run = await restart(chassis, archive);
    expect(run).toMatchObject({ signs: ['silence'], restarted: false, end: 'back' });
  });

  it('says that the chassis is not back when it stays away for longer than was given', async () => {
    await using chassis = await mapChassis();
    const archive = await archiveOf(chassis);
    restartsFor(chassis, 60_000);
    const began = performance.now();
    const run = await restart(chassis, archive, { withinMs: 400 });
    expect(performance.now() - began).toBeLessThan(3_000);
    expect(run).toMatchObject({
      end: 'not-back',
      restarted: true,
      why: expect.stringContaining('starting'),
      after: null,
    });
  });

  it('says that another chassis answers afterwards', async () => {
    await using chassis = await mapChassis();
    const archive = await archiveOf(chassis);
    chassis.onRestart = () => {
      chassis.startTimeS += 50;
      chassis.fake.serial = 'SN-OTHER';
    };
    const run = await restart(chassis, archive, { withinMs: 300 });
    expect(run).toMatchObject({ end: 'not-back', why: expect.stringContaining('SN-OTHER') });
  });

  it('ends the waiting at Ctrl-C and says that the restart goes on', async () => {
    await using chassis = await mapChassis();
    const archive = await archiveOf(chassis);
    const ending = new AbortController();
    restartsFor(chassis, 60_000);
    setTimeout(() => ending.abort(), 200);
    const run = await restart(chassis, archive, { signal: ending.signal, withinMs: 60_000 });
    expect(run).toMatchObject({ end: 'interrupted', order: 'accepted', after: null });
  });

  it('sends no order when Ctrl-C came before it', async () => {
    await using chassis = await mapChassis();
    const archive = await archiveOf(chassis);
    const ending = new AbortController();
    const lookForStillness = async () => {
      ending.abort();
      return { verdict: 'still', detail: '' } as const;
    };
    const work = restart(chassis, archive, { signal: ending.signal, lookForStillness });
    expect((await errorOf(work)).code).toBe('INTERRUPTED');
    expect(chassis.writes).toEqual([]);
  });

  it('throws what the chassis says when it refuses, since nothing was restarted then', async () => {
    await using chassis = await mapChassis();
    const archive = await archiveOf(chassis);
    chassis.onWrite = () => 404;
    expect((await errorOf(restart(chassis, archive))).code).toBe('CHASSIS_REFUSED');
  });
});

describe('what forbids a restart', () => {
  it('is a backup of another chassis', async () => {
    await using chassis = await mapChassis();
    const archive = await archiveOf(chassis);
    const foreign = { ...archive, chassis: { ...archive.chassis, serial: 'SN-9' } };
    expect((await errorOf(restart(chassis, foreign))).code).toBe('ARCHIVE_FOREIGN');
    expect(chassis.writes).toEqual([]);
  });

  it('is a robot that moves, or of which that is not known', async () => {
    await using chassis = await mapChassis();
    const archive = await archiveOf(chassis);
    const lookForStillness = async () => ({ verdict: 'not-checked', detail: 'nothing was heard' }) as const;
    expect((await errorOf(restart(chassis, archive, { lookForStillness }))).code).toBe('CHASSIS_MOVING');
    expect(chassis.writes).toEqual([]);
  });

  const changes: readonly (readonly [what: string, change: (c: MapChassis) => unknown, reason: string])[] = [
    ['a map that is new', (c) => c.maps.set(9, heldMap(9)), 'map 9 "Floor 9" is not in it'],
    ['other overlays', (c) => set(c, { overlays: '{"type":"FeatureCollection","features":[]}' }), 'its overlays'],
    ['another name', (c) => set(c, { name: 'Hall' }), 'its name was "Floor 1"'],
    ['another version', (c) => set(c, { mapVersion: 4 }), 'its map_version'],
    ['another counter of overlays', (c) => set(c, { overlaysVersion: 8 }), 'its overlays_version'],
    ['another grid', (c) => set(c, { originXM: 0 }), 'its grid'],
    ['another picture', (c) => set(c, { image: picture(9, 9) }), 'its picture'],
    ['another map in use', (c) => Object.assign(c, { current: 2 }), 'in use is map 2 "Floor 2", at the backup'],
    ['no map in use any more', (c) => Object.assign(c, { current: null }), 'in use is none'],
    ['a map that is stored nowhere', (c) => Object.assign(c, { currentIsFromData: true }), 'id -1'],
  ];
  it.each(changes)('is %s', async (_what, change, reason) => {
    await using chassis = await mapChassis();
    const archive = await archiveOf(chassis);
    change(chassis);
    const error = await errorOf(restart(chassis, archive));
    expect(error.code).toBe('BACKUP_OUTDATED');
    expect(error.message).toContain(reason);
    expect(error.message).toContain('Nothing was changed');
    expect(chassis.writes).toEqual([]);
  });

  it('is a backup that lacks what a lost map needs', async () => {
    await using chassis = await mapChassis([heldMap(1, { localisation: null, image: null })]);
    const archive = await archiveOf(chassis);
    const error = await errorOf(restart(chassis, archive));
    expect(error.code).toBe('BACKUP_OUTDATED');
    expect(error.message).toContain('the backup lacks its picture, the backup lacks its localisation data');
  });
});

function set(chassis: MapChassis, change: object): void {
  Object.assign(chassis.maps.get(1) ?? {}, change);
}
