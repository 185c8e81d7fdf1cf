import { Flags } from '@oclif/core';
import { GwError } from '../lib/error/index.ts';
import { onAbort } from '../lib/lifecycle/index.ts';
import { type Asking, askSecret, canAsk } from './ask.ts';

export const passwordFileFlag = Flags.file({
  summary: 'File with the device password, for operations that require sign-in.',
  helpValue: 'FILE',
});

const MAX_BYTES = 4_096;
const TRIES = 3;

/** Reads the password from an owner-only file. Throws SECRET_UNREADABLE. */
export async function readDevicePassword(file: string | undefined): Promise<string | undefined> {
  return file === undefined ? undefined : await readSecretFile(file, 'the device password');
}

async function readSecretFile(file: string, what: string): Promise<string> {
  const { readSecret } = await import('../lib/site/index.ts');
  return firstLine(await readSecret(file, what));
}

/** An existing secret: typed once at a hidden prompt, or the first line of stdin. Throws INTERRUPTED. */
export async function readHidden(message: string, asking: Asking): Promise<string> {
  const { input = process.stdin } = asking.streams ?? {};
  if (input.isTTY !== true) return firstLine(await readAll(input, asking.signal));
  assertSeen(asking);
  return await askSecret(message, asking);
}

/** Throws USAGE where a person would type at a prompt that goes to a file. */
function assertSeen({ streams }: Asking): void {
  if (streams !== undefined || canAsk()) return;
  throw new GwError('USAGE', 'The prompt would go to a file, not to this terminal.', {
    remedy: 'Leave stderr at the terminal, or pass the secret by its file flag or through stdin.',
  });
}

/** A new password: from an owner-only file, typed twice at a hidden prompt, or the first line of stdin. */
export async function readNewPassword(
  fromFile: string | undefined,
  check: (password: string) => string | undefined,
  asking: Asking,
): Promise<string> {
  if (fromFile !== undefined) return await readSecretFile(fromFile, 'the new device password');
  const { input, output } = asking.streams ?? { input: process.stdin, output: process.stderr };
  if (input.isTTY !== true) return firstLine(await readAll(input, asking.signal));
  assertSeen(asking);
  for (let attempt = 0; attempt < TRIES; attempt += 1) {
    const password = await askSecret('New device password:', asking);
    const problem = check(password);
    if (problem !== undefined) output.write(`It must have ${problem}.\n`);
    else if ((await askSecret('Repeat the password:', asking)) === password) return password;
    else output.write('The passwords differ.\n');
  }
  throw new GwError('USAGE', 'No password was set.', { remedy: 'Run the command again.' });
}

/**
 * The one-time code of an enrolment: from an owner-only file, an environment variable, a hidden prompt, or the first
 * line of stdin. Never an argument, which every process of the machine could read. Throws USAGE, SECRET_UNREADABLE,
 * INTERRUPTED.
 */
export async function readOneTimeCode(
  { file, variable }: { readonly file?: string | undefined; readonly variable?: string | undefined },
  environment: Readonly<Record<string, string | undefined>>,
  asking: Asking,
): Promise<string> {
  if (file !== undefined) return (await readSecretFile(file, 'the one-time code')).trim();
  if (variable === undefined) {
    return (await readHidden('One-time code:', { ...asking, interrupted: 'Interrupted; nothing was sent.' })).trim();
  }
  const code = environment[variable];
  if (code !== undefined && code !== '') return firstLine(code).trim();
  // The text may be the code itself, which must not be repeated.
  const isName = /^[A-Za-z_][A-Za-z0-9_]*$/.test(variable);
  throw new GwError(
    'USAGE',
    isName ? `The environment variable ${variable} is unset or empty.` : '--code-env requires the name of a variable.',
    { remedy: 'Set the variable for this one command, or leave the flag out and type the code.' },
  );
}

function firstLine(text: string): string {
  return text.split(/\r?\n/, 1)[0] ?? '';
}

async function readAll(input: NodeJS.ReadableStream, signal: AbortSignal): Promise<string> {
  using _aborted = onAbort(signal, () => void (input as NodeJS.ReadStream).destroy());
  let text = '';
  for await (const chunk of input) {
    text += String(chunk);
    if (text.includes('\n') || text.length > MAX_BYTES) break;
  }
  signal.throwIfAborted();
  return text;
}
