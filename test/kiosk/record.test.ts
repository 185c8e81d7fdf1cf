import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readTabletRecord, type TabletRecord, tabletRedLine, writeTabletRecord } from '../../src/lib/kiosk/index.ts';
import { parseTabletRecord } from '../../src/lib/kiosk/record.ts';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'gw-record-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const seen = {
  at: '2026-01-31T12:00:00.000Z',
  machine: { bootId: '11111111-1111-4111-8111-111111111111', uptimeS: 71.5 },
  serial: 'S1',
  bootId: null,
  androidId: null,
  mac: null,
};

function record(bridge: {
  readonly state?: TabletRecord['bridge']['state'];
  readonly afterRestart?: TabletRecord['bridge']['afterRestart']['verdict'];
}): TabletRecord {
  const { state = 'closed', afterRestart = 'not-checked' } = bridge;
  return {
    schema: 'gw/tablet/2',
    address: { host: '192.0.2.5', port: 5555 },
    tablet: null,
    bridge: {
      state,
      why: 'test',
      isOpenUnresolved: false,
      isWirelessOn: false,
      seen,
      afterRestart: { verdict: afterRestart, seen },
    },
    reading: null,
  };
}

describe('what is remembered of the tablet', () => {
  it('is nothing, and no red line, as long as nobody touched it', async () => {
    expect(await readTabletRecord(dir)).toBeNull();
    expect(await tabletRedLine(join(dir, 'not-there'))).toBeNull();
  });

  it('comes back as it was written, in one file', async () => {
    const written = record({ state: 'open' });
    await writeTabletRecord(dir, written);
    expect(await readTabletRecord(dir)).toEqual(written);
    expect(await readdir(dir)).toEqual(['tablet.json']);
    expect((await stat(join(dir, 'tablet.json'))).isFile()).toBe(true);
  });

  it.each([
    [{ state: 'open' } as const, /is open at 192\.0\.2\.5:5555/],
    [{ state: 'not-proven' } as const, /not proven closed/],
    [{ state: 'closed', afterRestart: 'open' } as const, /opens again after every restart/],
  ])('is a red line: %j', async (bridge, detail) => {
    await writeTabletRecord(dir, record(bridge));
    expect(await tabletRedLine(dir)).toMatchObject({ id: 'tablet-open', detail: expect.stringMatching(detail) });
  });

  it('is a red line where the tablet kept wireless debugging on, however closed its other port is', async () => {
    const { bridge, ...rest } = record({ afterRestart: 'closed' });
    await writeTabletRecord(dir, { ...rest, bridge: { ...bridge, isWirelessOn: true } });
    expect(await tabletRedLine(dir)).toMatchObject({ detail: expect.stringContaining('wireless debugging') });
  });

  it.each(['closed', 'not-checked'] as const)(
    'is none when it is proven closed (after a restart: %s)',
    async (after) => {
      await writeTabletRecord(dir, record({ afterRestart: after }));
      expect(await tabletRedLine(dir)).toBeNull();
    },
  );

  it('is a red line too when the file is damaged: nobody knows then', async () => {
    await writeFile(join(dir, 'tablet.json'), '{"schema":"gw/tablet/2"');
    await expect(readTabletRecord(dir)).rejects.toMatchObject({ code: 'FILE_UNREADABLE' });
    expect(await tabletRedLine(dir)).toMatchObject({ detail: expect.stringContaining('damaged') });
  });

  it('of a newer format is a red line that names it, and so is one too large to be one', async () => {
    await writeFile(join(dir, 'tablet.json'), JSON.stringify({ ...record({}), schema: 'gw/tablet/7' }, null, 2));
    expect(await tabletRedLine(dir)).toMatchObject({ detail: expect.stringContaining('newer version of gw') });
    await writeFile(join(dir, 'tablet.json'), ' '.repeat(2 ** 20 + 1));
    expect(await tabletRedLine(dir)).toMatchObject({ detail: expect.stringContaining('damaged') });
  });

  it('is taken from any text without a throw', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.json(),
          fc.json().map((text) => `{"schema":"gw/tablet/2","bridge":${text}}`),
        ),
        (text) => {
          expect(parseTabletRecord(text)).toBeNull();
        },
      ),
    );
  });
});
