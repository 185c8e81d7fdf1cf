// Runs in a mount namespace of its own: a download and an upload on a file system that is full. Prints what happened as
// one JSON object, which the test judges.
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { download } from '../../src/lib/cloud/storage/download.ts';
import { addUpload } from '../../src/lib/cloud/storage/spool.ts';
import { asGwError } from '../../src/lib/error/index.ts';
import { sha256 } from '../../src/lib/lifecycle/index.ts';
import { serving, storageServer, trust } from '../cloud/storage/storage-server.ts';

const [dir = ''] = process.argv.slice(2);
const disk = join(dir, 'disk');
const filler = join(disk, 'filler');
mkdirSync(disk);
execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=3m,mode=700', 'none', disk]);
writeFileSync(filler, Buffer.alloc(2_000_000));

const content = randomBytes(2_000_000);
const server = await storageServer(serving(content));
const target = { path: join(disk, 'package.tar'), bytes: content.length, sha256: sha256(content) };
const outcome = (work: Promise<unknown>) =>
  work.then(
    () => 'done',
    (error: unknown) => asGwError(error).toJSON(),
  );
const fetch = () => {
  const url = async () => ({ url: server.url });
  return outcome(download(target, { url, trust, signal: AbortSignal.timeout(20_000) }));
};
const file = join(dir, 'archive');
writeFileSync(file, content);
const add = () =>
  outcome(addUpload(join(disk, 'cloud', 'uploads'), { file, name: 'maps/a', limits: { reserveBytes: -1e9 } }));

const full = await fetch();
const left = readdirSync(disk).sort();
const fullSpool = await add();
const spool = readdirSync(join(disk, 'cloud', 'uploads'));
rmSync(filler);
const repaired = await fetch();
const ranges = server.received.map(({ headers }) => headers.range ?? null);
await server[Symbol.asyncDispose]();
console.log(JSON.stringify({ full, left, fullSpool, spool, repaired, ranges }));
