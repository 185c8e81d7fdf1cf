import { printable } from './output.ts';
import { type Progress, withProgress } from './progress.ts';

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
