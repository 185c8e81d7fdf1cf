import { createInterface } from 'node:readline/promises';
import { GwError } from '../lib/error/index.ts';
import { firstOf, untilAborted } from '../lib/lifecycle/index.ts';
import type { Question } from '../lib/toolkit/site/init.ts';

export interface PromptStreams {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream & { readonly isTTY?: boolean };
}

/**
 * Runs `work` with a way to ask a person, on the given streams: stdout holds the result, so the questions go to
 * stderr. Ctrl-C and Ctrl-D end the asking with INTERRUPTED.
 */
export async function withPrompt<T>(
  streams: PromptStreams,
  signal: AbortSignal,
  work: (ask: (question: Question) => Promise<string>) => Promise<T>,
): Promise<T> {
  const ending = new AbortController();
  const lines = createInterface({ ...streams, terminal: streams.output.isTTY === true });
  const interrupted = () => {
    streams.output.write('\n');
    return new GwError('INTERRUPTED', 'Interrupted; nothing was written.');
  };
  const giveUp = () => ending.abort(interrupted());
  // The terminal is in raw mode while it is asked: Ctrl-C comes here and not as a signal of the process.
  lines.on('SIGINT', giveUp);
  let isClosed = false;
  lines.on('close', () => {
    isClosed = true;
  });
  const whole = firstOf(signal, ending.signal);
  // Lines can come before they are asked for: pasted, or typed ahead.
  const typed = lines[Symbol.asyncIterator]();

  async function ask({ text, fallback, check }: Question): Promise<string> {
    for (;;) {
      whole.throwIfAborted();
      streams.output.write(`${text}${fallback === undefined || fallback === '' ? '' : ` [${fallback}]`}\n`);
      if (!isClosed) lines.prompt();
      const line = await untilAborted(whole, typed.next());
      if (line.done === true) throw interrupted();
      const answer = line.value.trim() === '' && fallback !== undefined ? fallback : line.value.trim();
      const expected = check(answer);
      if (expected === undefined) return answer;
      streams.output.write(`  expected ${expected}\n`);
    }
  }

  try {
    return await work(ask);
  } finally {
    lines.close();
  }
}
