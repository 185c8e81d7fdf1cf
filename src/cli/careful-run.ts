import { GwError } from '../lib/error/index.ts';
import { firstOf, onAbort } from '../lib/lifecycle/index.ts';
import { printable } from './output.ts';
import { createProgress } from './progress.ts';
import { surviveTerminalLoss } from './terminal-loss.ts';

/** What something gets that must not be cut in the middle. */
export interface CarefulContext {
  /** Aborted by Ctrl-C, SIGTERM, and when the terminal is gone. The work ends what it has begun. */
  readonly signal: AbortSignal;
  readonly onProgress: (text: string) => void;
  /** Tells the file that keeps the state of before, also with --json: nobody may lose sight of it. */
  readonly onSafetyBackup: (file: string) => void;
  /** Ends the moving line, so that a person can be asked. */
  readonly quieten: () => void;
}

/** The text for an interruption that must wait for writes to be read back. */
const READ_BACK =
  'Interrupted. What was begun on the robot is read back and finished first, within about a minute; a second Ctrl-C ends at once and leaves it unknown.';

/**
 * Runs work that changes a robot: Ctrl-C and a lost terminal ask it to end and are answered with what happens then;
 * a second Ctrl-C ends the process at once. Progress goes to stderr, each stage as a line where there is no terminal.
 */
export async function runCarefully<T>(
  {
    quiet,
    signal,
    interrupted = READ_BACK,
  }: { readonly quiet: boolean; readonly signal: AbortSignal; readonly interrupted?: string },
  work: (context: CarefulContext) => Promise<T>,
): Promise<T> {
  const gone = new AbortController();
  let progress = createProgress({ quiet });
  /** A line that stays, also with --json; the moving line goes on below it. */
  const say = (text: string) => {
    progress.stop();
    process.stderr.write(`${text}\n`);
    progress = createProgress({ quiet });
  };
  const whole = firstOf(signal, gone.signal);
  const terminal = surviveTerminalLoss(() => {
    gone.abort(new GwError('INTERRUPTED', 'The terminal is gone.'));
  });
  using _aborted = onAbort(whole, () => say(interrupted));
  const told = new Set<string>();
  const onProgress = (text: string) => {
    progress.say(printable(text));
    // Without a terminal each stage is told once, not with every second that passes.
    const stage = text.replace(/\d+/g, '');
    if (!told.has(stage)) progress.line(printable(text));
    told.add(stage);
  };
  const onSafetyBackup = (file: string) => say(`The present state is kept in ${printable(file)}`);
  try {
    return await work({ signal: whole, onProgress, onSafetyBackup, quieten: () => progress.stop() });
  } finally {
    terminal.end();
    progress.stop();
  }
}
