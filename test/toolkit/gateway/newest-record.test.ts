import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/lib/lifecycle/index.ts';
import type { Site } from '../../../src/lib/site/index.ts';
import { newestRecord } from '../../../src/lib/toolkit/gateway/newest-record.ts';

let dir: string;
let given: Parameters<typeof newestRecord>[0];
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'gw-records-'));
  const site = { path: join(dir, 'site.yaml'), stateDir: dir, chassis: { serial: 'S1' } } as unknown as Site;
  given = { site, clock: systemClock };
});
afterEach(() => rmSync(dir, { recursive: true }));

describe('the newest record', () => {
  it('is none without a folder of records, and not checked where that cannot be read', async () => {
    expect(await newestRecord(given)).toMatchObject({ status: 'none', folder: join(dir, 'records') });
    writeFileSync(join(dir, 'records'), 'not a folder');
    expect(await newestRecord(given)).toMatchObject({
      status: 'not-checked',
      detail: expect.stringContaining('ENOTDIR'),
    });
  });

  it('is not checked, and not none, where the files in the folder are damaged', async () => {
    mkdirSync(join(dir, 'records'));
    writeFileSync(join(dir, 'records', 'a.json'), '{"format":');
    mkdirSync(join(dir, 'records', 'b.json'));
    expect(await newestRecord(given)).toMatchObject({ status: 'not-checked', detail: expect.stringContaining('2 of') });
  });
});
