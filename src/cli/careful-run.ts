import { GwError } from '../lib/error/index.ts';
import { firstOf, onAbort } from '../lib/lifecycle/index.ts';
import { printable } from './output.ts';
import { createProgress } from './progress.ts';
import { surviveTerminalLoss } from './terminal-loss.ts';

/** Context of work that must not be interrupted half-way. */
export interface CarefulContext {
  /** Aborted by Ctrl-C, SIGTERM, and the loss of the terminal. The work completes its current change. */
  readonly signal: AbortSignal;
  readonly onProgress: (text: string) => void;
  /** Prints the path of the backup to stderr, also with --json. */
  readonly onSafetyBackup: (file: string) => void;
  /** Stops the spinner before a question. */
  readonly quieten: () => void;
}

/** Printed on an interruption while a write must still be read back. */
const READ_BACK =
  'Interrupted. The current change on the robot is completed and read back first, within about a minute; a second Ctrl-C ends at once and leaves its state unknown.';

/**
 * Runs work that changes a robot: Ctrl-C and the loss of the terminal abort its signal and print what happens next; a
 * second Ctrl-C ends the process at once. Progress goes to stderr, without a terminal as one line per stage.
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
  /** Prints a permanent line, also with --json; the spinner continues below it. */
  const say = (text: string) => {
    progress.stop();
    process.stderr.write(`${text}\n`);
    progress = createProgress({ quiet });
  };
  const whole = firstOf(signal, gone.signal);
  const terminal = surviveTerminalLoss(() => {
    gone.abort(new GwError('INTERRUPTED', 'Terminal lost.'));
  });
  using _aborted = onAbort(whole, () => say(interrupted));
  const printed = new Set<string>();
  const onProgress = (text: string) => {
    progress.say(printable(text));
    // Without a terminal each stage is printed once, not with every changed number.
    const stage = text.replace(/\d+/g, '');
    if (!printed.has(stage)) progress.line(printable(text));
    printed.add(stage);
  };
  const onSafetyBackup = (file: string) => say(`Backup of the current state: ${printable(file)}`);
  try {
    return await work({ signal: whole, onProgress, onSafetyBackup, quieten: () => progress.stop() });
  } finally {
    terminal.end();
    progress.stop();
  }
}
