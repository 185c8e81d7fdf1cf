// Runs in a mount namespace of its own: the release agent on a real file system of 2 MB that is too small or becomes
// full. Prints the outcome as one JSON object, which the test judges.
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { createReleaseAgent } from '../../src/lib/cloud/release/agent.ts';
import type { ReleaseView } from '../../src/lib/cloud/release/model.ts';
import { readState } from '../../src/lib/cloud/release/state.ts';
import { asGwError } from '../../src/lib/error/index.ts';
import { silentLog, systemClock } from '../../src/lib/lifecycle/index.ts';
import { createJobService } from '../cloud/release/job-service.ts';
import { makeKeys, makePackage } from '../cloud/release/packages.ts';

const [dir = '', scenario = ''] = process.argv.slice(2);
const releases = join(dir, 'releases');
const filler = join(releases, 'filler');
mkdirSync(releases);
execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=2m,mode=700', 'none', releases]);
const fill = () => {
  try {
    writeFileSync(filler, Buffer.alloc(4_000_000));
  } catch {
    // It is full now, as intended.
  }
};

const keys = makeKeys();
writeFileSync(join(dir, 'key.pem'), keys.publicPem);
// Once it fits, twice it does not.
const files = { 'dist/big.bin': Buffer.alloc(scenario === 'full later' ? 1_000 : 1_200_000, 'x') };
const made = await makePackage(dir, keys.privateKey, { version: '0.2.0', files });
const service = createJobService(join(dir, 'jobs.json'));
const { bytes, sha256 } = made;
service.add('job', {
  schema: 'gw/release-job/1',
  version: '0.2.0',
  package: { url: 'https://storage.example.com/a', bytes, sha256 },
});
const views: unknown[] = [];

/** The test kills this program a little later. */
const LIMIT_MS = 20_000;

/** Runs the agent of a version until it restarts gw or its release is reported. */
async function runAgent(
  folder: string | null,
  until: (view: ReleaseView) => Promise<boolean> | boolean = isReported,
): Promise<void> {
  const ending = new AbortController();
  let isRestarted = false;
  const agent = createReleaseAgent({
    release: { keyFile: join(dir, 'key.pem'), dir: releases, healthWithinS: 30 },
    storageTrust: () => undefined,
    version: folder ?? '0.1.0',
    launched: { dir: releases, folder },
    clock: systemClock,
    log: silentLog,
    requester: service.requester(),
    topics: { jobs: 'gw/SN-0815/jobs' },
    isMoving: () => false,
    health: () => ({ isHealthy: true, missing: null }),
    restart: () => (isRestarted = true),
    async download(target, { url }) {
      await url({ expired: false });
      try {
        copyFileSync(made.path, target.path);
      } catch (error) {
        throw asGwError(error);
      }
    },
    reserveBytes: 100_000,
    limits: {
      healthyForMs: 50,
      pollMs: 10,
      retry: { firstMs: 20, maxMs: 50 },
      freeBytes: async (path) => {
        const { bavail, bsize } = await statfs(path);
        // Another program may use the space after the check.
        return scenario === 'too small' ? bavail * bsize : 10 ** 9;
      },
    },
  });
  const running = agent.run(ending.signal);
  const endMs = systemClock.monotonicMs() + LIMIT_MS;
  while (!isRestarted && systemClock.monotonicMs() < endMs && !(await until(agent.view()))) await systemClock.sleep(10);
  views.push(agent.view());
  ending.abort();
  await running;
}

async function isReported(): Promise<boolean> {
  return (await readState(releases)).run?.isReported === true;
}

await runAgent(null);
if (scenario === 'full later') {
  fill();
  await runAgent('0.2.0', ({ detail }) => detail.includes('cannot be written'));
  rmSync(filler);
  await runAgent('0.2.0');
}
const job = service.job('job');
process.stdout.write(
  JSON.stringify({
    status: job?.status,
    reason: job?.history.at(-1)?.details.reason ?? null,
    phase: (await readState(releases)).run?.phase,
    names: readdirSync(releases).toSorted(),
    views,
  }),
);
