import { stripVTControlCharacters } from 'node:util';
import type { ZodType } from 'zod';
import { asGwError, type ErrorJson, exitCodes, GwError } from '../lib/error/index.ts';
import { type Clock, systemClock } from '../lib/lifecycle/index.ts';
import { shorten } from '../lib/text/index.ts';
import { GwCommand } from './command.ts';
import { onLostOutput } from './lost-output.ts';
import { reflow, widthOf } from './wrap.ts';

/** The output of a screen: a terminal, or a list in a test. */
interface ScreenOutput {
  readonly columns?: number | undefined;
  readonly rows?: number | undefined;
  write(text: string): unknown;
}

const ESC = '\u001b[';
const HIDE_CURSOR = `${ESC}?25l`;
const SHOW_CURSOR = `${ESC}?25h`;
/** Synchronized output: supporting terminals show the lines between the two at once. */
const BEGIN = `${ESC}?2026h`;
const END = `${ESC}?2026l`;

/**
 * Redraws a few lines in place without flicker: each line is overwritten and cleared behind its end, all in one write.
 * The last lines stay at the end.
 */
export function createScreen(output: ScreenOutput) {
  let shownLines = 0;
  return {
    show(text: string): void {
      const columns = Math.max(20, output.columns ?? 80);
      // One row stays free, since a full screen would scroll with every redraw.
      const lines = reflow(text, columns - 1)
        .split('\n')
        .slice(0, Math.max(1, (output.rows ?? 24) - 1));
      const up = shownLines > 0 ? `${ESC}${shownLines}A\r` : HIDE_CURSOR;
      const body = lines.map((line) => `${clip(line, columns)}${ESC}K\n`).join('');
      output.write(`${BEGIN}${up}${body}${ESC}J${END}`);
      shownLines = lines.length;
    },
    end(): void {
      if (shownLines > 0) output.write(SHOW_CURSOR);
      shownLines = 0;
    },
  };
}

/** Truncates a line that would wrap; also removes its colours, so that no escape sequence is cut. */
function clip(line: string, columns: number): string {
  const plain = stripVTControlCharacters(line);
  const shown = shorten(plain, columns - 1);
  return shown === plain ? line : shown;
}

/** Deadline of an orderly end after the first signal, in milliseconds. */
const END_WITHIN_MS = 4_900;

/** Signals within this time are one request: a launcher passes on what its process group received as well. */
const SAME_REQUEST_MS = 250;

/**
 * Signals of people and programs that would end the process without order, while a robot drives on. Not among them: those
 * of a fault (SIGSEGV), and SIGPROF, which the profiler of Node uses.
 */
export const endingSignals = [
  ...(['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGABRT', 'SIGALRM', 'SIGUSR2', 'SIGVTALRM', 'SIGIO'] as const),
  ...(['SIGPWR', 'SIGSTKFLT', 'SIGXCPU', 'SIGSYS'] as const),
];

/**
 * Base of commands that run until they are stopped. `emit` prints an event: one line of text by `render`, or with --json
 * one JSON object per line. The result of `execute` is the last event; with --json an error is the last line, in the
 * envelope of the other commands.
 *
 * The first of `endingSignals` aborts `this.signal`; a later one of any kind ends the process at once, and
 * so does an end that takes longer than 5 seconds. An uncaught error ends the command in the same orderly way, with the
 * exit code of an internal error.
 */
export abstract class LongRunningCommand<E extends object> extends GwCommand<E> {
  /** Of the deadline of an orderly end. */
  protected readonly clock: Pick<Clock, 'monotonicMs' | 'after'> = systemClock;
  readonly #ending = new AbortController();
  #outputClosed = false;

  /** Aborted by the first signal, and when the reader of stdout is gone. */
  override get signal(): AbortSignal {
    return this.#ending.signal;
  }

  /** Prints one event on stdout. An event with empty text is printed with --json only. */
  protected emit(event: E): void {
    if (this.#outputClosed) return;
    if (this.jsonEnabled()) this.printEvent(event);
    else {
      const text = this.render(event);
      if (text !== '') this.writeOut(reflow(text, widthOf(process.stdout)));
    }
  }

  /** Whether views replace each other in place: at a terminal without --json. */
  protected get redraws(): boolean {
    return !this.jsonEnabled() && process.stdout.isTTY === true;
  }

  /** Redraws each view in place where `redraws` is true, and emits it as an event elsewhere. */
  protected async shown<V extends E, R>(
    renderView: (view: V) => string,
    work: (onView: (view: V) => void) => Promise<R>,
  ): Promise<R> {
    const screen = this.redraws ? createScreen(process.stdout) : undefined;
    try {
      return await work((view) => {
        if (screen) screen.show(renderView(view));
        else this.emit(view);
      });
    } finally {
      screen?.end();
    }
  }

  /** Called when the reader of stdout is gone (`gw chassis watch | head`). Ends the command; a daemon overrides it. */
  protected outputClosed(): void {
    this.#ending.abort();
  }

  /** Runs this command on the remote host of --via with its gw, and forwards its events. */
  protected async followThere(
    via: string,
    shape: ZodType<E>,
    events: { readonly onEvent: (event: E) => void; readonly isLast: (event: E) => boolean },
  ): Promise<E> {
    const { remoteArguments, followRemoteGw } = await import('../lib/toolkit/remote-run.ts');
    const words = remoteArguments(this.id ?? '', this.argv);
    const { throughVia } = await import('./ssh-options.ts');
    return await throughVia(via, { signal: this.signal }, (ssh, signal) =>
      followRemoteGw(ssh, words, { ...this.farOptions(shape), signal }, events),
    );
  }

  override async run(): Promise<void> {
    let asked = false;
    let askedAtMs = 0;
    let crash: { readonly error: unknown } | undefined;
    const end = () => {
      asked = true;
      askedAtMs = this.clock.monotonicMs();
      this.#ending.abort();
      const late = () => {
        this.writeErr(`gw: did not end within ${END_WITHIN_MS} ms; terminated`);
        process.exit(exitCodes.internal);
      };
      this.clock.after(END_WITHIN_MS, late);
    };
    const onSignal = () => {
      if (!asked) end();
      else if (this.clock.monotonicMs() - askedAtMs > SAME_REQUEST_MS) process.exit(exitCodes.interrupted);
    };
    const onCrash = (error: unknown) => {
      if (crash) process.exit(exitCodes.internal);
      crash = { error };
      if (!asked) end();
    };
    const onOutputError = () => {
      if (this.#outputClosed) return;
      this.#outputClosed = true;
      this.outputClosed();
    };
    for (const name of endingSignals) process.on(name, onSignal);
    process.on('uncaughtException', onCrash);
    const output = onLostOutput(onOutputError, systemClock);
    try {
      await super.run();
    } catch (error) {
      if (!crash) throw error;
    } finally {
      for (const name of endingSignals) process.off(name, onSignal);
      process.off('uncaughtException', onCrash);
      output[Symbol.dispose]();
    }
    if (crash) throw internalError(crash.error);
  }

  protected override async print(data: E | null, ok: boolean, error: ErrorJson | null): Promise<void> {
    if (error !== null) this.printEvent(this.envelope(null, ok, error));
    else if (data !== null) this.emit(data);
  }
}

/** Every uncaught error is an internal error, even with another code. */
function internalError(error: unknown): GwError {
  const known = asGwError(error);
  if (known.code === 'INTERNAL') return known;
  return new GwError('INTERNAL', known.message, { tried: known.tried, details: known.details, cause: error });
}
