import { chalkStderr } from 'chalk';
import { GwError } from '../lib/error/index.ts';
import { firstOf } from '../lib/lifecycle/index.ts';
import { widthOf, wrapWords } from './wrap.ts';

export interface Streams {
  readonly input: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly output: NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number };
}

export interface Asking {
  /** By default stdin and stderr: stdout holds the result. */
  readonly streams?: Streams | undefined;
  readonly signal: AbortSignal;
  /** Message of INTERRUPTED on Ctrl-C. */
  readonly interrupted?: string;
}

/** What may be typed at a prompt, and what an empty line means. */
interface Accepted {
  readonly fallback?: string | undefined;
  /** The expected form; undefined when the answer is valid. */
  readonly check?: (answer: string) => string | undefined;
}

/** The library decides on colours by stdout, and its password prompt says how to make the text visible. */
const theme = () => ({
  prefix: chalkStderr.cyan('?'),
  style: {
    message: (text: string) => text,
    answer: (text: string) => text,
    defaultAnswer: (text: string) => chalkStderr.dim(`[${text}]`),
    error: (text: string) => `  ${text}`,
    help: () => '',
  },
});

/** Whether stdin and stderr are a terminal, so that questions can be asked. */
export function canAsk(): boolean {
  return process.stdin.isTTY === true && process.stderr.isTTY === true;
}

/** The library breaks a long question within its words. */
function wrapped(message: string, { streams }: Asking): string {
  // Two for the sign before it, two for the space behind it and the cursor.
  return wrapWords(message, widthOf(streams?.output ?? process.stderr) - 4).join('\n  ');
}

/** One line without spaces at its ends; undefined on Ctrl-D and at the end of the input. Throws INTERRUPTED. */
export async function askLine(
  message: string,
  asking: Asking,
  { fallback, check = () => undefined }: Accepted = {},
): Promise<string | undefined> {
  const { input } = await import('@inquirer/prompts');
  const validate = (answer: string) => {
    const expected = check(answer.trim());
    return expected === undefined || `expected ${expected}`;
  };
  const config = {
    message: wrapped(message, asking),
    validate,
    theme: theme(),
    ...(fallback !== undefined && { default: fallback }),
  };
  return (await prompted(asking, (context) => input(config, context)))?.trim();
}

/** A line that is not shown and cannot be made visible. Throws INTERRUPTED, also on Ctrl-D. */
export async function askSecret(message: string, asking: Asking): Promise<string> {
  const { password } = await import('@inquirer/prompts');
  const typed = await prompted(asking, (context) =>
    password({ message: wrapped(message, asking), toggleMask: false, theme: theme() }, context),
  );
  if (typed === undefined) throw interruption(asking);
  return typed;
}

export function interruption({ interrupted = 'Interrupted.' }: Asking): GwError {
  return new GwError('INTERRUPTED', interrupted);
}

/** The library does not settle a prompt when its input ends. */
async function prompted(
  asking: Asking,
  ask: (context: { input: Streams['input']; output: Streams['output']; signal: AbortSignal }) => Promise<string>,
): Promise<string | undefined> {
  const { streams = { input: process.stdin, output: process.stderr }, signal } = asking;
  const { input, output } = streams;
  const ended = new AbortController();
  const end = () => ended.abort();
  const onKey = (_text: string, key: { readonly ctrl?: boolean; readonly name?: string }) => {
    if (key.ctrl === true && key.name === 'd') end();
  };
  input.on('keypress', onKey).once('end', end);
  try {
    signal.throwIfAborted();
    if ((input as NodeJS.ReadStream).readableEnded) return undefined;
    return await ask({ input, output, signal: firstOf(signal, ended.signal) });
  } catch (error) {
    signal.throwIfAborted();
    if (ended.signal.aborted) return undefined;
    if (error instanceof Error && error.name === 'ExitPromptError') throw interruption(asking);
    throw error;
  } finally {
    input.off('keypress', onKey).off('end', end);
  }
}
