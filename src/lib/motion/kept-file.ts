import { access, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { GwError } from '../error/index.ts';
import { ensureFolder, folderProblem, readWhole, replaceFile, syncFolder } from '../lifecycle/index.ts';

const REMEDY = 'Give gw its own writable state folder with free space (stateDir in the site file).';

/** A small file in the state folder that closes the gate over a restart. What cannot be saved rejects with FILE_UNWRITABLE. */
export interface KeptFile {
  readonly path: string;
  /** Its content, or a short text why it cannot be read. Never rejects. */
  read<T>(parse: (text: string) => T | string, missing: T): Promise<T | string>;
  /** false: there is no file. Never rejects; whether it can be read is not asked. */
  isThere(): Promise<boolean>;
  /** Durable when it resolves: synced, renamed over the old file, and the folder synced; makes the folder where it is missing. */
  write(text: string): Promise<void>;
  /** Durable when it resolves. */
  remove(): Promise<void>;
  /** Any other access to the folder. */
  attempt(work: () => Promise<void>): Promise<void>;
}

/** `what`: its content in the words of errors, such as 'stop latch'. */
export function createKeptFile(stateDir: string, name: string, what: string, maxBytes: number): KeptFile {
  const path = join(stateDir, name);

  const unsaved = (why: string, remedy: string, cause?: unknown) =>
    new GwError('FILE_UNWRITABLE', `The ${what} cannot be saved in ${stateDir}: ${why}.`, { remedy, cause });

  /** Another user with write access could replace the file by one of another content, or by a link. */
  async function assertOwn(): Promise<void> {
    const problem = await folderProblem(stateDir);
    if (problem !== null) throw unsaved(problem.text, problem.remedy);
  }

  async function attempt(work: () => Promise<void>): Promise<void> {
    try {
      await assertOwn();
      await work();
    } catch (error) {
      if (error instanceof GwError && error.code === 'FILE_UNWRITABLE' && error.cause === undefined) throw error;
      const cause = error instanceof GwError ? (error.cause ?? error) : error;
      // After the comma the system names the call and a temporary file, which do not help a person.
      const [why] = (cause instanceof Error ? cause.message : String(cause)).split(', ');
      throw unsaved(why ?? '', REMEDY, error);
    }
  }

  return {
    path,
    attempt,

    async read(parse, missing) {
      try {
        await assertOwn();
        return parse(Buffer.from(await readWhole(path, maxBytes)).toString('utf8'));
      } catch (error) {
        if (error instanceof GwError) return error.message;
        const { code } = error as NodeJS.ErrnoException;
        return code === 'ENOENT' ? missing : (code ?? 'it cannot be opened');
      }
    },

    isThere: () =>
      access(path).then(
        () => true,
        // A file may have taken the place of the folder.
        ({ code }: NodeJS.ErrnoException) => code !== 'ENOENT' && code !== 'ENOTDIR',
      ),

    write: (text) => attempt(() => replaceFile(path, text, { mode: 0o600, folderMode: 0o700, durable: true })),

    remove: () =>
      attempt(async () => {
        await ensureFolder(stateDir, 0o700);
        await rm(path, { force: true });
        await syncFolder(stateDir);
      }),
  };
}

/** Parses a kept file, or says why it is none. */
export function parseKept(text: string): { readonly json: unknown } | string {
  try {
    return { json: JSON.parse(text) as unknown };
  } catch {
    return text === '' ? 'it is empty' : 'it is not JSON';
  }
}
