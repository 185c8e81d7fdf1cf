import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { renderMapSelect } from '../../../src/cli/render/map.ts';
import { systemClock } from '../../../src/lib/lifecycle/index.ts';
import { readArchive, type SelectOptions, type SelectRun, selectMap } from '../../../src/lib/maps/index.ts';
import { type MapSelect, mapSelectSchema } from '../../../src/lib/toolkit/map/change.result.ts';
import { viewSelect } from '../../../src/lib/toolkit/map/select.ts';
import { type MapChassis, mapChassis, quickPace, standsStill, topicsOf } from '../../maps/map-chassis.ts';
import { errorOf } from '../../maps/samples.ts';
import { eachTest, sharedFolder } from '../kit.ts';

const dir = sharedFolder();
let count = 0;

const never = new AbortController().signal;
const calm = () => {};
const other = '{"type":"FeatureCollection","features":[]}';

interface Request extends Partial<Omit<NonNullable<SelectOptions['select']>, 'pace'>> {
  readonly signal?: AbortSignal;
  readonly dry?: boolean;
}

const pathOf = (number: number) => join(dir, `before-${number}.tar.gz`);

function select(
  chassis: MapChassis,
  id: string,
  { signal = never, dry = false, ...more }: Request = {},
): Promise<SelectRun> {
  count += 1;
  return selectMap({
    client: chassis.client,
    id,
    topics: topicsOf(chassis),
    select: dry
      ? null
      : {
          checkStillness: standsStill,
          isConfirmedStill: false,
          backupPath: pathOf(count),
          gwVersion: '0.1.0',
          onBackup: calm,
          pace: quickPace,
          ...more,
        },
    clock: systemClock,
    signal,
    onProgress: calm,
  });
}

async function result(
  chassis: MapChassis,
  id: string,
  request: Request = {},
): Promise<MapSelect & { line: string; text: string }> {
  const run = await select(chassis, id, request);
  const options = { id, select: !request.dry, itStandsStill: false, sitePath: 'site.yaml', gwVersion: '0.1.0' };
  const view = viewSelect(run, options, { host: '127.0.0.1', port: 1, way: 'direct' });
  expect(view).toEqual(mapSelectSchema.parse(view));
  const text = renderMapSelect(view);
  return { ...view, text, line: text.split('\n')[0] ?? '' };
}

const orders = ({ writes }: MapChassis) => writes.map(({ what, body }) => [what, body.map_id]);

let chassis: MapChassis;
eachTest(
  () => mapChassis(),
  (one) => {
    chassis = one;
  },
);

describe('selecting a map', () => {
  it('without the risk flag sends nothing, and has the planned change and the running map', async () => {
    if (chassis.running) chassis.running.overlays = other;
    const found = await result(chassis, '1', { dry: true });
    expect(found).toMatchObject({ mode: 'dry-run', verdict: 'to-do', position: 'untouched', use: null, running: null });
    expect(found.line).toBe(
      "Dry run, nothing sent: this would select map 1 'Floor 1' of SN-1 again, and the robot would lose its position; now the running map 1 has other overlays than the stored one.",
    );
    expect(found.next[0]).toContain('gw map select 1 --select-although-the-position-is-lost');
    expect(chassis.writes).toEqual([]);
  });

  it('again makes the chassis reload the stored overlays, which is read back; the position counts as lost', async () => {
    if (chassis.running) chassis.running.overlays = other;
    const found = await result(chassis, '1');
    expect(orders(chassis)).toEqual([['use', 1]]);
    expect(found).toMatchObject({
      verdict: 'selected',
      runningBefore: { verdict: 'differs' },
      use: { outcome: 'set', why: null },
      running: { verdict: 'equal', mapId: 1 },
      stored: { verdict: 'unchanged', changes: [] },
      position: 'must-be-set',
    });
    expect(found.line).toBe(
      "Selected: map 1 'Floor 1' of SN-1 is the current one; stored and running map 1 have the same overlays; the position of the robot must be set.",
    );
    expect(found.next[0]).toContain('`gw motion pose`');
    expect(found.text).not.toMatch(/gw motion (go|dock)/);
    expect((await readArchive(pathOf(count))).archive.maps).toHaveLength(2);
  });

  it('of another floor makes it the current one', async () => {
    const found = await result(chassis, '2');
    expect(found).toMatchObject({ verdict: 'selected', before: { id: 1 }, running: { verdict: 'equal', mapId: 2 } });
  });

  describe('while the current map cannot be read', () => {
    const failing = (isOver: () => boolean) => {
      chassis.onRead = (path) => (path === '/chassis/current-map' && !isOver() ? 500 : 'usual');
    };

    it('names that, also in a dry run, and goes on: the selection is read back', async () => {
      failing(() => chassis.writes.length > 0);
      const dry = await result(chassis, '2', { dry: true });
      expect(dry).toMatchObject({ verdict: 'to-do', before: null, beforeProblem: expect.stringContaining('500') });
      expect(dry.text).toMatch(/before +not known: .*500.*; one that is not stored would be lost/);
      const found = await result(chassis, '2');
      expect(orders(chassis)).toEqual([['use', 2]]);
      expect(found).toMatchObject({
        ...{ verdict: 'selected', before: null, beforeProblem: expect.stringContaining('500') },
        ...{ use: { outcome: 'set' }, running: { verdict: 'equal', mapId: 2 } },
      });
    });

    it('is no selected map where it cannot be read back either', async () => {
      failing(() => false);
      const found = await result(chassis, '2');
      expect(found).toMatchObject({ verdict: 'unknown', use: { outcome: 'unknown' }, position: 'must-be-set' });
      expect(found.next.join('\n')).toContain('gw map list');
    });

    it('is not taken as selected by its number alone where the chassis refused the order', async () => {
      failing(() => chassis.writes.length > 0);
      chassis.onWrite = () => 409;
      const found = await result(chassis, '1');
      expect(found.use?.outcome).not.toBe('set');
    });
  });

  it('writes a safety backup first, needs a standstill, and refuses a map that no backup contains', async () => {
    const moving = async () => ({ verdict: 'moving' as const, detail: 'a move is under way' });
    expect(await errorOf(select(chassis, '1', { checkStillness: moving }))).toMatchObject({ code: 'CHASSIS_MOVING' });
    const silent = async () => ({ verdict: 'not-checked' as const, detail: 'nothing was received' });
    expect(await errorOf(select(chassis, '1', { checkStillness: silent }))).toMatchObject({ code: 'CHASSIS_MOVING' });
    let checks = 0;
    const startsLater = async () => {
      checks += 1;
      return checks === 1 ? await standsStill() : await moving();
    };
    expect(await errorOf(select(chassis, '1', { checkStillness: startsLater }))).toMatchObject({
      code: 'CHASSIS_MOVING',
    });
    expect(await errorOf(select(chassis, '7'))).toMatchObject({ code: 'MAP_UNKNOWN' });
    expect(await errorOf(select(chassis, '1', { backupPath: '/dev/null/x.tar.gz' }))).toMatchObject({
      message: expect.stringContaining('nothing was changed'),
    });
    chassis.currentIsFromData = true;
    expect(await errorOf(select(chassis, '1'))).toMatchObject({ code: 'BACKUP_OUTDATED' });
    expect(existsSync(pathOf(count))).toBe(false);
    expect(chassis.writes).toEqual([]);
  });

  it('that the chassis refuses is not selected, also when it was the current map before', async () => {
    chassis.onWrite = () => 405;
    const found = await result(chassis, '1');
    expect(found).toMatchObject({ verdict: 'not-selected', use: { outcome: 'not-set' }, position: 'untouched' });
    expect(found.line).toMatch(/^Not selected: map 1 'Floor 1' of SN-1: .*405/);
    expect(found.next.join(' ')).not.toContain('lost its position');
  });

  it('again with a lost response is unknown, since it was the current map before', async () => {
    chassis.onWrite = () => 'cut-before';
    const found = await result(chassis, '1');
    expect(found).toMatchObject({ verdict: 'unknown', use: { outcome: 'unknown' }, position: 'must-be-set' });
  });

  it('with another current map after an accepted order is not selected, and the position counts as lost', async () => {
    chassis.onWrite = (_, body) => {
      body.map_id = 1;
      return 'usual';
    };
    const found = await result(chassis, '2');
    expect(found).toMatchObject({
      verdict: 'not-selected',
      use: { why: 'map 1 is the current map' },
      position: 'must-be-set',
    });
  });

  it('fails when the robot drives by other overlays afterwards, or announces another map', async () => {
    if (chassis.running) chassis.running.overlays = other;
    chassis.load = () => {};
    const stays = await result(chassis, '1');
    expect(stays).toMatchObject({ verdict: 'running-differs', running: { verdict: 'differs' } });
    expect(stays.line).toMatch(/^Selected, but the robot drives by other overlays: /);
    const elsewhere = await result(chassis, '2');
    expect(elsewhere).toMatchObject({ verdict: 'running-differs', running: { verdict: 'another-map' } });
  });

  it('is never green by an earlier announcement', async () => {
    chassis.announces = false;
    const found = await result(chassis, '1');
    expect(found).toMatchObject({ verdict: 'running-not-checked', running: { verdict: 'not-checked' } });
    expect(found.line).toMatch(/^Selected, running map not checked: /);
    expect(found.next[0]).toContain('gw overlays inspect --current');
  });

  it('fails when a stored map has changed', async () => {
    chassis.onWrite = () => {
      chassis.maps.delete(2);
      return 'usual';
    };
    const found = await result(chassis, '1');
    expect(found).toMatchObject({
      verdict: 'maps-changed',
      stored: { verdict: 'changed', changes: [{ id: 2, status: 'lost' }] },
    });
    expect(found.next.join('\n')).toContain(`gw map restore ${pathOf(count)}`);
  });

  it('is possible beside a damaged map, which was not compared, and not of a damaged one', async () => {
    chassis.onRead = (path) => (path === '/maps/2' ? 500 : 'usual');
    const found = await result(chassis, '1');
    expect(found).toMatchObject({ verdict: 'selected', stored: { verdict: 'not-checked' } });
    expect(found.safetyBackup?.lacks).toEqual([expect.stringContaining('map 2 "Floor 2"')]);
    const before = chassis.writes.length;
    expect(await errorOf(select(chassis, '2'))).toMatchObject({ code: 'MAP_UNREADABLE' });
    expect(chassis.writes).toHaveLength(before);
  });

  it('completes after Ctrl-C once the order is sent, with its result', async () => {
    const ending = new AbortController();
    chassis.onWrite = () => {
      ending.abort();
      return 'usual';
    };
    const found = await result(chassis, '2', { signal: ending.signal });
    expect(found).toMatchObject({ interrupted: true, verdict: 'selected' });
    expect(found.line).toContain('(interrupted)');
  });
});
