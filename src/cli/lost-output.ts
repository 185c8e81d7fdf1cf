import { fstatSync, lstatSync, readdirSync, readlinkSync } from 'node:fs';
import { exitCodes } from '../lib/error/index.ts';
import type { Clock } from '../lib/lifecycle/index.ts';

/** How often a command that prints only at a change looks whether its reader is still there. Project decision. */
const CHECK_INTERVAL_MS = 1_000;
const OWN_LINK = '/proc/self/fd/1';
const READABLE = 0o400;

/** Listeners of gw for errors of stdout. */
const own = new Set<unknown>([onError]);
/** Why stdout is lost, as the operating system names it; null: it is not. */
let lost: string | null = null;

/**
 * The end by a lost output, for every command: a reader that is gone (`gw … | head -1`), a full disk, a descriptor that
 * cannot be written. One that is closed (`gw … >&-`) is seen by packaging/gw.sh alone: Node has opened /dev/null there before
 * the first line of gw, as a program that ignores the output does. A short command ends by itself, with its children; one that
 * goes on ends by `onLostOutput`. What is lost on stderr is progress and warnings, and ends nothing here.
 */
export function watchOutput(): void {
  lost = null;
  listen();
}

function listen(): void {
  const { stdout, stderr } = process;
  // That of the framework, whenever it was loaded, throws all but EPIPE, which ends the process at once, with a stack.
  for (const listener of stdout.listeners('error')) {
    if (!own.has(listener)) stdout.off('error', listener as () => void);
  }
  if (stdout.listeners('error').includes(onError)) return;
  stdout.on('error', onError);
  stderr.on('error', () => {});
}

function onError({ code }: NodeJS.ErrnoException): void {
  lost ??= code ?? 'unknown reason';
}

/** At the end of every command: the exit code of a lost output, unless another one says already that it was not fine. */
export async function finishOutput(): Promise<void> {
  // A failed write is reported after this turn.
  await new Promise((resolve) => setImmediate(resolve));
  if (lost === null) return;
  if (lost !== 'EPIPE') process.stderr.write(`gw: stdout cannot be written (${lost}); the output is not complete\n`);
  const code = process.exitCode ?? exitCodes.ok;
  if (code === exitCodes.ok || code === exitCodes.interrupted) process.exitCode = exitCodes.outputLost;
}

/** Calls back when a write to stdout fails; with a clock, for a command that may print nothing for long, also before. */
export function onLostOutput(work: () => void, looksBy?: Pick<Clock, 'every'>): Disposable {
  own.add(work);
  listen();
  process.stdout.on('error', work);
  const looking = looksBy && followReader(looksBy, () => process.stdout.emit('error', { code: 'EPIPE' }));
  return {
    [Symbol.dispose]() {
      process.stdout.off('error', work);
      own.delete(work);
      looking?.[Symbol.dispose]();
    },
  };
}

/**
 * Node notices the end of a reader only when it writes. Linux shows who holds the other end of a pipe, as far as this user
 * may see: a reader that was seen once, and after which none is seen, is gone. Of one that was never seen nothing follows.
 */
function followReader(clock: Pick<Clock, 'every'>, onGone: () => void): Disposable | undefined {
  const pipe = pipeOfStdout();
  let reader = pipe === null ? null : readerOf(pipe);
  if (pipe === null || reader === null) return undefined;
  const looking = clock.every(CHECK_INTERVAL_MS, () => {
    if (reader !== null && isReader(reader, pipe)) return;
    reader = readerOf(pipe);
    if (reader !== null) return;
    looking[Symbol.dispose]();
    onGone();
  });
  return looking;
}

/** The name by which Linux shows it for each process that has it open; null: stdout is none. */
function pipeOfStdout(): string | null {
  try {
    return fstatSync(1).isFIFO() ? readlinkSync(OWN_LINK) : null;
  } catch {
    return null;
  }
}

function readerOf(pipe: string): string | null {
  for (const process of entries('/proc').filter((name) => /^\d+$/.test(name))) {
    const folder = `/proc/${process}/fd`;
    const found = entries(folder).find((name) => isReader(`${folder}/${name}`, pipe));
    if (found !== undefined) return `${folder}/${found}`;
  }
  return null;
}

function isReader(descriptor: string, pipe: string): boolean {
  try {
    return readlinkSync(descriptor) === pipe && (lstatSync(descriptor).mode & READABLE) !== 0;
  } catch {
    return false;
  }
}

function entries(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
