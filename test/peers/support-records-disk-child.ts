// Runs in a mount namespace of its own: the session records on a real file system of 1 MB that becomes full, read-only,
// and usable again. Prints the outcome as one JSON object, which the test judges.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { asGwError } from '../../src/lib/error/index.ts';
import { silentLog, systemClock } from '../../src/lib/lifecycle/index.ts';
import { openRecords } from '../../src/lib/tunnel/records/index.ts';
import { endOf, startOf } from '../tunnel/records/bodies.ts';

const [base = ''] = process.argv.slice(2);
const disk = join(base, 'disk');
const dir = join(disk, 'support');
mkdirSync(disk);
execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m,mode=700', 'none', disk]);

const options = { dir, serial: 'SN-1', clock: systemClock, log: silentLog, maxFileBytes: 100_000 };
let records = await openRecords(options);
const acknowledged: number[] = [];
const refused: string[] = [];
const append = async (n: number) => {
  try {
    acknowledged.push((await records.append(startOf(n, { region: 'x'.repeat(3_000) }))).seq);
    return true;
  } catch (error) {
    const { code, message } = asGwError(error);
    refused.push(`${code} ${/\(([^)]+)\)/.exec(message)?.[1]}`);
    return false;
  }
};
for (let n = 1; n <= 5; n += 1) await append(n);
// Until the last record fits only in part.
writeFileSync(join(disk, 'filler'), Buffer.alloc(700_000));
for (let n = 6; n <= 400 && (await append(n)); n += 1);
for (let n = 401; n <= 404; n += 1) await append(n);
const whenFull = { acknowledged: acknowledged.length, last: (await records.last(1))[0]?.seq ?? null };
// A restart of gw while the disk is full: it can be read.
await records.close();
records = await openRecords(options);
const afterRestart = (await records.last(1))[0]?.seq ?? null;
await append(405);
rmSync(join(disk, 'filler'));
const isRecovered = await append(406);
// An open file would keep it writable.
await records.close();
execFileSync('mount', ['-o', 'remount,ro', disk]);
records = await openRecords(options);
await append(407);
execFileSync('mount', ['-o', 'remount,rw', disk]);
await records.append(endOf(1));
const names = readdirSync(dir).filter((name) => name.endsWith('.jsonl'));
const lines = names.flatMap((name) => readFileSync(join(dir, name), 'utf8').split('\n').slice(0, -1));
const found = lines.map((line) => JSON.parse(line)).toSorted((a, b) => a.seq - b.seq);
const isWhole = found.every(({ seq, prev }, at) => seq === at + 1 && (at === 0 || prev === found[at - 1].hash));
const left = readdirSync(dir).filter((name) => !/^(sessions(-\d+)?\.jsonl|head\.json)$/.test(name));
const head = JSON.parse(readFileSync(join(dir, 'head.json'), 'utf8'));
process.stdout.write(
  JSON.stringify({
    whenFull,
    afterRestart,
    isRecovered,
    isWhole,
    acknowledged,
    refused,
    left,
    count: found.length,
    head,
  }),
);
