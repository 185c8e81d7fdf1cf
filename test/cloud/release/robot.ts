import { copyFileSync, rmSync } from 'node:fs';
import { copyFile, mkdir, readlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { createReleaseAgent } from '../../../src/lib/cloud/release/agent.ts';
import type { ReleaseAgentOptions, ReleaseStep } from '../../../src/lib/cloud/release/agent-model.ts';
import { readState } from '../../../src/lib/cloud/release/state.ts';
import { silentLog } from '../../../src/lib/lifecycle/index.ts';
import { createFakeClock } from '../../lifecycle/fake-clock.ts';
import { settled } from '../../story/in-flight.ts';
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

let boots = 0;

/**
 * What boot.js prints for a release folder. It decides while it is loaded, so a new copy of it is loaded here, which
 * takes a fraction of the time of a process of its own.
 */
export function runBoot(dir: string): string {
  const copy = join(dir, `../boot-${++boots}.mjs`);
  copyFileSync(bootProgram, copy);
  const { argv, stdout, stderr } = process;
  const { write } = stdout;
  const { write: writeError } = stderr;
  let printed = '';
  process.argv = [argv[0] ?? '', copy, dir];
  stdout.write = (text: unknown) => {
    printed += text;
    return true;
  };
  stderr.write = () => true;
  try {
    createRequire(import.meta.url)(copy);
  } finally {
    process.argv = argv;
    stdout.write = write;
    stderr.write = writeError;
    rmSync(copy);
  }
  return printed.trim();
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
  // Time does not pass while the disk is at work.
  const clock = createFakeClock({ settled });
  const packages = new Map<string, string>();
  const steps: ReleaseStep[] = [];
  const restarts: string[] = [];
  const robot = {
    moving: false as boolean | null,
    health: { isHealthy: true, missing: null } as { isHealthy: boolean; missing: string | null },
    freeBytes: 10 ** 9,
    launched: { dir, folder: null as string | null } as ReleaseAgentOptions['launched'],
  };
  interface Life {
    readonly agent: ReturnType<typeof createReleaseAgent>;
    readonly ended: Promise<void>;
    readonly stop: AbortController;
  }
  let current: Life | null = null;
  const crashed: Life[] = [];
  const { promise: powerCut, reject: endPowerCut } = Promise.withResolvers<never>();
  powerCut.catch(() => {});

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
      ...{ version, launched: robot.launched, clock, log: silentLog, requester: service.requester() },
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

  async function until(condition: () => boolean | Promise<boolean>, what = String(condition)): Promise<void> {
    for (let steps = 0; steps < 5_000; steps += 1) {
      if (await condition()) return;
      await clock.step(1_000);
    }
    throw new Error(`never: ${what}; ${JSON.stringify(current?.agent.view())}`);
  }

  return {
    ...folder,
    ...{ dir, keyFile, keys, service: service as JobService, clock, packages, steps, restarts, robot, start, stop },
    agent: () => {
      if (current === null) throw new Error('no agent runs');
      return current.agent;
    },
    /** A step that waits for it goes on no more. */
    powerCut,
    /** Leaves the running version as it is, in a step that waits for `powerCut`. */
    crash() {
      if (current !== null) crashed.push(current);
      current = null;
    },
    /** What the launcher does at a start: boot.js decides, then the agent of that version runs. */
    async boot(more: Partial<ReleaseAgentOptions> = {}): Promise<string> {
      await stop();
      const printed = runBoot(dir);
      const [kind = '', name = null] = printed.split(' ');
      robot.launched = { dir, folder: kind === 'base' ? null : name };
      start(more);
      return printed;
    },
    until,
    /** Until the agent has asked for so many restarts. */
    restarted: (count = 1) => until(() => restarts.length >= count, 'a restart'),
    reported: () => until(() => current?.agent.view().run?.isReported === true, 'a report'),
    state: () => readState(dir),
    current: () => readlink(join(dir, 'current')).catch(() => null),
    async [Symbol.asyncDispose]() {
      await stop();
      for (const life of crashed) life.stop.abort(new Error('over'));
      endPowerCut(new Error('over'));
      await Promise.all(crashed.map(({ ended }) => ended));
      await folder[Symbol.asyncDispose]();
    },
  };
}
export type Robot = Awaited<ReturnType<typeof createRobot>>;
