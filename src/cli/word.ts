import { createInterface } from 'node:readline';
import { onAbort } from '../lib/lifecycle/index.ts';

/**
 * Asks a person at the terminal to type one word, on stderr since stdout holds the result. Anything else, Ctrl-C,
 * Ctrl-D and an end of the command mean no.
 */
export async function askForWord(question: string, word: string, signal: AbortSignal): Promise<boolean> {
  if (signal.aborted) return false;
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const no = () => resolve(false);
  using _aborted = onAbort(signal, no);
  lines.once('SIGINT', no);
  lines.once('close', no);
  process.stderr.write(`${question} `);
  lines.setPrompt(`'${word}': `);
  lines.once('line', (line) => resolve(line.trim() === word));
  lines.prompt();
  try {
    return await promise;
  } finally {
    lines.close();
  }
}
