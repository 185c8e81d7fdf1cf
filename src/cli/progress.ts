import { chalkStderr } from 'chalk';
import ora from 'ora';
import { forStderr, isStderrColoured } from './colour.ts';
import { printable } from './output.ts';

/** Progress on stderr: a spinner at a terminal, plain lines elsewhere, nothing when quiet. */
export interface Progress {
  /** Sets the text of the spinner. */
  say(text: string): void;
  /** Prints a line where there is no spinner. */
  line(text: string): void;
  stop(): void;
}

/**
 * Runs `work` with a progress display, and clears it afterwards. A function and not a disposable: the compiler does not
 * rewrite the extensions of lazy imports in a function that has a `using`.
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
  // discardStdin would swallow the Ctrl-C of an orderly end.
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
 * Whether lines can be redrawn on this stream. A terminal without a known width, such as a serial console, reports 0
 * columns, with which a spinner would loop for ever.
 */
export function canRedraw(stream: { readonly isTTY?: boolean; readonly columns?: number }): boolean {
  return stream.isTTY === true && stream.columns !== 0;
}

/**
 * Reports progress: as a spinner at a terminal, elsewhere as one line per stage. Two texts are the same stage if only
 * their numbers differ.
 */
export function createStageReporter(progress: Pick<Progress, 'say' | 'line'>): (text: string) => void {
  let stage = '';
  return (text) => {
    const safe = printable(text);
    progress.say(safe);
    const now = safe.replace(/\d+/g, '0');
    if (now !== stage) progress.line(safe);
    stage = now;
  };
}

/** Runs work with progress on stderr, and clears the spinner afterwards. */
export function withStages<T>(
  options: { readonly quiet: boolean },
  work: (onProgress: (text: string) => void) => Promise<T>,
): Promise<T> {
  return withProgress(options, (progress) => work(createStageReporter(progress)));
}
