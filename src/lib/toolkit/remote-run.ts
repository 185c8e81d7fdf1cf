import type { Readable } from 'node:stream';
import { z } from 'zod';
import { asGwError, type ErrorCode, errorTable, GwError } from '../error/index.ts';
import { quote, readJson } from '../json/index.ts';
import { withDeadline } from '../lifecycle/index.ts';
import type { RemoteExit, RemoteProcess, Ssh } from '../net/index.ts';
import { answeredErrorSchema } from './operator/answered-error.ts';

/** Options for running `gw` on the remote host. */
export interface RemoteGwOptions<T> {
  /** Name of the expected result schema: `gw/heartbeat-check/1`. */
  readonly schema: string;
  readonly shape: z.ZodType<T>;
  /** Version of this gw; a different remote version is a warning. */
  readonly version: string;
  readonly signal: AbortSignal;
  /** Receives other output of the remote host, line by line. */
  readonly onNote: (text: string) => void;
  /** Its standard input, for a secret: command lines are visible to every user there. Absent: nothing is written. */
  readonly input?: string | undefined;
}

export interface RemoteResult<T> {
  readonly data: T;
  readonly ok: boolean;
  readonly exitCode: number;
  readonly warnings: readonly string[];
}

/** Project decision: bounds far above any result of gw. */
const MAX_RESULT = 32 * 1024 * 1024;
const MAX_LINE = 4 * 1024 * 1024;
const MAX_NOTES = 2_000;
const VERSION_TIMEOUT_MS = 10_000;
const EXIT_NOT_FOUND = 127;

/**
 * The arguments for the remote `gw`: the command without --via and with --json. `id` is the oclif command id,
 * `heartbeat:check`. A --site path refers to the remote host. `ofHere`: other flags with a value that only this machine
 * can use, such as one of its files.
 */
export function remoteArguments(id: string, argv: readonly string[], ofHere: readonly string[] = []): string[] {
  const dropped = ['--via', ...ofHere];
  const words: string[] = [];
  const end = argv.indexOf('--');
  const flags = end < 0 ? argv : argv.slice(0, end);
  for (let at = 0; at < flags.length; at += 1) {
    const word = flags[at] ?? '';
    if (dropped.includes(word)) at += 1;
    else if (!dropped.some((flag) => word.startsWith(`${flag}=`)) && word !== '--json') words.push(word);
  }
  return [...id.split(':'), ...words, '--json', ...(end < 0 ? [] : argv.slice(end))];
}

/**
 * Runs a command of `gw` on the remote host and returns its result. Its errors are rethrown with the host name in front.
 * Throws REMOTE_GW_MISSING, REMOTE_GW_BAD_ANSWER, SSH_CHANNEL_REFUSED, SSH_LOST, INTERRUPTED.
 */
export async function runRemoteGw<T>(
  ssh: Ssh,
  words: readonly string[],
  options: RemoteGwOptions<T>,
): Promise<RemoteResult<T>> {
  const { schema, shape } = options;
  const envelopeSchema = z.looseObject({
    schema: z.string(),
    ok: z.boolean(),
    data: z.unknown(),
    warnings: z.array(z.string()),
  });
  const version = versionNote(ssh, options);
  let text = '';
  const exit = await runLines(ssh, words, options, (line) => {
    // Output of a login script precedes the result.
    if (text === '' && !line.startsWith('{')) options.onNote(line);
    else if (text.length > MAX_RESULT) throw badAnswer(ssh, `result longer than ${MAX_RESULT} characters`);
    else text += `${line}\n`;
  });
  const note = await version;
  const json = readJson(text, 'answer');
  if (!json.ok) throw badAnswer(ssh, `${json.problem} (${exitText(exit)})`, note);
  throwAnswered(ssh, json.value, note);
  const envelope = envelopeSchema.safeParse(json.value);
  const data = shape.safeParse(envelope.data?.data);
  if (!envelope.success || envelope.data.schema !== schema || !data.success) {
    throw badAnswer(ssh, `result does not match ${schema}`, note);
  }
  return {
    data: data.data,
    ok: envelope.data.ok,
    exitCode: exit.code ?? 1,
    warnings: [...(note === null ? [] : [note]), ...envelope.data.warnings],
  };
}

/**
 * Runs a command that prints one event per line. Every event is passed on, except the last one, which is the result.
 * Aborting the signal stops it in an orderly way. Throws as `runRemoteGw`.
 */
export async function followRemoteGw<E>(
  ssh: Ssh,
  words: readonly string[],
  options: RemoteGwOptions<E>,
  { onEvent, isLast }: { readonly onEvent: (event: E) => void; readonly isLast: (event: E) => boolean },
): Promise<E> {
  const note = await versionNote(ssh, options);
  if (note !== null) options.onNote(note);
  let last: E | undefined;
  const exit = await runLines(ssh, words, options, (line) => {
    if (!line.startsWith('{')) {
      options.onNote(line);
      return;
    }
    const json = readJson(line, 'answer');
    if (!json.ok) throw badAnswer(ssh, json.problem, note);
    throwAnswered(ssh, json.value, note);
    const event = options.shape.safeParse(json.value);
    if (!event.success) throw badAnswer(ssh, `an event does not match ${options.schema}`, note);
    if (isLast(event.data)) last = event.data;
    else onEvent(event.data);
  });
  if (last !== undefined) return last;
  if (options.signal.aborted) throw asGwError(options.signal.reason);
  throw badAnswer(ssh, `ended early with ${exitText(exit)}`, note);
}

/** The standard output of a remote program, bounded; null when the program fails. */
export async function readRemoteText(ssh: Ssh, argv: readonly string[], signal: AbortSignal): Promise<string | null> {
  await using remote = await ssh.exec(argv, { signal });
  const lines: string[] = [];
  let length = 0;
  const reading = Promise.all([
    eachLine(remote.stdout, (line) => {
      length += line.length;
      if (length < MAX_LINE) lines.push(line);
    }),
    eachLine(remote.stderr, () => {}),
  ]);
  const { code } = await remote.ended;
  await reading;
  return code === 0 ? `${lines.join('\n')}\n` : null;
}

/** Runs the remote `gw`; an error that `onLine` throws terminates it. */
async function runLines<T>(
  ssh: Ssh,
  words: readonly string[],
  { signal, onNote, input }: RemoteGwOptions<T>,
  onLine: (line: string) => void,
): Promise<RemoteExit> {
  await using remote: RemoteProcess = await ssh.exec(['gw', ...words], { signal });
  if (input !== undefined) remote.stdin.end(input);
  let notes = 0;
  const stderrLines: string[] = [];
  const reading = Promise.all([
    eachLine(remote.stdout, onLine),
    eachLine(remote.stderr, (line) => {
      notes += 1;
      if (notes > MAX_NOTES) return;
      stderrLines.push(line);
      onNote(line);
    }),
  ]);
  // An invalid line must end the run before the program exits.
  await reading;
  const exit = await remote.ended;
  if (exit.code === EXIT_NOT_FOUND) {
    throw new GwError('REMOTE_GW_MISSING', `No gw on ${ssh.where} (${quote(stderrLines.at(-1) ?? 'no output')}).`);
  }
  return exit;
}

/** Lines of a stream, including a last one without a line end. Rejects a line that is too long. */
async function eachLine(stream: Readable, onLine: (line: string) => void): Promise<void> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of stream) {
    rest += decoder.decode(chunk as Buffer, { stream: true });
    if (!rest.includes('\n')) {
      if (rest.length > MAX_LINE)
        throw new GwError('REMOTE_GW_BAD_ANSWER', 'The remote gw sent a line that is too long.');
      continue;
    }
    const lines = rest.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) onLine(line.replace(/\r$/, ''));
  }
  if (rest !== '') onLine(rest);
}

/** A warning when the versions differ or the remote one is unknown; null when they are the same. */
async function versionNote<T>(ssh: Ssh, { version, signal }: RemoteGwOptions<T>): Promise<string | null> {
  const limit = withDeadline(signal, VERSION_TIMEOUT_MS);
  const text = await readRemoteText(ssh, ['gw', '--version'], limit).catch((error: unknown) => {
    // If no program can be run, the command itself reports that.
    if (error instanceof GwError) return null;
    throw error;
  });
  const remoteVersion = /(?:^|\n)gw\/(\S{1,40}) /.exec(text ?? '')?.[1];
  if (remoteVersion === version) return null;
  if (remoteVersion === undefined) return `The gw version on ${ssh.where} is unknown; this is ${version}.`;
  return `gw on ${ssh.where} is version ${quote(remoteVersion)}, this is ${version}: results may differ.`;
}

/** Rethrows an error of the remote gw with the same code, if this version knows the code. */
function throwAnswered(ssh: Ssh, value: unknown, note: string | null): void {
  const { error } = answeredErrorSchema.safeParse(value).data ?? {};
  if (error === undefined) return;
  const { code, message, remedy, details, tried } = error;
  if (!Object.hasOwn(errorTable, code)) throw badAnswer(ssh, `error ${quote(code)}: ${quote(message)}`, note);
  throw new GwError(code as ErrorCode, `On ${ssh.where}: ${message}${note === null ? '' : ` ${note}`}`, {
    remedy,
    details,
    tried: tried && {
      address: tried.address,
      via: ssh.where,
      ...(tried.port !== undefined && { port: tried.port }),
      ...(tried.action !== undefined && { action: tried.action }),
      ...(tried.forMs !== undefined && { forMs: tried.forMs }),
    },
  });
}

function badAnswer(ssh: Ssh, what: string, note: string | null = null): GwError {
  return new GwError(
    'REMOTE_GW_BAD_ANSWER',
    `Invalid result of gw on ${ssh.where}: ${what}.${note === null ? '' : ` ${note}`}`,
  );
}

function exitText({ code, signal }: RemoteExit): string {
  return signal ?? (code === null ? 'no exit code' : `exit code ${code}`);
}
