import type { Readable } from 'node:stream';
import { z } from 'zod';
import { asGwError, type ErrorCode, errorTable, GwError } from '../error/index.ts';
import { quote, readJson } from '../json/index.ts';
import { withDeadline } from '../lifecycle/index.ts';
import type { FarExit, FarProcess, Ssh } from '../net/index.ts';
import { answeredErrorSchema } from './operator/answered-error.ts';

/** What is expected of the `gw` on the far side. */
export interface FarGwOptions<T> {
  /** Name of the shape that both must speak: `gw/heartbeat-check/1`. */
  readonly schema: string;
  readonly shape: z.ZodType<T>;
  /** Version of this gw; another one there is a warning. */
  readonly version: string;
  readonly signal: AbortSignal;
  /** What the far side says beside its result, line by line. */
  readonly onNote: (text: string) => void;
}

export interface FarResult<T> {
  readonly data: T;
  readonly ok: boolean;
  readonly exitCode: number;
  readonly warnings: readonly string[];
}

/** Decisions of ours; no result of gw comes near them. */
const MOST_RESULT = 32 * 1024 * 1024;
const MOST_LINE = 4 * 1024 * 1024;
const MOST_NOTES = 2_000;
const VERSION_MS = 10_000;
const NOT_FOUND = 127;

/**
 * The words of a command line for the far side: the command, without the way there, and with --json. `id` is that of
 * the framework, `heartbeat:check`. A site file that is named is meant over there.
 */
export function farWords(id: string, argv: readonly string[]): string[] {
  const words: string[] = [];
  const end = argv.indexOf('--');
  const flags = end < 0 ? argv : argv.slice(0, end);
  for (let at = 0; at < flags.length; at += 1) {
    const word = flags[at] ?? '';
    if (word === '--via') at += 1;
    else if (!word.startsWith('--via=') && word !== '--json') words.push(word);
  }
  return [...id.split(':'), ...words, '--json', ...(end < 0 ? [] : argv.slice(end))];
}

/**
 * Runs a command of the `gw` on the far side and gives back its result. Its errors are thrown as they are, with the
 * machine in front. Throws FAR_GW_MISSING, FAR_GW_BAD_ANSWER, SSH_CHANNEL_REFUSED, SSH_LOST, INTERRUPTED.
 */
export async function runFarGw<T>(ssh: Ssh, words: readonly string[], options: FarGwOptions<T>): Promise<FarResult<T>> {
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
    // What a login script prints comes before the result.
    if (text === '' && !line.startsWith('{')) options.onNote(line);
    else if (text.length > MOST_RESULT) throw badAnswer(ssh, 'its answer has no end');
    else text += `${line}\n`;
  });
  const note = await version;
  const json = readJson(text, 'answer');
  if (!json.ok) throw badAnswer(ssh, `${json.problem}; it ended with ${exitText(exit)}`, note);
  throwAnswered(ssh, json.value, note);
  const envelope = envelopeSchema.safeParse(json.value);
  const data = shape.safeParse(envelope.data?.data);
  if (!envelope.success || envelope.data.schema !== schema || !data.success) {
    throw badAnswer(ssh, `its answer is not of the shape ${schema}`, note);
  }
  return {
    data: data.data,
    ok: envelope.data.ok,
    exitCode: exit.code ?? 1,
    warnings: [...(note === null ? [] : [note]), ...envelope.data.warnings],
  };
}

/**
 * Runs a command that tells what happens line by line. Every event is handed on, except the last one, which is the
 * result. Aborting the signal ends it in order. Throws as `runFarGw`.
 */
export async function followFarGw<E>(
  ssh: Ssh,
  words: readonly string[],
  options: FarGwOptions<E>,
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
    if (!event.success) throw badAnswer(ssh, `a line of its answer is not of the shape ${options.schema}`, note);
    if (isLast(event.data)) last = event.data;
    else onEvent(event.data);
  });
  if (last !== undefined) return last;
  if (options.signal.aborted) throw asGwError(options.signal.reason);
  throw badAnswer(ssh, `it ended with ${exitText(exit)} before it was done`, note);
}

/** The text that a program on the far side prints, cut at the limit; null when the program fails. */
export async function readFarText(ssh: Ssh, argv: readonly string[], signal: AbortSignal): Promise<string | null> {
  await using far = await ssh.exec(argv, { signal });
  const lines: string[] = [];
  let length = 0;
  const reading = Promise.all([
    eachLine(far.stdout, (line) => {
      length += line.length;
      if (length < MOST_LINE) lines.push(line);
    }),
    eachLine(far.stderr, () => {}),
  ]);
  const { code } = await far.ended;
  await reading;
  return code === 0 ? `${lines.join('\n')}\n` : null;
}

/** Runs `gw` there; `onLine` gets every line of its output, and what it throws ends the program. */
async function runLines<T>(
  ssh: Ssh,
  words: readonly string[],
  { signal, onNote }: FarGwOptions<T>,
  onLine: (line: string) => void,
): Promise<FarExit> {
  await using far: FarProcess = await ssh.exec(['gw', ...words], { signal });
  let notes = 0;
  const says: string[] = [];
  const reading = Promise.all([
    eachLine(far.stdout, onLine),
    eachLine(far.stderr, (line) => {
      notes += 1;
      if (notes > MOST_NOTES) return;
      says.push(line);
      onNote(line);
    }),
  ]);
  // A line that cannot be read ends it before the program does.
  await reading;
  const exit = await far.ended;
  if (exit.code === NOT_FOUND) {
    throw new GwError('FAR_GW_MISSING', `On ${ssh.where} no gw is found (${quote(says.at(-1) ?? 'it says nothing')}).`);
  }
  return exit;
}

/** Lines of a stream, also a last one without its end. One that does not end is refused. */
async function eachLine(stream: Readable, onLine: (line: string) => void): Promise<void> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of stream) {
    rest += decoder.decode(chunk as Buffer, { stream: true });
    if (!rest.includes('\n')) {
      if (rest.length > MOST_LINE) throw new GwError('FAR_GW_BAD_ANSWER', 'A line of the far side has no end.');
      continue;
    }
    const lines = rest.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) onLine(line.replace(/\r$/, ''));
  }
  if (rest !== '') onLine(rest);
}

/** One sentence when the versions differ or the one there cannot be told; null when they are the same. */
async function versionNote<T>(ssh: Ssh, { version, signal }: FarGwOptions<T>): Promise<string | null> {
  const limit = withDeadline(signal, VERSION_MS);
  const text = await readFarText(ssh, ['gw', '--version'], limit).catch((error: unknown) => {
    // That nothing can be run there is told by the command itself.
    if (error instanceof GwError) return null;
    throw error;
  });
  const there = /(?:^|\n)gw\/(\S{1,40}) /.exec(text ?? '')?.[1];
  if (there === version) return null;
  if (there === undefined) return `Which gw is on ${ssh.where} cannot be told; this is ${version}.`;
  return `On ${ssh.where} is gw ${quote(there)}, this is ${version}: their results may differ.`;
}

/** An error of the gw there is an error of ours with the same code, where this one knows it. */
function throwAnswered(ssh: Ssh, value: unknown, note: string | null): void {
  const { error } = answeredErrorSchema.safeParse(value).data ?? {};
  if (error === undefined) return;
  const { code, message, remedy, details, tried } = error;
  if (!Object.hasOwn(errorTable, code)) throw badAnswer(ssh, `it fails with ${quote(code)}: ${quote(message)}`, note);
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
  return new GwError('FAR_GW_BAD_ANSWER', `The gw on ${ssh.where}: ${what}.${note === null ? '' : ` ${note}`}`);
}

function exitText({ code, signal }: FarExit): string {
  return signal ?? (code === null ? 'no exit code' : `exit code ${code}`);
}
