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
  words = { secret: 'device password', short: 'password' },
): Promise<string> {
  if (fromFile !== undefined) return await readSecretFile(fromFile, `the new ${words.secret}`);
  const { input, output } = asking.streams ?? { input: process.stdin, output: process.stderr };
  if (input.isTTY !== true) return firstLine(await readAll(input, asking.signal));
  assertSeen(asking);
  for (let attempt = 0; attempt < TRIES; attempt += 1) {
    const password = await askSecret(`New ${words.secret}:`, asking);
    const problem = check(password);
    if (problem !== undefined) output.write(`It must have ${problem}.\n`);
    else if ((await askSecret(`Repeat the ${words.short}:`, asking)) === password) return password;
    else output.write(`The ${words.short}s differ.\n`);
  }
  throw new GwError('USAGE', `No ${words.short} was set.`, { remedy: 'Run the command again.' });
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

export const passphraseFlags = {
  'passphrase-file': Flags.file({
    summary: 'Read the passphrase from the first line of this file, which must be readable for its owner only.',
    helpValue: 'FILE',
    exclusive: ['without-secrets'],
  }),
  'without-secrets': Flags.boolean({ summary: 'Without a passphrase: identity, keys and passwords are left out.' }),
};

interface PassphraseFlags {
  readonly 'passphrase-file'?: string | undefined;
  readonly 'without-secrets': boolean;
}

/** A new passphrase of a backup as `readNewPassword` reads it; null: secrets are left out. Throws USAGE for a short one. */
export async function readNewPassphrase(
  flags: PassphraseFlags,
  check: (passphrase: string) => string | undefined,
  asking: Asking,
): Promise<string | null> {
  if (flags['without-secrets']) return null;
  const words = { secret: 'passphrase of the backup', short: 'passphrase' };
  const passphrase = await readNewPassword(flags['passphrase-file'], check, asking, words);
  return assertUsable(passphrase, check);
}

/** That of an existing backup; null: its secrets are not opened. Throws SECRET_UNREADABLE, USAGE for an empty one. */
export async function readPassphrase(flags: PassphraseFlags, asking: Asking): Promise<string | null> {
  if (flags['without-secrets']) return null;
  const file = flags['passphrase-file'];
  const passphrase =
    file === undefined
      ? await readHidden('Passphrase of the backup:', asking)
      : await readSecretFile(file, 'the passphrase of the backup');
  return assertUsable(passphrase, (text) => (text === '' ? 'at least one character' : undefined));
}

function assertUsable(passphrase: string, check: (passphrase: string) => string | undefined): string {
  const problem = check(passphrase);
  if (problem === undefined) return passphrase;
  throw new GwError('USAGE', `The passphrase must have ${problem}.`, {
    remedy: 'Type it at a terminal, name its file with --passphrase-file, or leave the secrets out: --without-secrets.',
  });
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
