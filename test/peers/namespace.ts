import { startProcess } from '../process.ts';

export interface InsideOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Empty by default; null: stays open. */
  readonly input?: string | null;
  /** Node by default. */
  readonly program?: string;
}

/** Runs node inside a namespace; ended by its pid at the end of the scope. */
export function inside(side: string, args: readonly string[], options: InsideOptions = {}) {
  const started = startProcess('ip', ['netns', 'exec', side, options.program ?? process.execPath, ...args], {
    env: { PATH: `${process.env.PATH}:/usr/sbin:/sbin`, NO_COLOR: '1', ...options.env },
    input: options.input === undefined ? '' : options.input,
  });
  return {
    ...started,
    output: started.stdout,
    errors: started.stderr,
    signal: (name: NodeJS.Signals) => void started.child.kill(name),
  };
}

/** Runs node inside a namespace to its end. */
export async function run(side: string, args: readonly string[], options: InsideOptions = {}) {
  await using child = inside(side, args, options);
  return await child.closed;
}
