import { spawn } from 'node:child_process';
import { GwError, systemReason } from '../../error/index.ts';
import { onAbort } from '../../lifecycle/index.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import { NOT_CHECKED, type NotChecked, THIS_MACHINE, textOf } from './place.ts';

export interface CommandOptions {
  /** Program with an absolute path, and its arguments. */
  readonly argv: readonly string[];
  readonly timeoutS: number;
}

/** Result of the check `command`. */
export interface CommandCheck {
  readonly from: string;
  readonly argv: readonly string[];
  /** Exit status; null: ended by a signal, also by gw. */
  readonly exit: number | null;
  readonly signal: string | null;
  readonly timedOut: boolean;
  /** Each at most 64 KiB; not-checked beyond, where they are no text, and where the program was ended. */
  readonly stdout: string | NotChecked;
  readonly stderr: string | NotChecked;
  readonly tookMs: number;
  readonly detail: string;
}

const MAX_OUTPUT_BYTES = 64 * 1024;
/** For programs that a program left behind with its output open. */
const LEFT_BEHIND_MS = 500;
const ENVIRONMENT = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' };

/**
 * Runs a program without a shell, in `/`, without input and without the environment of the caller. After the timeout, at
 * an interruption and beyond the bound of its output it is killed with all programs of its group. Throws CHECK_FAILED when
 * it cannot be started.
 */
export async function checkCommand(
  { clock }: Pick<Toolkit, 'clock'>,
  options: CommandOptions,
  { signal }: CheckContext,
): Promise<CommandCheck> {
  const { argv, timeoutS } = options;
  const [program = '', ...args] = argv;
  signal.throwIfAborted();
  const beganMs = clock.monotonicMs();
  const child = spawn(program, args, {
    detached: true,
    cwd: '/',
    env: ENVIRONMENT,
    stdio: ['ignore', 'pipe', 'pipe'],
    shell: false,
  });
  let ended: 'timeout' | 'output' | 'left-behind' | 'aborted' | null = null;
  const end = (why: NonNullable<typeof ended>) => {
    if (ended !== null) return;
    ended = why;
    killGroup(child.pid);
    // A program in a group of its own may hold the pipes open.
    child.stdout.destroy();
    child.stderr.destroy();
  };
  const out = collect(child.stdout, () => end('output'));
  const err = collect(child.stderr, () => end('output'));
  using _limit = clock.after(timeoutS * 1_000, () => end('timeout'));
  let leftBehind: Disposable | undefined;
  const { promise: closed, resolve, reject } = Promise.withResolvers<readonly [number | null, string | null]>();
  child.once('error', reject);
  child.once('exit', () => {
    leftBehind = clock.after(LEFT_BEHIND_MS, () => end('left-behind'));
  });
  child.once('close', (code, by) => resolve([code, by]));
  using _aborted = onAbort(signal, () => end('aborted'));
  try {
    const [exit, by] = await closed;
    if (signal.aborted) throw signal.reason;
    const why = ended as typeof ended;
    const isWhole = why === null;
    const stdout = isWhole ? textOf(out()) : NOT_CHECKED;
    const stderr = isWhole ? textOf(err()) : NOT_CHECKED;
    const said = stderr === NOT_CHECKED ? '' : (stderr.split('\n').find((line) => line.trim() !== '') ?? '');
    const how = {
      timeout: `did not end within ${timeoutS} s, and was killed`,
      output: 'wrote more than 64 KiB, and was killed',
      'left-behind': `exited with ${exit ?? by}, and left programs behind, which were killed`,
      aborted: 'was interrupted',
      none: exit === null ? `was ended by ${by}` : `exited with ${exit}`,
    }[why ?? 'none'];
    return {
      from: THIS_MACHINE,
      argv,
      exit: why === 'timeout' || why === 'output' ? null : exit,
      signal: by,
      timedOut: why === 'timeout',
      stdout,
      stderr,
      tookMs: Math.round(clock.monotonicMs() - beganMs),
      detail: `${argv.join(' ')} ${how}${said === '' ? '' : ` (${said.slice(0, 200)})`}, ${THIS_MACHINE}`,
    };
  } catch (error) {
    signal.throwIfAborted();
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown';
    throw new GwError('CHECK_FAILED', `${program} cannot be started ${THIS_MACHINE} (${systemReason({ code })}).`, {
      remedy: 'Check that the program is installed and may be run by this user.',
      cause: error,
    });
  } finally {
    leftBehind?.[Symbol.dispose]();
  }
}

function killGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // The group has ended meanwhile.
  }
}

/** Keeps what a stream sends, up to the bound. */
function collect(stream: NodeJS.ReadableStream, onTooMuch: () => void): () => Buffer {
  const chunks: Buffer[] = [];
  let total = 0;
  stream.on('data', (chunk: Buffer) => {
    total += chunk.length;
    if (total > MAX_OUTPUT_BYTES) onTooMuch();
    else chunks.push(chunk);
  });
  stream.on('error', () => {});
  return () => Buffer.concat(chunks);
}
