import { describe, expect, it } from 'vitest';
import { renderChassisRestart } from '../../src/cli/render/chassis-restart.ts';
import { type ChassisRestart, chassisRestartSchema } from '../../src/lib/toolkit/chassis/chassis.result.ts';
import { firstLine } from './shown.ts';

const there: Omit<ChassisRestart['maps'][number], 'id' | 'name' | 'idNow'> = {
  ...{ uid: 'u', status: 'unchanged', changes: [], notes: [], difference: null },
};

const running: NonNullable<ChassisRestart['running']> = {
  ...{ verdict: 'equal', detail: 'the running map has the stored overlays', mapId: 1, uid: 'u', name: 'Floor 1' },
  announced: { name: 'Floor 1', uid: 'u', mapVersion: 3, overlaysVersion: 7 },
  ...{ difference: null, notes: [] },
};

const result: ChassisRestart = {
  verdict: 'ok',
  address: { host: '127.0.0.1', port: 8090, way: 'direct' },
  chassis: { serial: 'SN-1', software: '2.12.3', model: 'm1' },
  softwareAfter: '2.12.3',
  backup: {
    ...{ file: 'maps.tar.gz', bytes: 10, sha256: 'ab', createdAt: '2026-01-31T12:00:00.000Z', complete: true },
    ...{ serial: 'SN-1', software: '2.12.3', maps: 2, damaged: [] },
  },
  stillness: { verdict: 'still', detail: 'no move is under way' },
  ...{ order: 'accepted', orderError: null, restarted: true, signs: ['start-time', 'silence'], why: null },
  tookMs: 41_300,
  maps: [
    { ...there, id: 1, name: 'Floor 1', idNow: 1 },
    { ...there, id: 2, name: 'Floor 2', idNow: 2 },
  ],
  notCompared: ['pictures'],
  mapInUse: { before: 1, now: 1, verdict: 'same' },
  ...{ running, restoreCommand: null, restore: null },
  facts: [
    {
      ...{ id: 'chassis.restart-loses-maps', mark: 'BELEGT', basis: 'measured', source: 's' },
      statement: 'After it the maps were gone.',
    },
  ],
  next: ['Check that the robot knows where it stands.'],
};

const withMap = (index: number, change: object): ChassisRestart['maps'] =>
  result.maps.map((map, at) => (at === index ? { ...map, ...change } : map));

const lineOf = (data: ChassisRestart) => {
  expect(chassisRestartSchema.parse(data)).toEqual(data);
  return firstLine(renderChassisRestart(data));
};

describe('the first line of gw chassis restart', () => {
  const notBack = { softwareAfter: null, mapInUse: { before: 1, now: null, verdict: 'not-checked' } } as const;
  const lost = withMap(1, { status: 'lost', idNow: null });
  const unread = { ...running, verdict: 'not-checked', detail: '/map/info was not received within 5 s' } as const;
  const differs = { ...running, verdict: 'differs', detail: 'it contains others' } as const;
  const rows: readonly (readonly [change: Partial<ChassisRestart>, line: RegExp])[] = [
    [
      {},
      /^Chassis SN-1 is back after 41 s, and all 2 maps are there; stored and running map 1 have the same overlays\.$/,
    ],
    [{ running: unread }, /all 2 maps are there; running map 1 not compared with the stored one\.$/],
    [
      { verdict: 'changed', running: differs },
      /there, but the running map 1 has other overlays than the stored one\.$/,
    ],
    [{ maps: [] }, /is back after 41 s, and it had no map before\.$/],
    [{ verdict: 'lost', maps: lost }, /^The restart lost 1 of 2 maps of chassis SN-1: 2 'Floor 2'\.$/],
    [{ verdict: 'brought-back', maps: lost }, /is back after 41 s; it had lost 2 'Floor 2', which was restored\.$/],
    [{ verdict: 'changed', maps: withMap(0, { status: 'changed', changes: ['x'] }) }, /but a map has changed\.$/],
    [{ verdict: 'changed', mapInUse: { before: 1, now: null, verdict: 'another' } }, /but another map is current\.$/],
    [
      { verdict: 'no-restart-seen', restarted: false, signs: [] },
      /^No restart was observed within 41 s; .* all 2 maps/,
    ],
    [
      { ...notBack, verdict: 'not-back', why: 'It starts' },
      /^Chassis SN-1 is not connected again after 41 s: It starts\.$/,
    ],
    [
      { ...notBack, verdict: 'interrupted' },
      /^Interrupted after 41 s: the restart order was sent .* were not compared\.$/,
    ],
  ];
  it.each(rows)('%o', (change, line) => expect(lineOf({ ...result, ...change })).toMatch(line));
});

describe('the current map after gw chassis restart', () => {
  const current = (mapInUse: ChassisRestart['mapInUse']) =>
    renderChassisRestart({ ...result, mapInUse })
      .split('\n')
      .find((line) => line.includes('current one'));

  it('is ok when the chassis stores it, and not when it names it and does not store it', () => {
    expect(current(result.mapInUse)).toBe('ok   map 1 was the current one, and is again');
    const unstored = { before: 7, now: 7, verdict: 'not-checked' } as const;
    expect(current(unstored)).toMatch(/^-- {3}map 7 was the current one, and .* again, but does not store it$/);
    expect(current({ ...unstored, now: 9 })).toMatch(/^-- {3}map 7 .* \(now map 9\), but does not store it$/);
  });
});

describe('gw chassis restart', () => {
  it('shows nothing unchecked as ok', () => {
    const text = renderChassisRestart({
      ...result,
      verdict: 'not-back',
      restarted: false,
      signs: [],
      stillness: { verdict: 'not-checked', detail: 'nothing received' },
      maps: withMap(0, { status: 'not-checked', idNow: null }),
      mapInUse: { before: 1, now: null, verdict: 'not-checked' },
    });
    expect(text).toMatch(/^standstill {2}-- {3}not checked before the restart, .*: nothing received$/m);
    expect(text).toContain('restart     --   not observed');
    expect(text).toContain('--   map 1 was the current one; the present one was not read');
    expect(text).toMatch(/1 {4}Floor 1 {2}- {4}-- {3}not compared/);
  });

  it('escapes text of the device for the terminal', () => {
    const text = renderChassisRestart({
      ...result,
      orderError: '\u001b]0;x\u0007',
      maps: withMap(0, { name: '\u001b[2J', changes: ['\u001b[31m'], status: 'changed' }),
    });
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f]/);
  });
});
