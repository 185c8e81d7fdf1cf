import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { silentLog, systemClock } from '../../../src/lib/lifecycle/index.ts';
import { openRecords } from '../../../src/lib/tunnel/records/index.ts';
import { folderOfEach } from '../../lifecycle/folder.ts';
import { startProcess } from '../../process.ts';
import { isFull } from '../../properties.ts';
import { recordOf } from './bodies.ts';

const child = fileURLToPath(new URL('./append-child.ts', import.meta.url));

const folder = folderOfEach();

it('kill -9 at any moment loses no acknowledged record, and the chain stays whole', { tags: 'property' }, async () => {
  const dir = folder.path;
  const acknowledged = new Map<number, string>();
  for (let round = 0; round < (isFull ? 5 : 1); round += 1) {
    await using started = startProcess(process.execPath, [child, dir]);
    // Another moment of its work each time.
    await expect.poll(() => started.stdout().split('\n').length).toBeGreaterThan(24 + 5 * round);
    started.child.kill('SIGKILL');
    const { stdout } = await started.closed;
    for (const line of stdout.split('\n').slice(0, -1)) {
      const [seq = '', hash = ''] = line.split(' ');
      acknowledged.set(Number(seq), hash);
    }
  }
  await using records = await openRecords({ dir, serial: 'SN-1', clock: systemClock, log: silentLog });
  const names = readdirSync(dir).filter((name) => /^sessions.*\.jsonl$/.test(name));
  const found = names
    .flatMap((name) => readFileSync(join(dir, name), 'utf8').split('\n').slice(0, -1).map(recordOf))
    .toSorted((a, b) => a.seq - b.seq);
  const first = found[0]?.seq ?? 0;
  for (const [index, record] of found.entries()) {
    expect(record.seq).toBe(first + index);
    if (index > 0) expect(record.prev).toBe(found[index - 1]?.hash);
  }
  const hashes = new Map(found.map(({ seq, hash }) => [seq, hash]));
  const kept = [...acknowledged].filter(([seq]) => seq >= first);
  expect(kept.length).toBeGreaterThan(20);
  for (const [seq, hash] of kept) expect(hashes.get(seq)).toBe(hash);
  expect((await records.last(1))[0]).toEqual(found.at(-1));
});
