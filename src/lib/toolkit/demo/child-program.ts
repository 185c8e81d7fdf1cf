import { spawn } from 'node:child_process';
import { createWriteStream, rmSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { GwError } from '../../error/index.ts';
import { isRecord } from '../../json/index.ts';
import { type Clock, onAbort } from '../../lifecycle/index.ts';
import { shorten } from '../../text/index.ts';
import { endChild, signalGroup } from '../child-process.ts';

export interface ChildProgramOptions {
  /** Name in messages: `gw sim`. */
  readonly name: string;
  /** Program and arguments; never a shell line. */
  readonly argv: readonly [string, ...string[]];
  /** All of the child's environment. */
  readonly environment: Readonly<Record<string, string>>;
  /** Log file for its output; replaced. */
  readonly logPath: string;
  readonly clock: Clock;
}

/** How a child ended. */
interface ChildEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A child process that prints one JSON object per line on stdout and runs until it is stopped. */
export interface ChildProgram extends AsyncDisposable {
  readonly name: string;
  readonly pid: number | undefined;
  /** The first event of this kind, however long it takes. Rejects when the process ends before. */
  waitFor(event: string, signal: AbortSignal): Promise<ChildEvent>;
  /** The last line that it wrote, and where its lines are: for a person who waits for it. */
  lastSaid(): string;
  /** Whether it has printed an event of this kind. */
  has(event: string): boolean;
  /** Resolves when it has ended for any reason. */
  readonly ended: Promise<ChildEnd>;
  readonly hasEnded: boolean;
  /** Whether it ended without `stop` or `kill`. */
  readonly endedByItself: boolean;
  /** The error for an unexpected end, with its last lines. */
  endError(): GwError;
  /** SIGTERM, and SIGKILL for one that hangs; by process id, at most once each. */
  stop(): Promise<ChildEnd>;
  /** SIGKILL at once. */
  kill(): void;
}

type ChildEvent = Readonly<Record<string, unknown>> & { readonly event: string };

/** For a process that hangs: gw ends itself within 5 s of its own time. */
const STOP_WITHIN_MS = 20_000;
const LAST_LINES = 8;
const MAX_SAID_CHARACTERS = 160;

/**
 * Starts a process in a session of its own, so that Ctrl-C at the terminal reaches only gw, which then stops the child
 * in order.
 */
export function startProgram(options: ChildProgramOptions): ChildProgram {
  const { name, clock, logPath, environment } = options;
  const [program, ...args] = options.argv;
  // A new file, so that no link is followed.
  rmSync(logPath, { force: true });
  const log = createWriteStream(logPath, { flags: 'wx', mode: 0o600 });
  // A failed log must not end the child.
  log.on('error', () => {});
  const child = spawn(program, args, { env: environment, stdio: ['ignore', 'pipe', 'pipe'], detached: true });

  const events: ChildEvent[] = [];
  const lastLines: string[] = [];
  const listeners = new Set<() => void>();
  let lastLine = '';
  let isStopping = false;
  let end: ChildEnd | undefined;
  let spawnError: Error | undefined;
  const { promise: ended, resolve: resolveEnded } = Promise.withResolvers<ChildEnd>();
  const notify = () => {
    for (const listener of listeners) listener();
  };

  child.stdout.pipe(log, { end: false });
  child.stderr.pipe(log, { end: false });
  createInterface(child.stdout).on('line', (line) => {
    const event = asEvent(line);
    if (event === undefined) remember(line);
    else {
      lastLine = event.event === 'waiting' ? `it waits for ${event.what}, ${event.ms} ms` : line;
      events.push(event);
      if (events.length > 1_000) events.shift();
      notify();
    }
  });
  createInterface(child.stderr).on('line', remember);
  child.once('error', (error) => {
    spawnError = error;
    finish({ code: null, signal: null });
  });
  child.once('close', (code, signal) => finish({ code, signal }));

  function remember(line: string): void {
    if (line.trim() === '') return;
    lastLine = line;
    lastLines.push(line.slice(0, 500));
    if (lastLines.length > LAST_LINES) lastLines.shift();
  }

  function finish(result: ChildEnd): void {
    if (end) return;
    end = result;
    log.end();
    resolveEnded(result);
    notify();
  }

  function endError(): GwError {
    const how =
      spawnError !== undefined
        ? `could not be started: ${spawnError.message}`
        : end?.signal
          ? `was ended by ${end.signal}`
          : `ended unexpectedly with exit code ${end?.code ?? 'unknown'}`;
    const error = lastError(events);
    const output = error ?? lastLines.join('\n  ');
    return new GwError('PART_ENDED', `${name} ${how}.${output === '' ? '' : ` Last output:\n  ${output}`}`, {
      remedy: `Read its log: ${logPath}`,
      details: { name, exitCode: end?.code ?? null, signal: end?.signal ?? null, lastLines: [...lastLines] },
    });
  }

  async function stop(): Promise<ChildEnd> {
    isStopping = true;
    if (end) return end;
    await endChild(child, clock, STOP_WITHIN_MS);
    return await ended;
  }

  return {
    name,
    pid: child.pid,
    ended,
    get hasEnded() {
      return end !== undefined;
    },
    get endedByItself() {
      return end !== undefined && !isStopping;
    },
    has: (kind) => events.some(({ event }) => event === kind),
    endError,
    stop,
    kill() {
      isStopping = true;
      signalGroup(child, 'SIGKILL');
    },
    lastSaid() {
      const said =
        lastLine === '' ? 'it has written nothing' : `its last line: ${shorten(lastLine, MAX_SAID_CHARACTERS)}`;
      return `${said}; log: ${logPath}`;
    },
    async waitFor(kind, signal) {
      signal.throwIfAborted();
      const { promise, resolve, reject } = Promise.withResolvers<ChildEvent>();
      const check = () => {
        const event = events.find((one) => one.event === kind);
        if (event) resolve(event);
        else if (end) reject(endError());
      };
      listeners.add(check);
      using _aborted = onAbort(signal, () => reject(signal.reason));
      check();
      try {
        return await promise;
      } finally {
        listeners.delete(check);
      }
    },
    async [Symbol.asyncDispose]() {
      await stop();
    },
  };
}

/** The message of the last error event. */
function lastError(events: readonly ChildEvent[]): string | undefined {
  const last = events.findLast((event) => event.event === 'error');
  return typeof last?.message === 'string' ? last.message : undefined;
}

function asEvent(line: string): ChildEvent | undefined {
  try {
    const value: unknown = JSON.parse(line);
    if (!isRecord(value)) return undefined;
    if (typeof value.event === 'string') return { ...value, event: value.event };
    const { error } = value;
    // The envelope of a command that ended with an error.
    return isRecord(error) ? { ...error, event: 'error' } : undefined;
  } catch {
    return undefined;
  }
}
