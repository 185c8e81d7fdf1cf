import { readdirSync, rmSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import { silentLog, systemClock } from '../../../src/lib/lifecycle/index.ts';
import { auditRecords } from '../../../src/lib/tunnel/audit/index.ts';
import { openRecords } from '../../../src/lib/tunnel/records/index.ts';
import { folderOfEach } from '../../lifecycle/folder.ts';
import { endOf, startOf } from '../records/bodies.ts';
import { limits } from './folder.ts';

const dir = folderOfEach();
let sessions = 0;

beforeEach(() => {
  sessions = 0;
});

/** One life of gw, with so many sessions. */
async function live(count: number): Promise<void> {
  const options = { dir: dir.path, serial: 'SN-1', clock: systemClock, log: silentLog, maxFileBytes: 900 };
  await using records = await openRecords(options);
  for (let n = 0; n < count; n += 1) {
    sessions += 1;
    await records.append(startOf(sessions));
    const { seq } = await records.append(endOf(sessions));
    await records.markSent(seq);
  }
}

const rotated = () => readdirSync(dir.path).filter((name) => /^sessions-\d+\.jsonl$/.test(name));
const audit = () => auditRecords({ records: dir.path, limits, now: new Date() });

describe('the oldest records, removed together with head.json', () => {
  it('are missing, also after gw has written a new head.json', async () => {
    await live(10);
    expect(rotated().length).toBeGreaterThan(2);
    for (const name of ['sessions-000001.jsonl', 'head.json']) rmSync(dir.at(name));
    await live(1);
    const { verdict, findings, checks } = await audit();
    expect(verdict).toBe('findings');
    expect(findings).toMatchObject([{ code: 'missing-records', values: { from: 1 } }]);
    expect(checks.find(({ id }) => id === 'beginning')?.detail).toBe('unjudged');
  });

  it('are no finding where rotation has removed files before', async () => {
    await live(25);
    expect(rotated()).toHaveLength(20);
    rmSync(dir.at('head.json'));
    await live(1);
    const { verdict, findings, checks } = await audit();
    expect(findings).toEqual([]);
    expect(verdict).toBe('ok');
    expect(checks.find(({ id }) => id === 'beginning')?.detail).toBe('rotated');
  });
});
