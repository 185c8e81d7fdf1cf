import { GwError } from '../lib/error/index.ts';
import { firstOf, onAbort } from '../lib/lifecycle/index.ts';
import type { Toolkit } from '../lib/toolkit/index.ts';
import type { GwCommand } from './command.ts';
import { onLostOutput } from './lost-output.ts';
import { printable } from './output.ts';
import { createProgress, createStageReporter } from './progress.ts';
import type { Losses } from './ssh-options.ts';

/** Context of work that must not be aborted in the middle. */
export interface CarefulContext {
  /** Aborted by Ctrl-C, SIGTERM, and when the terminal is gone. The work completes what it has started. */
  readonly signal: AbortSignal;
  readonly onProgress: (text: string) => void;
  /** Prints the backup file, also with --json. */
  readonly onSafetyBackup: (file: string) => void;
  /** Stops the progress line, so that a question can be printed. */
  readonly quieten: () => void;
}

/** Printed on an interruption while a write must still be read back. */
const READ_BACK =
  'Interrupted. Completing and verifying the started write, within about a minute; a second Ctrl-C exits at once and leaves the state unknown.';

/**
 * Runs work that changes a robot: Ctrl-C and a lost terminal abort its signal and print what happens next; a second
 * Ctrl-C ends the process at once. Progress goes to stderr, each stage as a line where there is no terminal.
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
  /** A permanent line, also with --json; the progress line continues below it. */
  const say = (text: string) => {
    progress.stop();
    process.stderr.write(`${text}\n`);
    progress = createProgress({ quiet });
  };
  const whole = firstOf(signal, gone.signal);
  const terminal = surviveTerminalLoss(() => {
    gone.abort(new GwError('INTERRUPTED', 'The terminal was lost.'));
  });
  using _aborted = onAbort(whole, () => say(interrupted));
  const onProgress = createStageReporter({
    say: (text) => progress.say(text),
    line: (text) => progress.line(text),
  });
  const onSafetyBackup = (file: string) => say(`Backup of the present state: ${printable(file)}`);
  try {
    return await work({ signal: whole, onProgress, onSafetyBackup, quieten: () => progress.stop() });
  } finally {
    terminal.end();
    progress.stop();
  }
}

/**
 * Changes the maps or the software of a chassis. Once something was written, a lost SSH connection is a result, with a
 * warning.
 */
export async function changeCarefully<T>(
  command: GwCommand<object>,
  flags: { readonly site: string; readonly via?: string | undefined },
  work: (toolkit: Toolkit, careful: CarefulContext) => Promise<T>,
  ifLost?: Losses['ifLost'],
): Promise<{ readonly data: T; readonly lost: GwError | undefined }> {
  let lost: GwError | undefined;
  const onLost = (loss: GwError) => {
    lost = loss;
    command.warn(loss.message);
  };
  const data = await command.withToolkit(
    flags,
    (toolkit, signal) => runCarefully({ quiet: command.isQuiet, signal }, (careful) => work(toolkit, careful)),
    { onLost, ifLost },
  );
  return { data, lost };
}

/**
 * Keeps a command alive after the loss of its terminal: a lost SSH session sends SIGHUP and makes later writes fail, and
 * neither may interrupt a change half-way. Calls back once.
 */
function surviveTerminalLoss(onLoss: () => void): { end(): void } {
  let lost = false;
  const onSign = () => {
    if (!lost) onLoss();
    lost = true;
  };
  process.on('SIGHUP', onSign);
  const output = onLostOutput(onSign);
  process.stderr.on('error', onSign);
  return {
    end() {
      process.off('SIGHUP', onSign);
      process.stderr.off('error', onSign);
      output[Symbol.dispose]();
    },
  };
}
