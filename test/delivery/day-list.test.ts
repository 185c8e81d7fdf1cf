import { appendFile, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { deliveriesCsv, gapsOf, renderDeliveries } from '../../src/cli/render/deliveries.ts';
import { appendLines, parseDayLine, readDays } from '../../src/lib/delivery/day-files.ts';
import type { DayLine } from '../../src/lib/delivery/day-lines.ts';
import { createDayList } from '../../src/lib/delivery/index.ts';
import { silentLog } from '../../src/lib/lifecycle/index.ts';
import type { DriveRun } from '../../src/lib/motion/index.ts';
import { sinceOf } from '../../src/lib/operator/delivery/delivery-handlers.ts';
import { titleOf } from '../../src/lib/site/index.ts';
import type { Title } from '../../src/lib/text/index.ts';
import { createFakeClock } from '../lifecycle/fake-clock.ts';
import { runs } from '../properties.ts';

const NOON = '2026-01-31T12:00:00.000Z';
let dir: string;
beforeEach(async () => {
  dir = join(await mkdtemp(join(tmpdir(), 'gw-days-')), 'state');
});
afterEach(() => rm(join(dir, '..'), { recursive: true, force: true }));

const about = { format: 'gw/delivery/1', serial: 'SN0001', timeZone: 'Europe/Berlin' } as const;
const begun = (id: string, at = NOON): DayLine => ({
  ...{ ...about, id, at, what: 'begun', kind: 'drive', name: 'A', by: 'page' },
});
const ended = (id: string, at = NOON): DayLine => ({
  ...{ ...about, id, at, what: 'ended', result: 'succeeded', reason: null },
});

/** A gateway whose motion shows this run. */
function open(serial = 'SN0001', titles: Partial<Record<'A' | 'lunch', Title>> = {}) {
  const site = {
    ...{ stateDir: dir, chassis: { serial } },
    stations: { A: { xM: 1, yM: 0, yawDeg: 0, ...titleOf({ title: titles.A }) } },
    tours: { lunch: { stations: ['A'], ...titleOf({ title: titles.lunch }) } },
  };
  let drive: DriveRun | null = null;
  let listener = () => {};
  const clock = createFakeClock({ wall: new Date(NOON) });
  const motion = {
    runs: () => ({ tour: null, drive, stop: { latched: false } as never }),
    subscribe(each: () => void) {
      listener = each;
      return { [Symbol.dispose]: () => {} };
    },
  };
  const list = createDayList({ site, motion, clock, log: silentLog });
  return {
    list,
    clock,
    start: () => list.start({ signal: new AbortController().signal, fail: () => {} }),
    shows(run: Partial<DriveRun>) {
      const common = { kind: 'move', station: 'A', outcome: null, reason: null, by: 'page' } as const;
      drive = { id: 'd1', state: 'running', ...common, ...run };
      listener();
    },
    read: () => list.list(new Date(0), 100),
  };
}

describe('the list of deliveries', () => {
  it('has each run from its begin on, with who ordered it and how it ended', async () => {
    const gateway = open();
    await gateway.start();
    gateway.shows({});
    expect((await gateway.read()).deliveries).toMatchObject([
      { id: 'd1', kind: 'drive', name: 'A', by: 'page', begunAt: NOON, endedAt: null, result: 'running' },
    ]);
    await gateway.clock.advance(60_000);
    gateway.shows({ state: 'failed', reason: 'blocked' });
    gateway.shows({ id: 'd2', kind: 'dock', station: null, by: 'itself', state: 'running' });
    expect((await gateway.read()).deliveries).toMatchObject([
      { id: 'd2', kind: 'dock', name: null, by: 'itself', result: 'running' },
      { id: 'd1', result: 'failed', reason: 'blocked', endedAt: '2026-01-31T12:01:00.000Z' },
    ]);
    await gateway.list.stop();

    // The next process, after a kill: what ran then is said not to be known, and never to run.
    const next = open();
    await next.start();
    expect((await next.read()).deliveries.map(({ id, result }) => [id, result])).toEqual([
      ['d2', 'not-known'],
      ['d1', 'failed'],
    ]);
    expect((await open('SN0002').read()).deliveries).toEqual([]);
  });

  it('names the station as it was named then, beside its key', async () => {
    const before = open('SN0001', { A: { de: 'Küche', en: '=Kitchen' } });
    await before.start();
    before.shows({ state: 'succeeded' });
    await before.list.stop();
    const after = open('SN0001', { A: 'غرفة ٢٠٤' });
    await after.start();
    after.shows({ id: 'd2', state: 'succeeded' });
    const list = await after.read();
    expect(list.deliveries).toMatchObject([
      { id: 'd2', name: 'A', title: 'غرفة ٢٠٤' },
      { id: 'd1', name: 'A', title: { de: 'Küche', en: '=Kitchen' } },
    ]);
    const rows = deliveriesCsv(list).split('\r\n');
    expect(rows.map((row) => row.split(',').slice(3, 6).join())).toEqual([
      'kind,name,title',
      'drive,A,غرفة ٢٠٤',
      "drive,A,'=Kitchen",
      '',
    ]);
    expect(renderDeliveries(list)).toContain('\u2068غرفة ٢٠٤\u2069 (A)');
    expect(renderDeliveries(list)).toContain('=Kitchen (A)');
    await after.list.stop();
  });

  it('goes on after an end that a crash has cut off, and counts what cannot be read', async () => {
    await appendLines(dir, [begun('d1'), ended('d1')]);
    await appendFile(join(dir, '2026-01-31.jsonl'), '{"format":"gw/deli');
    await appendLines(dir, [begun('d2')]);
    const { lines, unreadable } = await readDays(dir, 'SN0001');
    expect([lines.map(({ id, what }) => `${id} ${what}`), unreadable]).toEqual([
      ['d1 begun', 'd1 ended', 'd2 begun'],
      1,
    ]);
  });

  it('keeps ninety days by their number, so that a clock that jumps removes none', async () => {
    const day = (index: number) => new Date(Date.UTC(2026, 0, 1 + index)).toISOString();
    for (let index = 0; index < 95; index += 1) await appendLines(dir, [begun(`d${index}`, day(index))]);
    await appendLines(dir, [begun('jumped', '2099-01-01T00:00:00.000Z')]);
    const files = await readdir(dir);
    expect([files.length, files.sort()[0]]).toEqual([90, '2026-01-07.jsonl']);
  });

  it('a day that is full takes no more, and says how much was left out', async () => {
    await appendLines(dir, [begun('d1')]);
    const path = join(dir, '2026-01-31.jsonl');
    await writeFile(path, `${await readFile(path, 'utf8')}${' '.repeat(256 * 1024 - 300)}\n`);
    expect(await appendLines(dir, [begun('d2'), begun('d3', '2026-02-01T00:00:00.000Z')])).toBe(1);
    expect((await readDays(dir, 'SN0001')).lines.map(({ id }) => id)).toEqual(['d1', 'd3']);
    // The next process knows of it too, where that day is asked for.
    expect((await readDays(dir, 'SN0001', '2026-01-31')).full).toBe(1);
    expect((await readDays(dir, 'SN0001', '2026-02-01')).full).toBe(0);
  });

  it('keeps what was written just now, also by a clock that is years behind', async () => {
    const day = (index: number) => new Date(Date.UTC(2026, 0, 1 + index)).toISOString();
    for (let index = 0; index < 90; index += 1) await appendLines(dir, [begun(`d${index}`, day(index))]);
    await appendLines(dir, [begun('behind', '1970-01-01T00:00:10.000Z')]);
    expect((await readDays(dir, 'SN0001')).lines.map(({ id }) => id)).toContain('behind');
    await appendLines(dir, [begun('later', day(89))]);
    expect(await readdir(dir)).toHaveLength(90);
  });

  it('a damaged line of a day that is not asked for is no gap of those that are', async () => {
    const days = join(dir, 'deliveries');
    await appendLines(days, [begun('d1'), begun('d2', '2026-02-01T12:00:00.000Z')]);
    await appendFile(join(days, '2026-01-31.jsonl'), `{"format":"gw/deli${' '.repeat(255 * 1024)}`);
    const { list } = open();
    expect(await list.list(new Date('2026-02-01T00:00:00Z'), 100)).toMatchObject({ unreadable: 0, lost: 0 });
    expect(await list.list(new Date('2026-01-31T00:00:00Z'), 100)).toMatchObject({ unreadable: 1, lost: 1 });
  });

  it('reads any bytes without an error, and only whole lines', { tags: ['property'] }, () => {
    const whole = JSON.stringify(begun('d1'));
    expect(parseDayLine(whole)).toEqual(begun('d1'));
    fc.assert(
      fc.property(fc.nat(whole.length - 1), fc.string({ unit: 'binary' }), (cut, text) => {
        expect(parseDayLine(whole.slice(0, cut))).toBeNull();
        expect(parseDayLine(text) === null || text.includes('gw/delivery/1')).toBe(true);
        const changed = parseDayLine(`${whole.slice(0, cut)}${text}${whole.slice(cut)}`);
        expect(changed === null || changed.format === 'gw/delivery/1').toBe(true);
      }),
      { numRuns: runs(2_000) },
    );
  });

  it('begins where a person says, by the clock of the gateway', () => {
    const now = new Date(NOON);
    expect(sinceOf('7d', now)?.toISOString()).toBe('2026-01-24T12:00:00.000Z');
    expect(sinceOf('24h', now)?.toISOString()).toBe('2026-01-30T12:00:00.000Z');
    expect(sinceOf('2026-01-30', now)).toEqual(new Date(2026, 0, 30));
    expect(sinceOf('2026-13-45', now)).toBeNull();
  });

  it('is a table with the times of the gateway, and CSV that no spreadsheet calculates', () => {
    const common = {
      id: 'd',
      kind: 'drive',
      by: 'page',
      begunAt: NOON,
      endedAt: NOON,
      timeZone: 'Europe/Berlin',
    } as const;
    const list = {
      ...{ timeZone: 'Europe/Berlin', more: 0, unreadable: 0, lost: 0, trouble: null },
      deliveries: [{ ...common, name: '=1+1, "A"', result: 'failed' as const, reason: 'blocked' }],
    };
    expect(deliveriesCsv(list).split('\r\n')[1]).toBe(
      `${NOON},${NOON},Europe/Berlin,drive,"'=1+1, ""A""","'=1+1, ""A""",page,failed,blocked`,
    );
    const text = renderDeliveries(list);
    expect(text.split('\n')[0]).toBe('1 drive, newest first; 1 failed, or it is not known how they ended.');
    expect(text).toContain('2026-01-31 13:00:00');
    expect(renderDeliveries({ ...list, deliveries: [], lost: 2 })).toContain('2 lines NOT WRITTEN');
  });

  it('a list of which older ones are left out is not complete, and says so beside a CSV too', () => {
    const whole = { timeZone: 'UTC', deliveries: [], more: 0, unreadable: 0, lost: 0, trouble: null };
    expect(gapsOf(whole)).toEqual([]);
    for (const gap of [{ more: 1 }, { unreadable: 1 }, { lost: 1 }, { trouble: 'The disk is full.' }]) {
      expect([gap, gapsOf({ ...whole, ...gap }).length]).toEqual([gap, 1]);
    }
  });
});
