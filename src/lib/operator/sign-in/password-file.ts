import { asGwError, GwError } from '../../error/index.ts';
import { type Clock, type Log, orAfter } from '../../lifecycle/index.ts';
import { readSecret } from '../../site/index.ts';
import { type PasswordHash, parsePasswordHash } from './password-hash.ts';

/** Project decision: a changed password counts, and ends the sessions of the old one, within this time. */
const CHECK_MS = 2_000;
/** A sign-in waits no longer for a hung disk; the last password read holds. */
const READ_WAIT_MS = 500;

export interface PasswordFile extends Disposable {
  /** Why no password can be read although one is configured; null: it can, or none is configured. */
  trouble(): string | null;
  /** Reads the file again now. */
  refresh(): Promise<void>;
}

/**
 * Follows the file of the device password. `onPassword` gets it at the start and whenever its text has changed, and
 * 'unreadable' only at the start: a file that cannot be read later leaves the last password in force, since a typing
 * error in its mode must not lock everybody out. null: none is configured.
 */
export async function followPasswordFile({
  path,
  clock,
  log,
  onPassword,
}: {
  readonly path: string | undefined;
  readonly clock: Clock;
  readonly log: Log;
  readonly onPassword: (password: PasswordHash | 'unreadable' | null) => void;
}): Promise<PasswordFile> {
  let last: string | null = null;
  let trouble: string | null = null;
  let reading: Promise<void> | null = null;
  let isOver = false;
  if (path === undefined) {
    onPassword(null);
    return { trouble: () => null, refresh: async () => {}, [Symbol.dispose]: () => {} };
  }

  async function read(file: string): Promise<void> {
    try {
      const text = await readSecret(file, 'the hash of the device password');
      const hash = parsePasswordHash(text);
      if (hash === null) {
        const remedy = 'Write it with `gw operator password`.';
        throw new GwError('SECRET_UNREADABLE', `The file ${file} holds no password hash.`, { remedy });
      }
      trouble = null;
      if (text === last || isOver) return;
      if (last !== null) log.warn({ audit: true }, 'the device password was changed; all sessions ended');
      last = text;
      onPassword(hash);
    } catch (error) {
      const { message } = asGwError(error);
      const now =
        last === null ? `sign-in unavailable: ${message}` : `the last device password still holds: ${message}`;
      if (now !== trouble) log.error({ audit: true, reason: now }, 'device password unusable');
      trouble = now;
    }
  }

  /** One reading at a time; concurrent sign-ins share it. */
  function readOnce(file: string): Promise<void> {
    reading ??= read(file).finally(() => {
      reading = null;
    });
    return reading;
  }

  await read(path);
  if (last === null) onPassword('unreadable');
  const checking = clock.every(CHECK_MS, () => void readOnce(path));
  return {
    trouble: () => trouble,
    refresh: () => orAfter(clock, READ_WAIT_MS, readOnce(path)),
    [Symbol.dispose]() {
      isOver = true;
      checking[Symbol.dispose]();
    },
  };
}
