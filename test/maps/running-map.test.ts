import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkRunningMap, type RestoreRun } from '../../src/lib/maps/index.ts';
import { compareRunning, watchRunningMap } from '../../src/lib/maps/running/running-map.ts';
import { collectionText, oddCollection } from '../overlays/arbitrary.ts';
import { type MapChassis, mapChassis, storedMap, time, topicsOf } from './map-chassis.ts';
import { archiveOf, keepsBackups, empty as other, restore, never as signal, store } from './restoring.ts';
import { oddOverlays } from './samples.ts';

keepsBackups();

const stored =
  '{"type":"FeatureCollection","features":[{"id":"z","geometry":{"type":"Point","coordinates":[1,2]},"n":12345678901234567890}]}';

/** One comparison, as in `overlays inspect --current`. */
const compare = (chassis: MapChassis, announceMs = 400) =>
  checkRunningMap({ client: chassis.client, access: topicsOf(chassis), watched: null, announceMs, signal });

const withOverlays = (chassis: MapChassis, overlays: unknown) => {
  if (chassis.running) chassis.running.overlays = overlays;
};

describe('the running map compared with the stored one', () => {
  it('is equal in each of the three forms of the topic, and without `type`', async () => {
    await using chassis = await mapChassis([storedMap(1, { overlays: stored })]);
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
      withOverlays(chassis, overlays);
      expect(await compare(chassis), JSON.stringify(overlays)).toMatchObject({ verdict: 'equal', map: { id: 1 } });
    }
  });

  it('differs where its overlays name the uid of another map', async () => {
    await using chassis = await mapChassis([storedMap(1, { overlays: other })]);
    withOverlays(chassis, { map_uid: 'uid-2', features: [] });
    expect(await compare(chassis)).toMatchObject({ verdict: 'differs' });
    withOverlays(chassis, { map_uid: 'uid-1', features: [] });
    expect(await compare(chassis)).toMatchObject({
      verdict: 'equal',
      comparison: { notes: [expect.stringContaining('uid')] },
    });
  });

  it('is compared by its text: digits that a parsed number loses count, formatting does not', async () => {
    await using chassis = await mapChassis([storedMap(1, { overlays: stored })]);
    const frame = (overlays: string) =>
      `{"topic":"/map/info","name":"Floor 1","uid":"uid-1","map_version":3,"overlays_version":7,"overlays":${overlays}}`;
    chassis.mapInfo = () => frame(stored);
    expect(await compare(chassis)).toMatchObject({ verdict: 'equal' });
    chassis.mapInfo = () => frame(stored.replace('[1,2]', '[1.0, 2.00]').replace('"type"', ' "type" '));
    expect(await compare(chassis)).toMatchObject({ verdict: 'equal' });
    chassis.mapInfo = () => frame(stored.replace('12345678901234567890', '12345678901234567891'));
    expect(await compare(chassis)).toMatchObject({ verdict: 'differs' });
  });

  it('differs with the same version, and is equal with another one', async () => {
    await using chassis = await mapChassis([storedMap(1)]);
    withOverlays(chassis, other);
    expect(await compare(chassis)).toMatchObject({
      verdict: 'differs',
      announced: { overlaysVersion: 7 },
      comparison: { same: false, diff: { counts: { removed: expect.any(Number) } } },
    });
    withOverlays(chassis, oddOverlays);
    if (chassis.running) chassis.running.overlaysVersion = 99;
    expect(await compare(chassis)).toMatchObject({ verdict: 'equal', announced: { overlaysVersion: 99 } });
  });

  it.each<[string, (chassis: MapChassis) => void, string]>([
    ['nothing is announced', (c) => (c.running = null), '/map/info was not received'],
    ['the message has no overlays', (c) => withOverlays(c, undefined), 'announces no overlays'],
    ['its overlays are null', (c) => withOverlays(c, null), 'announces no overlays'],
    ['its overlays are an empty object', (c) => withOverlays(c, {}), 'not comparable'],
    ['its overlays are an empty text', (c) => withOverlays(c, ''), 'not comparable'],
    ['its overlays are no collection', (c) => withOverlays(c, '<html>'), 'not comparable'],
    ['it has no uid', (c) => (c.mapInfo = () => ({ topic: '/map/info', name: 'x', overlays: oddOverlays })), 'uid'],
    ['the topic is unknown', (c) => c.fake.unknownTopics.push('/map/info'), 'did not enable /map/info'],
    ['the stored map has no uid', (c) => Object.assign(c.maps.get(1) ?? {}, { uid: null }), 'has no uid'],
    ['the map was set from data', (c) => (c.currentIsFromData = true), 'not stored'],
    ['the stored map cannot be read', (c) => (c.onRead = (path) => (path === '/maps/1' ? 500 : 'usual')), '500'],
    [
      'another map is current at the end',
      (c) => {
        let requests = 0;
        c.onRead = (path) => {
          if (path === '/chassis/current-map') requests += 1;
          if (requests === 2) c.current = 2;
          return 'usual';
        };
      },
      'the current map changed',
    ],
  ])('is not checked when %s', async (_, spoil, why) => {
    await using chassis = await mapChassis();
    spoil(chassis);
    const found = await compare(chassis, why.includes('enable') ? 1_400 : 400);
    expect(found).toMatchObject({ verdict: 'not-checked', detail: expect.stringContaining(why) });
  });

  it('is not checked when another chassis answers at the address meanwhile', async () => {
    await using chassis = await mapChassis();
    chassis.mapInfo = ({ name, uid, overlays }) => {
      chassis.fake.serial = 'SN-OTHER';
      return { topic: '/map/info', name, uid, overlays };
    };
    expect(await compare(chassis)).toMatchObject({
      verdict: 'not-checked',
      detail: expect.stringContaining('SN-OTHER'),
    });
  });

  it('is another map when the topic announces one, and none when there is no current map', async () => {
    await using chassis = await mapChassis();
    if (chassis.running) chassis.running.uid = 'uid-2';
    expect(await compare(chassis)).toMatchObject({
      verdict: 'another-map',
      detail: expect.stringContaining('uid-2'),
      comparison: null,
    });
    chassis.current = null;
    expect(await compare(chassis)).toMatchObject({ verdict: 'none-in-use', map: null });
  });

  it('is waited for until the timeout', async () => {
    await using chassis = await mapChassis([storedMap(1)]);
    const late = chassis.running && chassis.mapInfo(chassis.running);
    chassis.running = null;
    time.after(150, () => chassis.fake.publish(late ?? ''));
    expect(await compare(chassis, 2_000)).toMatchObject({ verdict: 'equal' });
  });
});

describe('after a write', () => {
  const check = async (chassis: MapChassis, write: () => void | Promise<void>, announceMs = 300) => {
    using watched = await watchRunningMap(topicsOf(chassis), { hadMap: chassis.current !== null });
    watched.mark();
    await write();
    return await checkRunningMap({ client: chassis.client, access: topicsOf(chassis), watched, announceMs, signal });
  };

  it('a new announcement of the stored overlays is equal', async () => {
    await using chassis = await mapChassis([storedMap(1)]);
    const found = await check(chassis, () => {
      store(chassis, other);
      chassis.load(1);
    });
    expect(found).toMatchObject({ verdict: 'equal' });
  });

  it('the old announcement is a difference, with the note that there was no new one', async () => {
    await using chassis = await mapChassis([storedMap(1)]);
    const found = await check(chassis, () => store(chassis, other));
    expect(found).toMatchObject({ verdict: 'differs', detail: expect.stringContaining('no new announcement since') });
  });

  it('an earlier announcement that equals the stored overlays is not checked: it is latched and may be old', async () => {
    await using chassis = await mapChassis([storedMap(1)]);
    expect(await check(chassis, () => {})).toMatchObject({
      verdict: 'not-checked',
      detail: expect.stringContaining('may be older'),
    });
  });

  it('the first announcement is a new one when there was no current map before', async () => {
    await using chassis = await mapChassis([storedMap(1)]);
    chassis.current = null;
    chassis.running = null;
    const found = await check(chassis, () => {
      chassis.current = 1;
      chassis.load(1);
    });
    expect(found).toMatchObject({ verdict: 'equal' });
  });

  it('a single late announcement that is equal is not checked', async () => {
    await using chassis = await mapChassis([storedMap(1)]);
    const old = chassis.running && chassis.mapInfo(chassis.running);
    chassis.running = null;
    const found = await check(chassis, () => {
      time.after(50, () => chassis.fake.publish(old ?? ''));
    });
    expect(found).toMatchObject({ verdict: 'not-checked' });
  });

  it('repeated old announcements do not count before a late new one', async () => {
    await using chassis = await mapChassis([storedMap(1)]);
    const found = await check(
      chassis,
      () => {
        const old = chassis.running && chassis.mapInfo(chassis.running);
        store(chassis, other);
        for (const ms of [20, 60, 100]) time.after(ms, () => chassis.fake.publish(old ?? ''));
        time.after(200, () => chassis.load(1));
      },
      3_000,
    );
    expect(found).toMatchObject({ verdict: 'equal' });
  });

  it('a new announcement missed during a lost stream is recognised by its difference', async () => {
    await using chassis = await mapChassis([storedMap(1)]);
    const found = await check(chassis, () => {
      for (const stream of chassis.fake.streams) stream.terminate();
      store(chassis, other);
      const map = chassis.maps.get(1);
      chassis.running = map ? { ...map } : null;
    });
    expect(found).toMatchObject({ verdict: 'equal' });
  });
});

describe('a restore', () => {
  async function restored(chassis: MapChassis, meanwhile: () => void): Promise<RestoreRun> {
    const archive = await archiveOf(chassis);
    meanwhile();
    return await restore(chassis, archive);
  }
  const spoil =
    (chassis: MapChassis, id = 1) =>
    () => {
      store(chassis, other, id);
      if (chassis.current === id) chassis.load(id);
    };

  it('reports that the running map has the new overlays', async () => {
    await using chassis = await mapChassis();
    const { written, running } = await restored(chassis, spoil(chassis));
    expect(written).not.toBeNull();
    expect(running).toMatchObject({ verdict: 'equal', map: { id: 1 } });
  });

  it('reports that the robot still drives by others where only the stored map changed, with the same version', async () => {
    await using chassis = await mapChassis();
    const { written, running } = await restored(chassis, () => {
      spoil(chassis)();
      chassis.loadsWrites = false;
    });
    expect(written?.maps[0]?.outcome).toMatchObject({ outcome: 'written' });
    expect(running).toMatchObject({ verdict: 'differs', comparison: { diff: { counts: { removed: 1 } } } });
  });

  it('does not report a text normalised by the chassis as a difference', async () => {
    await using chassis = await mapChassis();
    chassis.keep = (overlays) => JSON.stringify(JSON.parse(overlays), null, 1);
    const { written, running } = await restored(chassis, spoil(chassis));
    expect(written?.maps[0]?.outcome).toMatchObject({ outcome: 'written', after: { sameText: false } });
    expect(running).toMatchObject({ verdict: 'equal' });
  });

  it('of a map that is not current compares the unchanged current map', async () => {
    await using chassis = await mapChassis();
    const { running } = await restored(chassis, spoil(chassis, 2));
    expect(running).toMatchObject({ verdict: 'equal', map: { id: 1 } });
  });

  it('that has nothing to write compares as well: the stored map may be correct but not running', async () => {
    await using chassis = await mapChassis();
    const same = await restored(chassis, () => {});
    expect(same).toMatchObject({ written: null, running: { verdict: 'equal' } });
    withOverlays(chassis, other);
    expect(await restored(chassis, () => {})).toMatchObject({ written: null, running: { verdict: 'differs' } });
  });

  it('of a chassis without the topic is not checked', async () => {
    await using chassis = await mapChassis();
    chassis.fake.unknownTopics.push('/map/info');
    const { running } = await restored(chassis, spoil(chassis));
    expect(running).toMatchObject({ verdict: 'not-checked' });
  });
});

describe('the comparison of stored and announced overlays', () => {
  it('is equal for any form of nesting, and different otherwise', () => {
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

  it('never throws for any announcement', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json(), collectionText()), (text) => {
        expect(typeof compareRunning(stored, text, 'uid-1').same).toBe('boolean');
      }),
    );
  });
});
