import chalk from 'chalk';
import ora from 'ora';

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
  const moving = !quiet && process.stderr.isTTY === true;
  // discardStdin would swallow the Ctrl-C that ends us in order.
  const spinner = moving ? ora({ stream: process.stderr, discardStdin: false }).start() : undefined;
  return {
    say(text) {
      if (spinner) spinner.text = chalk.dim(text);
    },
    line(text) {
      if (!quiet && !spinner) process.stderr.write(`${text}\n`);
    },
    stop() {
      spinner?.stop();
    },
  };
}
