import { GwError } from '../lib/error/index.ts';
import { readHidden } from './hidden-prompt.ts';

export interface OneTimeCodeOptions {
  readonly streams: { readonly input: NodeJS.ReadStream; readonly output: NodeJS.WritableStream };
  /** Owner-only file with the code as its first line. */
  readonly fromFile: string | undefined;
  /** Name of an environment variable with the code. */
  readonly fromVariable: string | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
}

/**
 * The one-time code of an enrolment: from a file, a variable, a hidden prompt, or the first line of stdin. Never an
 * argument, which every process of the machine could read. Throws USAGE, SECRET_UNREADABLE, INTERRUPTED.
 */
export async function readOneTimeCode(options: OneTimeCodeOptions): Promise<string> {
  const { streams, fromFile, fromVariable, environment, signal } = options;
  if (fromFile !== undefined) {
    const { readSecret } = await import('../lib/site/index.ts');
    return firstLine(await readSecret(fromFile, 'the one-time code'));
  }
  if (fromVariable === undefined) {
    const interrupted = 'Interrupted; nothing was sent.';
    return firstLine(await readHidden({ streams, question: 'One-time code: ', interrupted, signal }));
  }
  const code = environment[fromVariable];
  if (code !== undefined && code !== '') return firstLine(code);
  // The text may be the code itself, which must not be repeated.
  const isName = /^[A-Za-z_][A-Za-z0-9_]*$/.test(fromVariable);
  throw new GwError(
    'USAGE',
    isName
      ? `The environment variable ${fromVariable} is unset or empty.`
      : '--code-env requires the name of a variable.',
    { remedy: 'Set the variable for this one command, or leave the flag out and type the code.' },
  );
}

function firstLine(text: string): string {
  return (text.split(/\r?\n/, 1)[0] ?? '').trim();
}
