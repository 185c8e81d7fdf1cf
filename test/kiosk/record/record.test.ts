import { readdir, stat, writeFile } from 'node:fs/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readTabletRecord, type TabletRecord, tabletRedLine, writeTabletRecord } from '../../../src/lib/kiosk/index.ts';
import { parseTabletRecord } from '../../../src/lib/kiosk/record/record.ts';
import { folderOfEach } from '../../lifecycle/folder.ts';

const dir = folderOfEach();

const machine = { bootId: '11111111-1111-4111-8111-111111111111', uptimeS: 71.5 };
const observed = { at: '2026-01-31T12:00:00.000Z', machine, serial: 'S1', bootId: null, androidId: null, mac: null };

type Bridge = TabletRecord['bridge'];
function record(about: { state?: Bridge['state']; afterRestart?: Bridge['afterRestart']['verdict'] }): TabletRecord {
  const { state = 'closed', afterRestart: verdict = 'not-checked' } = about;
  const flags = { isOpenUnresolved: false, isWirelessOn: false };
  const bridge = { state, why: 'test', ...flags, observed, afterRestart: { verdict, observed } };
  return { schema: 'gw/tablet/2', address: { host: '192.0.2.5', port: 5555 }, tablet: null, bridge, reading: null };
}

describe('the tablet record', () => {
  it('is absent, without a red line, before the first connection', async () => {
    expect(await readTabletRecord(dir.path)).toBeNull();
    expect(await tabletRedLine(dir.at('not-there'))).toBeNull();
  });

  it('is read back as written, from one file', async () => {
    const written = record({ state: 'open' });
    await writeTabletRecord(dir.path, written);
    expect(await readTabletRecord(dir.path)).toEqual(written);
    expect(await readdir(dir.path)).toEqual(['tablet.json']);
    expect((await stat(dir.at('tablet.json'))).isFile()).toBe(true);
  });

  it.each([
    [{ state: 'open' } as const, /is open at 192\.0\.2\.5:5555/],
    [{ state: 'not-verified' } as const, /not verified as closed/],
    [{ state: 'closed', afterRestart: 'open' } as const, /opens again after every restart/],
  ])('is a red line: %j', async (bridge, detail) => {
    await writeTabletRecord(dir.path, record(bridge));
    expect(await tabletRedLine(dir.path)).toMatchObject({ id: 'tablet-open', detail: expect.stringMatching(detail) });
  });

  it.each([
    ['not read', null, /^Its settings were not read: run `gw kiosk setup` first/],
    ['different from the profile', 'differs', /^Its settings differ.*run `gw kiosk setup` first/],
    ['not set up to the end', 'not-done', /^Its settings differ.*run `gw kiosk setup` first/],
    ['as the profile', 'as-profile', /^Run `gw kiosk lock`\.$/],
    ['not all reported', 'not-checked', /^Run `gw kiosk lock`\.$/],
  ] as const)('of an open tablet whose settings are %s says what comes first', async (_, verdict, remedy) => {
    const profile = { name: 'Lobby', sha256: null };
    const reading = verdict && { by: 'plan' as const, profile, verdict, steps: [], observed, doubts: [] };
    await writeTabletRecord(dir.path, { ...record({ state: 'open' }), reading });
    expect(await tabletRedLine(dir.path)).toMatchObject({
      remedy: expect.stringMatching(remedy),
    });
  });

  it('is a red line when wireless debugging stays enabled, even with the other port closed', async () => {
    const { bridge, ...rest } = record({ afterRestart: 'closed' });
    await writeTabletRecord(dir.path, { ...rest, bridge: { ...bridge, isWirelessOn: true } });
    expect(await tabletRedLine(dir.path)).toMatchObject({
      detail: expect.stringContaining('Wireless debugging'),
    });
  });

  it.each(['closed', 'not-checked'] as const)('is no red line when verified closed (%s)', async (afterRestart) => {
    await writeTabletRecord(dir.path, record({ afterRestart }));
    expect(await tabletRedLine(dir.path)).toBeNull();
  });

  it('is a red line too when the file is corrupt', async () => {
    await writeFile(dir.at('tablet.json'), '{"schema":"gw/tablet/2"');
    await expect(readTabletRecord(dir.path)).rejects.toMatchObject({ code: 'FILE_UNREADABLE' });
    expect(await tabletRedLine(dir.path)).toMatchObject({ detail: expect.stringContaining('corrupt') });
  });

  it('of a newer format is a red line that names it, and so is a too large file', async () => {
    await writeFile(dir.at('tablet.json'), JSON.stringify({ ...record({}), schema: 'gw/tablet/7' }, null, 2));
    expect(await tabletRedLine(dir.path)).toMatchObject({ detail: expect.stringContaining('newer version of gw') });
    await writeFile(dir.at('tablet.json'), ' '.repeat(2 ** 20 + 1));
    expect(await tabletRedLine(dir.path)).toMatchObject({ detail: expect.stringContaining('corrupt') });
  });

  it('is parsed from any text without throwing', { tags: 'property' }, () => {
    const known = fc.json().map((text) => `{"schema":"gw/tablet/2","bridge":${text}}`);
    const anyText = fc.oneof(fc.string(), fc.json(), known);
    fc.assert(fc.property(anyText, (text) => void expect(parseTabletRecord(text)).toBeNull()));
  });
});
