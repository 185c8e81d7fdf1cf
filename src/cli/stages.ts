import { printable } from './output.ts';
import { type Progress, withProgress } from './progress.ts';

/**
 * Tells each stage: a moving line at a terminal; elsewhere one line a stage, and not one for every percent of it. Two
 * texts are the same stage when only their numbers differ.
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

/** Runs work whose stages are told on stderr, and clears the moving line afterwards. */
export function withStages<T>(
  options: { readonly quiet: boolean },
  work: (onProgress: (text: string) => void) => Promise<T>,
): Promise<T> {
  return withProgress(options, (progress) => work(createStageReporter(progress)));
}
