import { chalkStderr } from 'chalk';
import ora from 'ora';
import { forStderr, isStderrColoured } from './colour.ts';

/** What happens now, on stderr: a moving line at a terminal, plain lines elsewhere, nothing when quiet. */
export interface Progress {
  /** Replaces the moving line. */
  say(text: string): void;
  /** Leaves a line where there is no terminal; at one, the result on stdout says it all. */
  line(text: string): void;
  stop(): void;
}

/**
 * Runs `work` with a way to tell what happens, and clears the moving line afterwards. A function and not a
 * disposable: the compiler does not rewrite the endings of lazy imports in a function that has a `using`.
 */
export async function withProgress<T>(
  options: { readonly quiet: boolean },
  work: (progress: Progress) => Promise<T>,
): Promise<T> {
  const progress = createProgress(options);
  try {
    return await work(progress);
  } finally {
    progress.stop();
  }
}

export function createProgress({ quiet }: { readonly quiet: boolean }): Progress {
  const moving = !quiet && canRedraw(process.stderr);
  // discardStdin would swallow the Ctrl-C that ends us in order.
  const spinner = moving
    ? ora({ stream: process.stderr, discardStdin: false, color: isStderrColoured() ? 'cyan' : false }).start()
    : undefined;
  return {
    say(text) {
      if (spinner) spinner.text = chalkStderr.dim(text);
    },
    line(text) {
      if (!quiet && !spinner) process.stderr.write(forStderr(`${text}\n`));
    },
    stop() {
      spinner?.stop();
    },
  };
}

/**
 * Whether lines can be drawn over on this stream. A terminal that tells no width, as serial consoles do, says that it
 * has 0 columns: a spinner would reckon that its line is endless, and never come back from clearing it.
 */
export function canRedraw(stream: { readonly isTTY?: boolean; readonly columns?: number }): boolean {
  return stream.isTTY === true && stream.columns !== 0;
}
