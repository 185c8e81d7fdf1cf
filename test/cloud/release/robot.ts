import { copyFile, mkdir, readlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createReleaseAgent } from '../../../src/lib/cloud/release/agent.ts';
import type { ReleaseAgentOptions, ReleaseStep } from '../../../src/lib/cloud/release/agent-model.ts';
import { readState } from '../../../src/lib/cloud/release/state.ts';
import { silentLog } from '../../../src/lib/lifecycle/index.ts';
import { createFakeClock } from '../../lifecycle/fake-clock.ts';
import { runProcess } from '../../process.ts';
import { createJobService, type JobService } from './job-service.ts';
import { type MadePackage, makeKeys, scratch } from './packages.ts';

export const bootProgram = new URL('../../../packaging/boot.js', import.meta.url).pathname;
/** Version of the base installation. */
export const BASE = '0.1.0';

/** The document of a release job. */
export function documentOf({ bytes, sha256 }: MadePackage, version: string, more: object = {}) {
  const url = 'https://storage.example.com/package?signature=secret';
  return { schema: 'gw/release-job/1', version, package: { url, bytes, sha256 }, ...more };
}

/** A gateway with a release folder, whose agent runs with a fake clock; a restart is a new agent, as boot.js decides. */
export async function createRobot(change: Partial<ReleaseAgentOptions> = {}) {
  const folder = scratch();
  const dir = join(folder.dir, 'releases');
  const keyFile = join(folder.dir, 'release-key.pem');
  const keys = makeKeys();
  await mkdir(dir);
  await writeFile(keyFile, keys.publicPem);
  const service = createJobService(join(folder.dir, 'jobs.json'));
  const clock = createFakeClock();
  const packages = new Map<string, string>();
  const steps: ReleaseStep[] = [];
  const restarts: string[] = [];
  const robot = {
    moving: false as boolean | null,
    health: { isHealthy: true, missing: null } as { isHealthy: boolean; missing: string | null },
    freeBytes: 10 ** 9,
    launched: { dir, folder: null as string | null } as ReleaseAgentOptions['launched'],
  };
  let current: { agent: ReturnType<typeof createReleaseAgent>; ended: Promise<void>; stop: AbortController } | null =
    null;

  async function stop(): Promise<void> {
    current?.stop.abort(new Error('stopped'));
    // Sleeps end with the signal; work on the disk ends by itself.
    await current?.ended;
    current = null;
  }

  function start(more: Partial<ReleaseAgentOptions> = {}) {
    const ending = new AbortController();
    const version = robot.launched?.folder?.replace(/_\d+$/, '') ?? BASE;
    const agent = createReleaseAgent({
      release: { keyFile, dir, healthWithinS: 180 },
      storageTrust: () => undefined,
      version,
      launched: robot.launched,
      clock,
      log: silentLog,
      requester: service.requester(),
      topics: { jobs: 'gw/SN-0815/jobs' },
      isMoving: () => robot.moving,
      health: () => robot.health,
      restart: (reason) => restarts.push(reason),
      download: async (target, { url, onProgress }) => {
        await url({ expired: false });
        const source = packages.get(target.sha256);
        if (source === undefined) throw new Error('no such package');
        onProgress?.(target.bytes);
        await copyFile(source, target.path);
      },
      reserveBytes: 1_000_000,
      onStep: (step) => void steps.push(step),
      limits: {
        healthyForMs: 5_000,
        pollMs: 500,
        retry: { firstMs: 1_000, maxMs: 60_000 },
        freeBytes: async () => robot.freeBytes,
      },
      ...change,
      ...more,
    });
    current = { agent, ended: agent.run(ending.signal), stop: ending };
    return agent;
  }

  return {
    ...folder,
    dir,
    keyFile,
    keys,
    service: service as JobService,
    clock,
    packages,
    steps,
    restarts,
    robot,
    start,
    stop,
    agent: () => {
      if (current === null) throw new Error('no agent runs');
      return current.agent;
    },
    /** What the launcher does at a start: boot.js decides, then the agent of that version runs. */
    async boot(more: Partial<ReleaseAgentOptions> = {}): Promise<string> {
      await stop();
      const { stdout } = await runProcess(process.execPath, [bootProgram, dir]);
      const [kind = '', name = null] = stdout.trim().split(' ');
      robot.launched = { dir, folder: kind === 'base' ? null : name };
      start(more);
      return stdout.trim();
    },
    /** Advances time until the condition holds, with real pauses for the disk. */
    async until(condition: () => boolean | Promise<boolean>, what = String(condition)): Promise<void> {
      for (let round = 0; round < 3_000; round += 1) {
        if (await condition()) return;
        await clock.advance(100);
        await new Promise((wake) => setTimeout(wake, 1));
      }
      throw new Error(`never: ${what}; ${JSON.stringify(current?.agent.view())}`);
    },
    state: () => readState(dir),
    current: () => readlink(join(dir, 'current')).catch(() => null),
    async [Symbol.asyncDispose]() {
      await stop();
      await folder[Symbol.asyncDispose]();
    },
  };
}
export type Robot = Awaited<ReturnType<typeof createRobot>>;
