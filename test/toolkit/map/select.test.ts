import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { renderMapSelect } from '../../../src/cli/render/map-select.ts';
import { systemClock } from '../../../src/lib/lifecycle/index.ts';
import { readArchive, type SelectOptions, type SelectRun, selectMap } from '../../../src/lib/maps/index.ts';
import { type MapSelect, mapSelectSchema } from '../../../src/lib/toolkit/map/select.result.ts';
import { viewSelect } from '../../../src/lib/toolkit/map/select.ts';
import { type MapChassis, mapChassis, quickPace, standsStill, topicsOf } from '../../maps/map-chassis.ts';
import { errorOf } from '../../maps/samples.ts';

let dir: string;
let count = 0;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'gw-select-'));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const never = new AbortController().signal;
const calm = () => {};
const other = '{"type":"FeatureCollection","features":[]}';

interface Asked extends Partial<Omit<NonNullable<SelectOptions['select']>, 'pace'>> {
  readonly signal?: AbortSignal;
  readonly dry?: boolean;
}

const pathOf = (number: number) => join(dir, `before-${number}.tar.gz`);

function select(
  chassis: MapChassis,
  id: string,
  { signal = never, dry = false, ...more }: Asked = {},
): Promise<SelectRun> {
  count += 1;
  return selectMap({
    client: chassis.client,
    id,
    topics: topicsOf(chassis),
    select: dry
      ? null
      : {
          lookForStillness: standsStill,
          personSeesItStand: false,
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
  asked: Asked = {},
): Promise<MapSelect & { line: string; text: string }> {
  const run = await select(chassis, id, asked);
  const options = { id, select: !asked.dry, itStandsStill: false, sitePath: 'site.yaml', gwVersion: '0.1.0' };
  const view = viewSelect(run, options, { host: '127.0.0.1', port: 1, way: 'direct' });
  expect(view).toEqual(mapSelectSchema.parse(view));
  const text = renderMapSelect(view);
  return { ...view, text, line: text.split('\n')[0] ?? '' };
}

const orders = ({ writes }: MapChassis) => writes.map(({ what, body }) => [what, body.map_id]);

describe('selecting a map', () => {
  it('without the risk flag sends nothing, and says what it would do and what the robot drives by now', async () => {
    await using chassis = await mapChassis();
    if (chassis.running) chassis.running.overlays = other;
    const found = await result(chassis, '1', { dry: true });
    expect(found).toMatchObject({ mode: 'dry-run', verdict: 'to-do', position: 'untouched', use: null, running: null });
    expect(found.line).toBe(
      "Nothing was sent. This would select map 1 'Floor 1' of SN-1 again, and the robot would lose its position; now the running map 1 holds other overlays than the stored one.",
    );
    expect(found.next[0]).toContain('gw map select 1 --select-although-the-position-is-lost');
    expect(chassis.writes).toEqual([]);
  });

  it('again makes the chassis take up what is stored, which is read back; the position is told as lost', async () => {
    await using chassis = await mapChassis();
    if (chassis.running) chassis.running.overlays = other;
    const found = await result(chassis, '1');
    expect(orders(chassis)).toEqual([['use', 1]]);
    expect(found).toMatchObject({
      verdict: 'selected',
      runningBefore: { verdict: 'differs' },
      use: { outcome: 'set', why: null },
      running: { verdict: 'equal', mapId: 1 },
      stored: { verdict: 'unchanged', changes: [] },
      position: 'must-be-set-anew',
    });
    expect(found.line).toBe(
      "Selected: map 1 'Floor 1' of SN-1 is the current one; stored and running map 1 hold the same overlays; its position must be set anew.",
    );
    expect(found.next[0]).toContain('gw has no command for it');
    expect(found.text).not.toContain('gw motion');
    expect((await readArchive(pathOf(count))).archive.maps).toHaveLength(2);
  });

  it('of another floor makes that one current', async () => {
    await using chassis = await mapChassis();
    const found = await result(chassis, '2');
    expect(found).toMatchObject({ verdict: 'selected', before: { id: 1 }, running: { verdict: 'equal', mapId: 2 } });
  });

  it('keeps a file first, needs a robot that stands, and refuses what it could not bring back', async () => {
    await using chassis = await mapChassis();
    const moving = async () => ({ verdict: 'moving' as const, detail: 'a move is under way' });
    expect(await errorOf(select(chassis, '1', { lookForStillness: moving }))).toMatchObject({
      code: 'CHASSIS_MOVING',
    });
    const silent = async () => ({ verdict: 'not-checked' as const, detail: 'nothing was received' });
    expect(await errorOf(select(chassis, '1', { lookForStillness: silent }))).toMatchObject({
      code: 'CHASSIS_MOVING',
    });
    let looks = 0;
    const startsLater = async () => {
      looks += 1;
      return looks === 1 ? await standsStill() : await moving();
    };
    expect(await errorOf(select(chassis, '1', { lookForStillness: startsLater }))).toMatchObject({
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

  it('that the chassis refuses is not selected, also where it was the current map before', async () => {
    await using chassis = await mapChassis();
    chassis.onWrite = () => 405;
    const found = await result(chassis, '1');
    expect(found).toMatchObject({ verdict: 'not-selected', use: { outcome: 'not-set' }, position: 'untouched' });
    expect(found.line).toMatch(/^Not selected: map 1 'Floor 1' of SN-1: .*405/);
    expect(found.next.join(' ')).not.toContain('lost its position');
  });

  it('again, of which the answer was lost, is not known: that it is the current map proves nothing', async () => {
    await using chassis = await mapChassis();
    chassis.onWrite = () => 'cut-before';
    const found = await result(chassis, '1');
    expect(found).toMatchObject({ verdict: 'unknown', use: { outcome: 'unknown' }, position: 'must-be-set-anew' });
  });

  it('that is taken and after which another map is current is not selected, and the position counts as lost', async () => {
    await using chassis = await mapChassis();
    chassis.onWrite = (_, body) => {
      body.map_id = 1;
      return 'usual';
    };
    const found = await result(chassis, '2');
    expect(found).toMatchObject({
      verdict: 'not-selected',
      use: { why: 'map 1 is in use' },
      position: 'must-be-set-anew',
    });
  });

  it('is red where the robot drives by other overlays afterwards, or announces another map', async () => {
    await using chassis = await mapChassis();
    if (chassis.running) chassis.running.overlays = other;
    chassis.load = () => {};
    const stays = await result(chassis, '1');
    expect(stays).toMatchObject({ verdict: 'running-differs', running: { verdict: 'differs' } });
    expect(stays.line).toMatch(/^Selected, but the robot drives by something else: /);
    const elsewhere = await result(chassis, '2');
    expect(elsewhere).toMatchObject({ verdict: 'running-differs', running: { verdict: 'another-map' } });
  });

  it('is never green on an announcement of before', async () => {
    await using chassis = await mapChassis();
    chassis.announces = false;
    const found = await result(chassis, '1');
    expect(found).toMatchObject({ verdict: 'running-not-checked', running: { verdict: 'not-checked' } });
    expect(found.line).toMatch(/^Selected, running map not checked: /);
    expect(found.next[0]).toContain('gw overlays inspect --current');
  });

  it('is red where a stored map is not what it was', async () => {
    await using chassis = await mapChassis();
    chassis.onWrite = () => {
      chassis.maps.delete(2);
      return 'usual';
    };
    const found = await result(chassis, '1');
    expect(found).toMatchObject({
      verdict: 'maps-changed',
      stored: { verdict: 'changed', changes: [{ id: 2, fate: 'lost' }] },
    });
    expect(found.next.join('\n')).toContain(`gw map restore ${pathOf(count)}`);
  });

  it('ends in order after Ctrl-C: the order is out, and what came of it is told', async () => {
    await using chassis = await mapChassis();
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
