// Appends records until it is killed; prints the number of each one after it was acknowledged.
import { writeSync } from 'node:fs';
import { silentLog, systemClock } from '../../../src/lib/lifecycle/index.ts';
import { openRecords } from '../../../src/lib/tunnel/records/index.ts';
import { endOf, startOf } from './bodies.ts';

const [dir = ''] = process.argv.slice(2);
const records = await openRecords({ dir, serial: 'SN-1', clock: systemClock, log: silentLog, maxFileBytes: 20_000 });
for (let n = 1; ; n += 1) {
  const made = await Promise.all([records.append(startOf(n)), records.append(endOf(n))]);
  writeSync(1, made.map(({ seq, hash }) => `${seq} ${hash}\n`).join(''));
  if (n % 3 === 0) await records.markSent(made[0]?.seq ?? 0);
}
