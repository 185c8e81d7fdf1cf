import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkRunningMap, type RestoreRun } from '../../src/lib/maps/index.ts';
import { compareRunning, watchRunningMap } from '../../src/lib/maps/running/running-map.ts';
import { collectionText, oddCollection } from '../overlays/arbitrary.ts';
import { type MapChassis, mapChassis, time, topicsOf } from './map-chassis.ts';
import { archiveOf, keepsBackups, empty as other, restore, never as signal, store } from './restoring.ts';
import { oddOverlays } from './samples.ts';

keepsBackups();

/** That of the present test, with two maps. */
let chassis: MapChassis;
beforeEach(async () => {
  chassis = await mapChassis();
});
afterEach(() => chassis[Symbol.asyncDispose]());

const stored =
  '{"type":"FeatureCollection","features":[{"id":"z","geometry":{"type":"Point","coordinates":[1,2]},"n":12345678901234567890}]}';

/** One comparison, as in `overlays inspect --current`. */
const compare = (announceMs = 400) =>
  checkRunningMap({ client: chassis.client, access: topicsOf(chassis), watched: null, announceMs, signal });

/** The stored map and the running one. */
const has = (overlays: string) => {
  store(chassis, overlays);
  chassis.load(1);
};
const withOverlays = (overlays: unknown) => {
  if (chassis.running) chassis.running.overlays = overlays;
};

describe('the running map compared with the stored one', () => {
  it('is equal in each of the three forms of the topic, and without `type`', async () => {
    has(stored);
    const object = JSON.parse(stored.replace('12345678901234567890', '1')) as { features: object[] };
    const simple = JSON.stringify(object);
    store(chassis, simple);
    for (const overlays of [
      object,
      simple,
      JSON.stringify(object, null, 2),
      { overlays: object },
      { overlays: simple },
      JSON.stringify({ overlays: object }),
      JSON.stringify({ v: 3, overlays: simple }),
      { map_uid: 'uid-1', features: object.features },
      JSON.stringify({ features: object.features }),
      { overlays: { map_uid: 'uid-1', features: object.features } },
    ]) {
      withOverlays(overlays);
      expect(await compare(), JSON.stringify(overlays)).toMatchObject({ verdict: 'equal', map: { id: 1 } });
    }
  });

  it('differs where its overlays name the uid of another map', async () => {
    has(other);
    withOverlays({ map_uid: 'uid-2', features: [] });
    expect(await compare()).toMatchObject({ verdict: 'differs' });
    withOverlays({ map_uid: 'uid-1', features: [] });
    expect(await compare()).toMatchObject({
      verdict: 'equal',
      comparison: { notes: [expect.stringContaining('uid')] },
    });
  });

  it('is compared by its text: digits that a parsed number loses count, formatting does not', async () => {
    has(stored);
    const frame = (overlays: string) =>
      `{"topic":"/map/info","name":"Floor 1","uid":"uid-1","map_version":3,"overlays_version":7,"overlays":${overlays}}`;
    chassis.mapInfo = () => frame(stored);
    expect(await compare()).toMatchObject({ verdict: 'equal' });
    chassis.mapInfo = () => frame(stored.replace('[1,2]', '[1.0, 2.00]').replace('"type"', ' "type" '));
    expect(await compare()).toMatchObject({ verdict: 'equal' });
    chassis.mapInfo = () => frame(stored.replace('12345678901234567890', '12345678901234567891'));
    expect(await compare()).toMatchObject({ verdict: 'differs' });
  });

  it('differs with the same version, and is equal with another one', async () => {
    withOverlays(other);
    expect(await compare()).toMatchObject({
      verdict: 'differs',
      announced: { overlaysVersion: 7 },
      comparison: { same: false, diff: { counts: { removed: expect.any(Number) } } },
    });
    withOverlays(oddOverlays);
    if (chassis.running) chassis.running.overlaysVersion = 99;
    expect(await compare()).toMatchObject({ verdict: 'equal', announced: { overlaysVersion: 99 } });
  });

  it.each<[string, () => void, string]>([
    ['nothing is announced', () => (chassis.running = null), '/map/info was not received'],
    ['the message has no overlays', () => withOverlays(undefined), 'announces no overlays'],
    ['its overlays are null', () => withOverlays(null), 'announces no overlays'],
    ['its overlays are an empty object', () => withOverlays({}), 'not comparable'],
    ['its overlays are an empty text', () => withOverlays(''), 'not comparable'],
    ['its overlays are no collection', () => withOverlays('<html>'), 'not comparable'],
    [
      'it has no uid',
      () => (chassis.mapInfo = () => ({ topic: '/map/info', name: 'x', overlays: oddOverlays })),
      'uid',
    ],
    ['the topic is unknown', () => chassis.fake.unknownTopics.push('/map/info'), 'did not enable /map/info'],
    ['the stored map has no uid', () => Object.assign(chassis.maps.get(1) ?? {}, { uid: null }), 'has no uid'],
    ['the map was set from data', () => (chassis.currentIsFromData = true), 'not stored'],
    ['the stored map cannot be read', () => (chassis.onRead = (path) => (path === '/maps/1' ? 500 : 'usual')), '500'],
    [
      'another map is current at the end',
      () => {
        let requests = 0;
        chassis.onRead = (path) => {
          if (path === '/chassis/current-map') requests += 1;
          if (requests === 2) chassis.current = 2;
          return 'usual';
        };
      },
      'the current map changed',
    ],
  ])('is not checked when %s', async (_, spoil, why) => {
    spoil();
    const found = await compare(why.includes('enable') ? 1_400 : 400);
    expect(found).toMatchObject({ verdict: 'not-checked', detail: expect.stringContaining(why) });
  });

  it('is not checked when another chassis answers at the address meanwhile', async () => {
    chassis.mapInfo = ({ name, uid, overlays }) => {
      chassis.fake.serial = 'SN-OTHER';
      return { topic: '/map/info', name, uid, overlays };
    };
    expect(await compare()).toMatchObject({
      verdict: 'not-checked',
      detail: expect.stringContaining('SN-OTHER'),
    });
  });

  it('is another map when the topic announces one, and none when there is no current map', async () => {
    if (chassis.running) chassis.running.uid = 'uid-2';
    expect(await compare()).toMatchObject({
      verdict: 'another-map',
      detail: expect.stringContaining('uid-2'),
      comparison: null,
    });
    chassis.current = null;
    expect(await compare()).toMatchObject({ verdict: 'none-in-use', map: null });
  });

  it('is waited for until the timeout', async () => {
    const late = chassis.running && chassis.mapInfo(chassis.running);
    chassis.running = null;
    time.after(150, () => chassis.fake.publish(late ?? ''));
    expect(await compare(2_000)).toMatchObject({ verdict: 'equal' });
  });
});

describe('after a write', () => {
  const check = async (write: () => void | Promise<void>, announceMs = 300) => {
    using watched = await watchRunningMap(topicsOf(chassis), { hadMap: chassis.current !== null });
    watched.mark();
    await write();
    return await checkRunningMap({ client: chassis.client, access: topicsOf(chassis), watched, announceMs, signal });
  };

  it('a new announcement of the stored overlays is equal', async () => {
    const found = await check(() => {
      store(chassis, other);
      chassis.load(1);
    });
    expect(found).toMatchObject({ verdict: 'equal' });
  });

  it('the old announcement is a difference, with the note that there was no new one', async () => {
    const found = await check(() => store(chassis, other));
    expect(found).toMatchObject({ verdict: 'differs', detail: expect.stringContaining('no new announcement since') });
  });

  it('an earlier announcement that equals the stored overlays is not checked: it is latched and may be old', async () => {
    expect(await check(() => {})).toMatchObject({
      verdict: 'not-checked',
      detail: expect.stringContaining('may be older'),
    });
  });

  it('the first announcement is a new one when there was no current map before', async () => {
    chassis.current = null;
    chassis.running = null;
    const found = await check(() => {
      chassis.current = 1;
      chassis.load(1);
    });
    expect(found).toMatchObject({ verdict: 'equal' });
  });

  it('a single late announcement that is equal is not checked', async () => {
    const old = chassis.running && chassis.mapInfo(chassis.running);
    chassis.running = null;
    const found = await check(() => {
      time.after(50, () => chassis.fake.publish(old ?? ''));
    });
    expect(found).toMatchObject({ verdict: 'not-checked' });
  });

  it('repeated old announcements do not count before a late new one', async () => {
    const found = await check(() => {
      const old = chassis.running && chassis.mapInfo(chassis.running);
      store(chassis, other);
      for (const ms of [20, 60, 100]) time.after(ms, () => chassis.fake.publish(old ?? ''));
      time.after(200, () => chassis.load(1));
    }, 3_000);
    expect(found).toMatchObject({ verdict: 'equal' });
  });

  it('a new announcement missed during a lost stream is recognised by its difference', async () => {
    const found = await check(() => {
      for (const stream of chassis.fake.streams) stream.terminate();
      store(chassis, other);
      const map = chassis.maps.get(1);
      chassis.running = map ? { ...map } : null;
    });
    expect(found).toMatchObject({ verdict: 'equal' });
  });
});

describe('a restore', () => {
  async function restored(meanwhile: () => void): Promise<RestoreRun> {
    const archive = await archiveOf(chassis);
    meanwhile();
    return await restore(chassis, archive);
  }
  const spoil =
    (id = 1) =>
    () => {
      store(chassis, other, id);
      if (chassis.current === id) chassis.load(id);
    };

  it('reports that the running map has the new overlays', async () => {
    const { written, running } = await restored(spoil());
    expect(written).not.toBeNull();
    expect(running).toMatchObject({ verdict: 'equal', map: { id: 1 } });
  });

  it('reports that the robot still drives by others where only the stored map changed, with the same version', async () => {
    const { written, running } = await restored(() => {
      spoil()();
      chassis.loadsWrites = false;
    });
    expect(written?.maps[0]?.outcome).toMatchObject({ outcome: 'written' });
    expect(running).toMatchObject({ verdict: 'differs', comparison: { diff: { counts: { removed: 1 } } } });
  });

  it('does not report a text normalised by the chassis as a difference', async () => {
    chassis.keep = (overlays) => JSON.stringify(JSON.parse(overlays), null, 1);
    const { written, running } = await restored(spoil());
    expect(written?.maps[0]?.outcome).toMatchObject({ outcome: 'written', after: { sameText: false } });
    expect(running).toMatchObject({ verdict: 'equal' });
  });

  it('of a map that is not current compares the unchanged current map', async () => {
    const { running } = await restored(spoil(2));
    expect(running).toMatchObject({ verdict: 'equal', map: { id: 1 } });
  });

  it('that has nothing to write compares as well: the stored map may be correct but not running', async () => {
    const same = await restored(() => {});
    expect(same).toMatchObject({ written: null, running: { verdict: 'equal' } });
    withOverlays(other);
    expect(await restored(() => {})).toMatchObject({ written: null, running: { verdict: 'differs' } });
  });

  it('of a chassis without the topic is not checked', async () => {
    chassis.fake.unknownTopics.push('/map/info');
    const { running } = await restored(spoil());
    expect(running).toMatchObject({ verdict: 'not-checked' });
  });
});

describe('the comparison of stored and announced overlays', () => {
  it('is equal for any form of nesting, and different otherwise', { tags: 'property' }, () => {
    fc.assert(
      fc.property(collectionText(), oddCollection(), fc.nat(3), (one, another, packing) => {
        const pack = (text: string) =>
          [text, JSON.stringify(text), `{"overlays":${text}}`, JSON.stringify({ overlays: text })][packing] ?? text;
        const found = compareRunning(one, pack(one), 'uid-1');
        expect(found.problem ?? found.same).not.toBe(false);
        const changed = JSON.stringify({
          ...another,
          features: [...((another as { features: unknown[] }).features ?? []), { id: 'one more' }, {}],
        });
        const differs = compareRunning(one, pack(changed), 'uid-1');
        if (compareRunning(changed, one, 'uid-1').problem === null && one !== changed) {
          expect(differs.same).toBe(compareRunning(changed, one, 'uid-1').same);
        }
      }),
    );
  });

  it('never throws for any announcement', { tags: 'property' }, () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json(), collectionText()), (text) => {
        expect(typeof compareRunning(stored, text, 'uid-1').same).toBe('boolean');
      }),
    );
  });
});
