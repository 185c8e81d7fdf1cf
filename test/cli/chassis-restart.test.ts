import { describe, expect, it } from 'vitest';
import { renderChassisRestart } from '../../src/cli/render/chassis-restart.ts';
import { type ChassisRestart, chassisRestartSchema } from '../../src/lib/toolkit/chassis/chassis.result.ts';

const there: Omit<ChassisRestart['maps'][number], 'id' | 'name' | 'idNow'> = {
  uid: 'u',
  status: 'unchanged',
  changes: [],
  notes: [],
  difference: null,
};

const running: NonNullable<ChassisRestart['running']> = {
  verdict: 'equal',
  detail: 'the running map has the stored overlays',
  mapId: 1,
  uid: 'u',
  name: 'Floor 1',
  announced: { name: 'Floor 1', uid: 'u', mapVersion: 3, overlaysVersion: 7 },
  difference: null,
  notes: [],
};

const result: ChassisRestart = {
  verdict: 'ok',
  address: { host: '127.0.0.1', port: 8090, way: 'direct' },
  chassis: { serial: 'SN-1', software: '2.12.3', model: 'm1' },
  softwareAfter: '2.12.3',
  backup: {
    file: 'maps.tar.gz',
    bytes: 10,
    sha256: 'ab',
    createdAt: '2026-01-31T12:00:00.000Z',
    complete: true,
    software: '2.12.3',
    maps: 2,
  },
  stillness: { verdict: 'still', detail: 'no move is under way' },
  order: 'accepted',
  orderError: null,
  restarted: true,
  signs: ['start-time', 'silence'],
  why: null,
  tookMs: 41_300,
  maps: [
    { ...there, id: 1, name: 'Floor 1', idNow: 1 },
    { ...there, id: 2, name: 'Floor 2', idNow: 2 },
  ],
  notCompared: ['pictures'],
  mapInUse: { before: 1, now: 1, verdict: 'same' },
  running,
  restoreCommand: null,
  restore: null,
  facts: [
    {
      id: 'chassis.restart-loses-maps',
      mark: 'BELEGT',
      basis: 'measured',
      statement: 'After it the maps were gone.',
      source: 's',
    },
  ],
  next: ['Check that the robot knows where it stands.'],
};

const withMap = (index: number, change: object): ChassisRestart['maps'] =>
  result.maps.map((map, at) => (at === index ? { ...map, ...change } : map));

const firstLine = (data: ChassisRestart) => {
  expect(chassisRestartSchema.parse(data)).toEqual(data);
  return renderChassisRestart(data).split('\n')[0];
};

describe('the first line of gw chassis restart', () => {
  const notBack = { softwareAfter: null, mapInUse: { before: 1, now: null, verdict: 'not-checked' } } as const;
  const rows: readonly (readonly [change: Partial<ChassisRestart>, line: string])[] = [
    [{}, 'Chassis SN-1 is back after 41 s, and all 2 maps are there; stored and running map 1 have the same overlays.'],
    [
      { running: { ...running, verdict: 'not-checked', detail: '/map/info was not received within 5 s' } },
      'Chassis SN-1 is back after 41 s, and all 2 maps are there; running map 1 not compared with the stored one.',
    ],
    [
      { verdict: 'changed', running: { ...running, verdict: 'differs', detail: 'it contains others' } },
      'Chassis SN-1 is back after 41 s, and all 2 maps are there, but the running map 1 has other overlays than the stored one.',
    ],
    [{ maps: [] }, 'Chassis SN-1 is back after 41 s, and it had no map before.'],
    [
      { verdict: 'lost', maps: withMap(1, { status: 'lost', idNow: null }) },
      "The restart lost 1 of 2 maps of chassis SN-1: 2 'Floor 2'.",
    ],
    [
      { verdict: 'brought-back', maps: withMap(1, { status: 'lost', idNow: null }) },
      "Chassis SN-1 is back after 41 s; it had lost 2 'Floor 2', which was restored.",
    ],
    [
      { verdict: 'changed', maps: withMap(0, { status: 'changed', changes: ['its overlays differ'] }) },
      'Chassis SN-1 is back after 41 s, but a map has changed.',
    ],
    [
      { verdict: 'changed', mapInUse: { before: 1, now: null, verdict: 'another' } },
      'Chassis SN-1 is back after 41 s, but another map is current.',
    ],
    [
      { verdict: 'no-restart-seen', restarted: false, signs: [] },
      'No restart was observed within 41 s; chassis SN-1 answers, and all 2 maps are there.',
    ],
    [
      { ...notBack, verdict: 'not-back', why: 'The chassis is starting, 20 % done' },
      'Chassis SN-1 is not connected again after 41 s: The chassis is starting, 20 % done.',
    ],
    [
      { ...notBack, verdict: 'interrupted' },
      'Interrupted after 41 s: the restart order was sent to chassis SN-1, and its maps were not compared.',
    ],
  ];
  it.each(rows)('%o', (change, line) => {
    expect(firstLine({ ...result, ...change })).toBe(line);
  });
});

describe('the current map after gw chassis restart', () => {
  const lineOf = (change: Partial<ChassisRestart>) =>
    renderChassisRestart({ ...result, ...change })
      .split('\n')
      .find((line) => line.includes('current one'));

  it('is ok when the chassis stores it', () => {
    expect(lineOf({})).toBe('ok   map 1 was the current one, and is again');
  });

  it('is not ok when the chassis names it and does not store it', () => {
    expect(lineOf({ mapInUse: { before: 7, now: 7, verdict: 'not-checked' } })).toBe(
      '--   map 7 was the current one, and the chassis reports it as such again, but does not store it',
    );
    expect(lineOf({ mapInUse: { before: 7, now: 9, verdict: 'not-checked' } })).toBe(
      '--   map 7 was the current one, and the chassis reports it as such again (now map 9), but does not store it',
    );
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
    expect(text).toContain(
      'standstill  --   not checked before the restart, confirmed by --robot-stands-still: nothing received',
    );
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
