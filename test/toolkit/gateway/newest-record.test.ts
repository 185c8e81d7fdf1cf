import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/lib/lifecycle/index.ts';
import { commentedSiteFile, type Site } from '../../../src/lib/site/index.ts';
import { newestRecord } from '../../../src/lib/toolkit/gateway/newest-record.ts';
import { recordOf, robotOf } from '../../report/records.ts';
import { has, ownFolder } from '../kit.ts';

const siteFile = commentedSiteFile({
  name: 'hotel',
  chassis: { host: '127.0.0.1', serial: 'S1' },
  operator: { port: 5173 },
});

let dir: string;
let given: Parameters<typeof newestRecord>[0];
beforeEach(() => {
  dir = ownFolder();
  const site = { path: join(dir, 'site.yaml'), stateDir: dir, chassis: { serial: 'S1' } } as unknown as Site;
  given = { site, clock: systemClock };
});

describe('the newest record', () => {
  it('is none without a folder of records, and not checked where that cannot be read', async () => {
    expect(await newestRecord(given)).toMatchObject({ status: 'none', folder: join(dir, 'records') });
    writeFileSync(join(dir, 'records'), 'not a folder');
    expect(await newestRecord(given)).toMatchObject({
      status: 'not-checked',
      detail: has('a part of the path is no folder'),
    });
  });

  it('is not checked, and not none, where the files in the folder are damaged', async () => {
    mkdirSync(join(dir, 'records'));
    writeFileSync(join(dir, 'records', 'a.json'), '{"format":');
    mkdirSync(join(dir, 'records', 'b.json'));
    expect(await newestRecord(given)).toMatchObject({ status: 'not-checked', detail: has('2 of') });
  });

  it('is not checked, and not none, where a folder has more files than are read', async () => {
    mkdirSync(join(dir, 'records'));
    writeFileSync(join(dir, 'site.yaml'), siteFile);
    const ofAnother = JSON.stringify(recordOf([robotOf([])]));
    for (let n = 0; n < 20; n += 1) writeFileSync(join(dir, 'records', `${n}.json`), ofAnother);
    expect(await newestRecord(given)).toMatchObject({ status: 'none', detail: has(/folder$/) });
    writeFileSync(join(dir, 'records', '20.json'), ofAnother);
    expect(await newestRecord(given)).toMatchObject({
      status: 'not-checked',
      detail: has('of 21 files only the newest 20'),
    });
  });
});
