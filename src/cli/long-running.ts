import type { ZodType } from 'zod';
import { asGwError, type ErrorJson, exitCodes, GwError } from '../lib/error/index.ts';
import { GwCommand } from './command.ts';
import { createScreen } from './screen.ts';

/** So long may an orderly end take after the first signal, in milliseconds. */
const END_WITHIN_MS = 4_900;

/**
 * Base of commands that run until somebody stops them. What happens is told as it happens with `emit`: one line of
 * text by `render`, or one JSON object a line with --json. The data that `execute` gives in the end is the last
 * event; an error is a last line too, in the envelope of the other commands. Either way stdout stays lines.
 *
 * The first SIGINT, SIGTERM or SIGHUP aborts `this.signal`; a second one of any kind ends the process at once, and
 * so does an end that takes longer than 5 seconds. An error that nobody caught ends the command in the same orderly
 * way, with the exit code of a bug of ours.
 */
export abstract class LongRunningCommand<E extends object> extends GwCommand<E> {
  readonly #ending = new AbortController();
  #outputClosed = false;

  /** Aborted by the first signal, and when nobody reads stdout any more. */
  protected override get signal(): AbortSignal {
    return this.#ending.signal;
  }

  /** Tells one event on stdout. An event whose text is empty is told to programs only. */
  protected emit(event: E): void {
    if (this.#outputClosed) return;
    if (this.jsonEnabled()) this.printEvent(event);
    else {
      const text = this.render(event);
      if (text !== '') this.writeOut(text);
    }
  }

  /** Whether what is told replaces what was told before: at a terminal that nobody reads as JSON. */
  protected get redraws(): boolean {
    return !this.jsonEnabled() && process.stdout.isTTY === true;
  }

  /** Redraws each view in place where this command redraws, and tells it as an event elsewhere. */
  protected async shown<V extends E, R>(
    draw: (view: V) => string,
    work: (onView: (view: V) => void) => Promise<R>,
  ): Promise<R> {
    const screen = this.redraws ? createScreen(process.stdout) : undefined;
    try {
      return await work((view) => {
        if (screen) screen.draw(draw(view));
        else this.emit(view);
      });
    } finally {
      screen?.end();
    }
  }

  /** The reader of stdout is gone (`gw chassis watch | head`). Ends the command; a daemon overrides it and goes on. */
  protected outputClosed(): void {
    this.#ending.abort();
  }

  /** Runs this very command on the machine of --via, with the gw there, and tells its events as they come. */
  protected async followThere(
    via: string,
    shape: ZodType<E>,
    events: { readonly onEvent: (event: E) => void; readonly isLast: (event: E) => boolean },
  ): Promise<E> {
    const { remoteArguments, followRemoteGw } = await import('../lib/toolkit/remote-run.ts');
    const words = remoteArguments(this.id ?? '', this.argv);
    const { throughVia } = await import('./via.ts');
    return await throughVia(via, { signal: this.signal }, (ssh, signal) =>
      followRemoteGw(ssh, words, { ...this.farOptions(shape), signal }, events),
    );
  }

  override async run(): Promise<void> {
    let asked = false;
    let crash: { readonly error: unknown } | undefined;
    const end = () => {
      asked = true;
      this.#ending.abort();
      const late = () => {
        this.writeErr(`gw: did not end within ${END_WITHIN_MS} ms and is ended by force`);
        process.exit(exitCodes.internal);
      };
      setTimeout(late, END_WITHIN_MS).unref();
    };
    const onSignal = () => {
      if (asked) process.exit(exitCodes.interrupted);
      end();
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
    const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
    for (const name of signals) process.on(name, onSignal);
    process.on('uncaughtException', onCrash);
    process.stdout.on('error', onOutputError);
    // A log that nobody reads any more is lost, no more than that.
    process.stderr.on('error', () => {});
    try {
      await super.run();
    } catch (error) {
      if (!crash) throw error;
    } finally {
      for (const name of signals) process.off(name, onSignal);
      process.off('uncaughtException', onCrash);
    }
    if (crash) throw bugOf(crash.error);
  }

  protected override async print(data: E | null, ok: boolean, error: ErrorJson | null): Promise<void> {
    if (error !== null) this.printEvent(this.envelope(null, ok, error));
    else if (data !== null) this.emit(data);
  }
}

/** Whatever nobody caught is a bug of ours, even when it is an error of another code. */
function bugOf(error: unknown): GwError {
  const known = asGwError(error);
  if (known.code === 'INTERNAL') return known;
  return new GwError('INTERNAL', known.message, { tried: known.tried, details: known.details, cause: error });
}
