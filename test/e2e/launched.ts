import { join } from 'node:path';
import { type Started, startProcess } from '../process.ts';
import type { Running } from './gw.ts';

export interface LaunchedOptions {
  /** Folder of the base installation. */
  readonly root: string;
  readonly releasesDir: string;
  readonly sitePath: string;
}

/**
 * `gw serve` as the service of the operating system runs it: by the launcher, and again when it ends for a release. Ready
 * when it returns.
 */
export async function startLaunched({ root, releasesDir, sitePath }: LaunchedOptions): Promise<Running> {
  const { PATH = '', HOME = '' } = process.env;
  const words = [join(root, 'packaging', 'launch.sh'), releasesDir, 'serve', '--site', sitePath, '--json'];
  let isEnding = false;
  let current: Started;
  const start = () => {
    const started = startProcess('sh', words, { input: null, env: { PATH, HOME, NO_COLOR: '1' } });
    current = started;
    void started.closed.then(({ stdout }) => {
      if (!isEnding && stdout.includes('"event":"restarting"')) start();
    });
    return started;
  };
  current = start();
  await current.untilOutput('"event":"ready"');
  const end = async (signal: NodeJS.Signals = 'SIGTERM') => {
    isEnding = true;
    const ending = current;
    if (!ending.hasEnded()) ending.child.kill(signal);
    return await ending.closed;
  };
  return {
    get child() {
      return current.child;
    },
    stdout: () => current.stdout(),
    stderr: () => current.stderr(),
    untilOutput: (text) => current.untilOutput(text),
    end,
    async [Symbol.asyncDispose]() {
      isEnding = true;
      await current[Symbol.asyncDispose]();
    },
  };
}
