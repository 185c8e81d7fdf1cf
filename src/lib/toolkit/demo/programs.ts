import { join } from 'node:path';
import type { GwError } from '../../error/index.ts';
import { type Clock, firstOf } from '../../lifecycle/index.ts';
import type { Activity } from './activity.ts';
import { type ChildProgram, startProgram } from './child-program.ts';

export interface ProgramsOptions {
  readonly dir: string;
  /** Program and first arguments of gw itself. */
  readonly gw: readonly [string, ...string[]];
  /** Folder of this installation of gw. */
  readonly root: string;
  /** All of the children's environment. */
  readonly environment: Readonly<Record<string, string>>;
  readonly clock: Clock;
}

const SIM = 'gw sim';
const GATEWAY = 'gw serve';

/** The processes of a demo. Each is awaited for as long as it takes; one that ends by itself breaks the demo. */
export interface Programs {
  /** Resolves with its event 'ready'. */
  startSim(args: readonly string[], activity: Activity): Promise<object>;
  startGateway(sitePath: string, activity: Activity): Promise<void>;
  restartGateway(sitePath: string, activity: Activity): Promise<void>;
  /** Aborted with the error of the first process that ended by itself. */
  readonly broken: AbortSignal;
  /** Why processes ended by themselves, the first one; null: none did. */
  endError(): GwError | null;
  /** Names of those that run, in the order in which they are ended: last the robot. */
  standing(): string[];
  /** Process ids of those that run. */
  pids(): number[];
  /** Resolves when none runs any more. */
  allEnded(): Promise<void>;
  stop(name: string, activity: Activity): Promise<void>;
  /** SIGKILL to all. */
  kill(): void;
}

/** `ending`: aborted when no process is started again. */
export function createPrograms({ dir, gw, root, environment, clock }: ProgramsOptions, ending: AbortSignal): Programs {
  const broken = new AbortController();
  const children: ChildProgram[] = [];
  let starts = 0;
  let firstEnd: GwError | null = null;
  const lastOf = (name: string) => children.findLast((child) => child.name === name);

  function start(name: string, argv: readonly [string, ...string[]], log: string): ChildProgram {
    const child = startProgram({ name, argv, environment, logPath: join(dir, log), clock });
    children.push(child);
    // The demo cannot continue without this process.
    void child.ended.then(() => {
      if (!child.endedByItself || child.has('restarting')) return;
      firstEnd ??= child.endError();
      broken.abort(firstEnd);
    });
    return child;
  }

  /** As the service of the operating system does: by the launcher, and again when gw ends for a release. */
  function serve(sitePath: string): ChildProgram {
    starts += 1;
    const launcher = join(root, 'packaging', 'launch.sh');
    const log = starts === 1 ? 'serve.log' : `serve-${starts}.log`;
    const argv = ['sh', launcher, join(dir, 'releases'), 'serve', '--site', sitePath, '--json'] as const;
    const child = start(GATEWAY, argv, log);
    void child.ended.then(() => {
      const isOver = ending.aborted || broken.signal.aborted;
      if (child.endedByItself && child.has('restarting') && !isOver) serve(sitePath);
    });
    return child;
  }

  async function ready(child: ChildProgram, activity: Activity): Promise<object> {
    activity.begin(`Waiting for ${child.name} to be ready`, child.lastSaid);
    return await child.waitFor('ready', firstOf(ending, broken.signal));
  }

  async function stop(name: string, activity: Activity): Promise<void> {
    const child = lastOf(name);
    if (child === undefined) return;
    activity.begin(`Waiting for ${name} to end`, child.lastSaid);
    await child.stop();
  }

  return {
    startSim: (args, activity) => ready(start(SIM, [...gw, ...args], 'sim.log'), activity),
    async startGateway(sitePath, activity) {
      await ready(serve(sitePath), activity);
    },
    async restartGateway(sitePath, activity) {
      await stop(GATEWAY, activity);
      await ready(serve(sitePath), activity);
    },
    broken: broken.signal,
    endError: () => firstEnd,
    standing: () => [GATEWAY, SIM].filter((name) => lastOf(name)?.hasEnded === false),
    pids: () => children.flatMap(({ pid, hasEnded }) => (pid === undefined || hasEnded ? [] : [pid])),
    async allEnded() {
      await Promise.all(children.map(({ ended }) => ended));
    },
    stop,
    kill() {
      for (const child of children) child.kill();
    },
  };
}
