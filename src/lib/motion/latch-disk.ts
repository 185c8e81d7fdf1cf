import { access, constants, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { GwError } from '../error/index.ts';
import { otherFormat, otherVersionText } from '../json/index.ts';
import { ensureFolder, folderProblem, openFresh, readWhole, replaceFile, syncFolder } from '../lifecycle/index.ts';

const FILE = 'stop-latch.json';
const FORMAT = 'gw/stop-latch/1';
const MAX_BYTES = 16 * 1024;
export const MAX_CHARACTERS = 500;
/** Less free space than for a few such files counts as full. Project decision. */
const MIN_FREE_BYTES = 64 * 1024;
const REMEDY = 'Give gw its own writable state folder with free space (stateDir in the site file).';

const schema = z.strictObject({
  format: z.literal(FORMAT),
  latched: z.boolean(),
  reason: z.string().max(MAX_CHARACTERS).nullable(),
  by: z.string().max(MAX_CHARACTERS).nullable(),
  since: z.iso.datetime().nullable(),
  disobeyed: z.string().max(MAX_CHARACTERS).optional(),
});

/** Content of the file. */
export type KeptLatch = Omit<z.infer<typeof schema>, 'format'>;

export const released: KeptLatch = { latched: false, reason: null, by: null, since: null };

/** Persistent storage of the stop latch. Everything but `isThere` and `read` rejects with FILE_UNWRITABLE. */
export interface LatchDisk {
  readonly path: string;
  /** Writes a file of this size, syncs and removes it. */
  probe(): Promise<void>;
  /** Checks without writing whether the latch could be written: flash memory wears. */
  check(): Promise<void>;
  /** false: there is no file. Never rejects; whether it can be read is not asked. */
  isThere(): Promise<boolean>;
  /** The saved latch, or a short text why it cannot be read. A missing file means: never stopped. */
  read(): Promise<KeptLatch | string>;
  /** Durable when it resolves: synced, renamed over the old file, and the folder synced. */
  write(latch: KeptLatch): Promise<void>;
}

export function createLatchDisk(stateDir: string): LatchDisk {
  const path = join(stateDir, FILE);

  /** Another user with write access could replace the latch by a released one, or by a link. */
  async function assertOwn(): Promise<void> {
    const problem = await folderProblem(stateDir);
    if (problem !== null) throw unsaved(stateDir, problem.text, problem.remedy);
  }

  async function attempt(work: () => Promise<void>): Promise<void> {
    try {
      await assertOwn();
      await work();
    } catch (error) {
      throw unsavedBy(stateDir, error);
    }
  }

  return {
    path,

    probe: () =>
      attempt(async () => {
        await ensureFolder(stateDir, 0o700);
        const probe = join(stateDir, `.${FILE}.${crypto.randomUUID()}`);
        try {
          await using file = await openFresh(probe, 0o600);
          // The size of the longest stop: a full disk may still create empty files.
          await file.writeFile(Buffer.alloc(4 * MAX_CHARACTERS, ' '));
          await file.sync();
        } finally {
          await rm(probe, { force: true }).catch(() => {});
        }
        await syncFolder(stateDir);
      }),

    check: () =>
      attempt(async () => {
        await access(stateDir, constants.W_OK | constants.X_OK);
        const { bavail, bsize, files, ffree } = await statfs(stateDir);
        // Some file systems report no file count.
        const isFull = bavail * bsize < MIN_FREE_BYTES || (files > 0 && ffree === 0);
        if (isFull) throw unsaved(stateDir, 'no space left', REMEDY);
      }),

    isThere: () =>
      access(path).then(
        () => true,
        (error: NodeJS.ErrnoException) => error.code !== 'ENOENT',
      ),

    async read() {
      try {
        await assertOwn();
        return parseLatch(Buffer.from(await readWhole(path, MAX_BYTES)).toString('utf8'));
      } catch (error) {
        if (error instanceof GwError) return error.message;
        const { code } = error as NodeJS.ErrnoException;
        return code === 'ENOENT' ? released : (code ?? 'it cannot be opened');
      }
    },

    write: ({ latched, reason, by, since, disobeyed }) =>
      attempt(() =>
        replaceFile(path, `${JSON.stringify({ format: FORMAT, latched, reason, by, since, disobeyed })}\n`, {
          mode: 0o600,
          folderMode: 0o700,
          durable: true,
        }),
      ),
  };
}

/** Exported for its property test. */
export function parseLatch(text: string): KeptLatch | string {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return text === '' ? 'it is empty' : 'it is not JSON';
  }
  const parsed = schema.safeParse(json);
  if (!parsed.success) {
    const format = otherFormat(json, FORMAT);
    return format === null ? 'its content is not a stop latch' : otherVersionText(format, FORMAT);
  }
  const { format: _format, ...latch } = parsed.data;
  return latch;
}

function unsavedBy(stateDir: string, error: unknown): GwError {
  if (error instanceof GwError && error.code === 'FILE_UNWRITABLE' && error.cause === undefined) return error;
  const cause = error instanceof GwError ? (error.cause ?? error) : error;
  // After the comma the system names the call and a temporary file, which do not help a person.
  const [why] = (cause instanceof Error ? cause.message : String(cause)).split(', ');
  return unsaved(stateDir, why ?? '', REMEDY, error);
}

function unsaved(stateDir: string, why: string, remedy: string, cause?: unknown): GwError {
  return new GwError('FILE_UNWRITABLE', `The stop latch cannot be saved in ${stateDir}: ${why}.`, { remedy, cause });
}
