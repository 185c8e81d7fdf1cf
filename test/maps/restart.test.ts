import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type MapArchive, type RestartOptions, type RestartPace, restartChassis } from '../../src/lib/maps/index.ts';
import { until } from '../chassis/peers.ts';
import { type MapChassis, mapChassis, standsStill, storedMap, time, topicsOf } from './map-chassis.ts';
import { archiveOf, calm, empty, never, store } from './restoring.ts';
import { errorOf, picture } from './samples.ts';

const quick: RestartPace = { pollMs: 20, answerMs: 300, showsWithinMs: 400, settleMs: 300, announceMs: 300 };

/** Those of the present test. */
let chassis: MapChassis;
let archive: MapArchive;
beforeEach(() => begin());
afterEach(() => chassis[Symbol.asyncDispose]());

async function begin(maps?: Parameters<typeof mapChassis>[0]): Promise<void> {
  await chassis?.[Symbol.asyncDispose]();
  chassis = await mapChassis(maps);
  archive = await archiveOf(chassis);
}

const restart = (more: Partial<RestartOptions> = {}) =>
  restartChassis({
    ...{ client: chassis.client, archive, topics: topicsOf(chassis), clock: time, signal: never, onProgress: calm },
    ...{ checkStillness: standsStill, isConfirmedStill: false, withinMs: 3_000, pace: quick, ...more },
  });

/** Stops at the order and starts later with another start time. */
function restartsFor(ms: number, then: () => void = () => {}): void {
  chassis.onRestart = () => {
    chassis.startTimeS += 50;
    chassis.fake.booting = 0.2;
    time.after(ms, () => {
      then();
      chassis.fake.booting = null;
    });
  };
}

describe('a restart with a backup', () => {
  it('waits for the start and finds every map again', async () => {
    restartsFor(300);
    const progress: string[] = [];
    const run = await restart({ onProgress: (text) => progress.push(text) });
    expect(run).toMatchObject({ order: 'accepted', restarted: true, end: 'back', why: null });
    expect(run.signs).toContain('starting');
    expect(run.after).toMatchObject({ sameCurrent: true, maps: [{ status: 'unchanged' }, { status: 'unchanged' }] });
    expect(run.tookMs).toBeGreaterThanOrEqual(290);
    expect(progress.some((text) => text.includes('20 % done'))).toBe(true);
    expect(chassis.writes.map(({ what }) => what)).toEqual(['restart']);
  });

  it('reports lost and changed maps, and that there is no current map any more', async () => {
    await begin([storedMap(1), storedMap(2), storedMap(3)]);
    restartsFor(100, () => {
      chassis.maps.delete(1);
      store(chassis, empty, 2);
    });
    const { after } = await restart();
    expect(after?.maps.map(({ status }) => status)).toEqual(['lost', 'changed', 'unchanged']);
    expect(after?.maps[1]?.changes).toEqual(['its overlays differ']);
    expect(after).toMatchObject({ sameCurrent: false, current: null });
  });

  it('waits for maps that appear late', async () => {
    const kept = [...chassis.maps];
    restartsFor(50, () => {
      chassis.maps.clear();
      time.after(100, () => {
        for (const [id, map] of kept) chassis.maps.set(id, map);
      });
    });
    const { after } = await restart();
    expect(after?.maps.map(({ status }) => status)).toEqual(['unchanged', 'unchanged']);
  });

  it('does not report a map as lost that has another number', async () => {
    await begin([storedMap(1)]);
    restartsFor(50, () => {
      chassis.maps.clear();
      chassis.maps.set(5, storedMap(5, { uid: 'uid-1', name: 'Floor 1' }));
      chassis.current = 5;
    });
    const { after } = await restart();
    expect(after).toMatchObject({
      sameCurrent: true,
      maps: [{ status: 'unchanged', id: 5, notes: ['its number is now 5'] }],
    });
  });

  it('continues without a response to the order', async () => {
    for (const status of ['hang', 'cut-after', 500] as const) {
      await begin();
      chassis.onWrite = () => {
        chassis.startTimeS += 50;
        return status;
      };
      const run = await restart();
      expect(run).toMatchObject({ order: 'lost', orderError: expect.any(String), restarted: true, end: 'back' });
      expect(run.signs).toEqual(['start-time']);
      expect(chassis.writes).toHaveLength(1);
    }
  });

  it('reports no restart when the chassis keeps answering as before', async () => {
    const run = await restart();
    expect(run).toMatchObject({ order: 'accepted', restarted: false, signs: [], end: 'back' });
    expect(run.after?.maps.every(({ status }) => status === 'unchanged')).toBe(true);
  });

  it('counts a silence as a restart only without an unchanged start time', async () => {
    chassis.onRestart = () => {
      chassis.onRead = () => 'cut-before';
      time.after(100, () => {
        chassis.onRead = () => 'usual';
      });
    };
    const run = await restart();
    expect(run).toMatchObject({ signs: ['silence'], restarted: false, end: 'back' });
  });

  it('reports that the chassis is not back after the timeout', async () => {
    restartsFor(60_000);
    const why = expect.stringContaining('starting');
    expect(await restart({ withinMs: 400 })).toMatchObject({ end: 'not-back', restarted: true, why, after: null });
  });

  it('reports another chassis at the address afterwards', async () => {
    chassis.onRestart = () => {
      chassis.startTimeS += 50;
      chassis.fake.serial = 'SN-OTHER';
    };
    const run = await restart({ withinMs: 300 });
    expect(run).toMatchObject({ end: 'not-back', why: expect.stringContaining('SN-OTHER') });
  });

  it('ends the waiting at Ctrl-C, with the restart in progress', async () => {
    const ending = new AbortController();
    restartsFor(60_000);
    const running = restart({ signal: ending.signal, withinMs: 60_000 });
    await until(() => chassis.fake.booting !== null);
    ending.abort();
    expect(await running).toMatchObject({ end: 'interrupted', order: 'accepted', after: null });
  });

  it('sends no order after Ctrl-C', async () => {
    const ending = new AbortController();
    const checkStillness = async () => {
      ending.abort();
      return { verdict: 'still', detail: '' } as const;
    };
    const work = restart({ signal: ending.signal, checkStillness });
    expect((await errorOf(work)).code).toBe('INTERRUPTED');
    expect(chassis.writes).toEqual([]);
  });

  it('throws the refusal of the chassis, since nothing was restarted', async () => {
    chassis.onWrite = () => 404;
    expect((await errorOf(restart())).code).toBe('CHASSIS_REFUSED');
  });
});

describe('a restart is refused', () => {
  it('with a backup of another chassis', async () => {
    const foreign = { ...archive, chassis: { ...archive.chassis, serial: 'SN-9' } };
    expect((await errorOf(restart({ archive: foreign }))).code).toBe('ARCHIVE_FOREIGN');
    expect(chassis.writes).toEqual([]);
  });

  it('for a robot that moves, or may move', async () => {
    const checkStillness = async () => ({ verdict: 'not-checked', detail: 'nothing received' }) as const;
    expect((await errorOf(restart({ checkStillness }))).code).toBe('CHASSIS_MOVING');
    expect(chassis.writes).toEqual([]);
  });

  const changes: readonly (readonly [name: string, change: (c: MapChassis) => unknown, reason: string])[] = [
    ['a new map', (c) => c.maps.set(9, storedMap(9)), 'map 9 "Floor 9" is missing in it'],
    ['other overlays', (c) => set(c, { overlays: empty }), 'its overlays'],
    ['another name', (c) => set(c, { name: 'Hall' }), 'its name was "Floor 1"'],
    ['another version', (c) => set(c, { mapVersion: 4 }), 'its map_version'],
    ['another counter of overlays', (c) => set(c, { overlaysVersion: 8 }), 'its overlays_version'],
    ['another grid', (c) => set(c, { originXM: 0 }), 'its grid'],
    ['another picture', (c) => set(c, { image: picture(9, 9) }), 'its picture'],
    ['another current map', (c) => Object.assign(c, { current: 2 }), 'current map is map 2 "Floor 2", was map 1'],
    ['no current map any more', (c) => Object.assign(c, { current: null }), 'current map is none'],
    ['a map that is not stored', (c) => Object.assign(c, { currentIsFromData: true }), 'id -1'],
  ];
  it.each(changes)('with %s', async (_name, change, reason) => {
    change(chassis);
    const error = await errorOf(restart());
    expect(error.code).toBe('BACKUP_OUTDATED');
    expect(error.message).toContain(reason);
    expect(error.message).toContain('Nothing was changed');
    expect(chassis.writes).toEqual([]);
  });

  it('with a backup that lacks files of a lost map', async () => {
    await begin([storedMap(1, { localisation: null, image: null })]);
    const error = await errorOf(restart());
    expect(error.code).toBe('BACKUP_OUTDATED');
    expect(error.message).toContain('the backup lacks its picture, the backup lacks its localisation data');
  });
});

function set(chassis: MapChassis, change: object): void {
  Object.assign(chassis.maps.get(1) ?? {}, change);
}
