import { appendFileSync, copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createReleaseAgent } from '../../../src/lib/cloud/release/agent.ts';
import type { ReleaseStep } from '../../../src/lib/cloud/release/agent-model.ts';
import { readState } from '../../../src/lib/cloud/release/state.ts';
import { silentLog, systemClock } from '../../../src/lib/lifecycle/index.ts';
import { createJobService } from './job-service.ts';

/** What the processes of one test share. */
export interface ChildWorld {
  readonly dir: string;
  readonly keyFile: string;
  readonly jobs: string;
  readonly packages: Readonly<Record<string, string>>;
  readonly healthWithinS: number;
  /** Killed after this step, once; null: never. */
  readonly killAt: ReleaseStep | null;
  /** A file that exists once it was killed. */
  readonly killed: string;
  /** A file with a line for each step. */
  readonly steps: string;
}

/** Called by bin/run.js of each version: runs the agent until its last release has ended and is reported. */
export async function runVersion(version: string, isHealthy: boolean): Promise<void> {
  const world: ChildWorld = JSON.parse(readFileSync(process.env.GW_TEST_WORLD ?? '', 'utf8'));
  const { dir, keyFile, healthWithinS } = world;
  const ending = new AbortController();
  const agent = createReleaseAgent({
    release: { keyFile, dir, healthWithinS },
    storageTrust: () => undefined,
    version,
    launched: { dir: process.env.GW_RELEASES ?? '', folder: process.env.GW_RELEASE || null },
    clock: systemClock,
    log: { ...silentLog, error: (fields) => process.stderr.write(`${JSON.stringify(fields)}\n`) },
    requester: createJobService(world.jobs).requester(),
    topics: { jobs: 'gw/SN-0815/jobs' },
    isMoving: () => false,
    health: () => (isHealthy ? { isHealthy, missing: null } : { isHealthy, missing: 'the cloud link' }),
    restart: () => process.exit(0),
    async download(target, { url }) {
      await url({ expired: false });
      copyFileSync(world.packages[target.sha256] ?? '', target.path);
    },
    reserveBytes: 0,
    async onStep(step) {
      appendFileSync(world.steps, `${step}\n`);
      if (step !== world.killAt || existsSync(world.killed)) return;
      writeFileSync(world.killed, step);
      process.kill(process.pid, 'SIGKILL');
      await new Promise(() => {});
    },
    limits: { healthyForMs: 30, pollMs: 5, retry: { firstMs: 20, maxMs: 50 }, freeBytes: async () => 10 ** 9 },
  });
  const running = agent.run(ending.signal);
  for (;;) {
    const { run } = await readState(dir);
    if (run?.isReported === true) break;
    await systemClock.sleep(10);
  }
  ending.abort();
  await running;
  process.stdout.write(`settled ${version}\n`);
}
