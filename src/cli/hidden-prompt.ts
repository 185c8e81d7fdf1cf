import { open } from 'node:fs/promises';
import type { ReadStream } from 'node:tty';
import { GwError } from '../lib/error/index.ts';
import { onAbort } from '../lib/lifecycle/index.ts';

export interface NewPasswordOptions {
  readonly streams: { readonly input: NodeJS.ReadStream; readonly output: NodeJS.WritableStream };
  readonly fromFile: string | undefined;
  /** What is wrong with it; undefined when nothing is. */
  readonly check: (password: string) => string | undefined;
  readonly signal: AbortSignal;
}

const MOST_BYTES = 4_096;
const TRIES = 3;

/** A new password: from a file, from a terminal twice and unseen, or the first line of stdin. */
export async function readNewPassword({ streams, fromFile, check, signal }: NewPasswordOptions): Promise<string> {
  if (fromFile !== undefined) return firstLine(await readStart(fromFile));
  const { input, output } = streams;
  if (input.isTTY !== true) return firstLine(await readAll(input, signal));
  for (let attempt = 0; attempt < TRIES; attempt += 1) {
    const password = await askHidden(input as ReadStream, output, 'New device password: ', signal);
    const problem = check(password);
    if (problem !== undefined) {
      output.write(`It must have ${problem}.\n`);
      continue;
    }
    if ((await askHidden(input as ReadStream, output, 'The same again: ', signal)) === password) return password;
    output.write('The two differ.\n');
  }
  throw new GwError('USAGE', 'No password was set.', { remedy: 'Run the command again.' });
}

export interface HiddenOptions {
  readonly streams: { readonly input: NodeJS.ReadStream; readonly output: NodeJS.WritableStream };
  readonly question: string;
  /** What Ctrl-C is answered with. */
  readonly interrupted: string;
  readonly signal: AbortSignal;
}

/** A secret that is there already: typed once and unseen at a terminal, or the first line of stdin. */
export async function readHidden({ streams, question, interrupted, signal }: HiddenOptions): Promise<string> {
  const { input, output } = streams;
  if (input.isTTY !== true) return firstLine(await readAll(input, signal));
  return askHidden(input as ReadStream, output, question, signal, interrupted);
}

function firstLine(text: string): string {
  return text.split(/\r?\n/, 1)[0] ?? '';
}

async function readStart(path: string): Promise<string> {
  try {
    await using file = await open(path);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(MOST_BYTES), 0, MOST_BYTES, 0);
    return buffer.subarray(0, bytesRead).toString('utf8');
  } catch (cause) {
    throw new GwError('FILE_UNWRITABLE', `The file ${path} cannot be read.`, { cause });
  }
}

async function readAll(input: NodeJS.ReadStream, signal: AbortSignal): Promise<string> {
  using _aborted = onAbort(signal, () => void input.destroy());
  let text = '';
  for await (const chunk of input) {
    text += String(chunk);
    if (text.includes('\n') || text.length > MOST_BYTES) break;
  }
  signal.throwIfAborted();
  return text;
}

/** Reads a line from a terminal without showing it. Ctrl-C and Ctrl-D end it with INTERRUPTED. */
export function askHidden(
  input: ReadStream,
  output: NodeJS.WritableStream,
  question: string,
  signal: AbortSignal,
  interruptedText = 'Interrupted; the password stays as it was.',
): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let typed = '';
  const end = (settle: () => void) => {
    input.setRawMode(false);
    input.pause();
    input.off('data', onData);
    output.write('\n');
    settle();
  };
  const interrupted = () => end(() => reject(new GwError('INTERRUPTED', interruptedText)));
  const onData = (chunk: string) => {
    for (const char of chunk) {
      if (char === '\r' || char === '\n') return end(() => resolve(typed));
      if (char === '\u0003' || char === '\u0004') return interrupted();
      if (char === '\u007f' || char === '\b') typed = [...typed].slice(0, -1).join('');
      else if (char === '\u0015') typed = '';
      else if (typed.length < MOST_BYTES) typed += char;
    }
  };
  output.write(question);
  input.setEncoding('utf8');
  input.setRawMode(true);
  input.on('data', onData);
  input.resume();
  const aborting = onAbort(signal, interrupted);
  return promise.finally(() => aborting[Symbol.dispose]());
}
