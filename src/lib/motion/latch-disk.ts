import { access, constants, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { GwError } from '../error/index.ts';
import { ensureFolder, folderProblem, openFresh, readWhole, replaceFile, syncFolder } from '../lifecycle/index.ts';

const FILE = 'stop-latch.json';
const FORMAT = 'gw/stop-latch/1';
const MOST_BYTES = 16 * 1024;
export const MOST_LETTERS = 500;
/** Less room than for a few files of this kind is none. Project decision. */
const LEAST_FREE_BYTES = 64 * 1024;
const OWN_FOLDER =
  'Give gw a folder of its own for state (stateDir in the site file), with room, that it may write to.';

const schema = z.strictObject({
  format: z.literal(FORMAT),
  latched: z.boolean(),
  reason: z.string().max(MOST_LETTERS).nullable(),
  by: z.string().max(MOST_LETTERS).nullable(),
  since: z.iso.datetime().nullable(),
});

/** What the file holds. */
export type KeptLatch = Omit<z.infer<typeof schema>, 'format'>;

export const released: KeptLatch = { latched: false, reason: null, by: null, since: null };

/** Where the stop outlives gw. Everything but `read` rejects with FILE_UNWRITABLE, which says why and what to do. */
export interface LatchDisk {
  readonly path: string;
  /** Writes a file of this size, syncs it and takes it away. */
  prove(): Promise<void>;
  /** Looks, without writing, whether one could be written: flash memory wears. */
  look(): Promise<void>;
  /** What is kept, or in a few words why that cannot be told. No file at all is a gateway that was never stopped. */
  read(): Promise<KeptLatch | string>;
  /** On the disk when it resolves: synced, renamed over the old one, and the folder synced. */
  write(latch: KeptLatch): Promise<void>;
}

export function createLatchDisk(stateDir: string): LatchDisk {
  const path = join(stateDir, FILE);

  /** Others who may write there could put a released latch in its place, or a link. */
  async function assertOwn(): Promise<void> {
    const problem = await folderProblem(stateDir);
    if (problem !== null) throw unkept(stateDir, problem.text, problem.remedy);
  }

  async function attempt(work: () => Promise<void>): Promise<void> {
    try {
      await assertOwn();
      await work();
    } catch (error) {
      throw unkeptBy(stateDir, error);
    }
  }

  return {
    path,

    prove: () =>
      attempt(async () => {
        await ensureFolder(stateDir, 0o700);
        const probe = join(stateDir, `.${FILE}.${crypto.randomUUID()}`);
        try {
          await using file = await openFresh(probe, 0o600);
          // As much as the longest stop takes: a full disk gives names, and no room.
          await file.writeFile(Buffer.alloc(4 * MOST_LETTERS, ' '));
          await file.sync();
        } finally {
          await rm(probe, { force: true }).catch(() => {});
        }
        await syncFolder(stateDir);
      }),

    look: () =>
      attempt(async () => {
        await access(stateDir, constants.W_OK | constants.X_OK);
        const { bavail, bsize, files, ffree } = await statfs(stateDir);
        // Some file systems count no files.
        const isFull = bavail * bsize < LEAST_FREE_BYTES || (files > 0 && ffree === 0);
        if (isFull) throw unkept(stateDir, 'there is no room left', OWN_FOLDER);
      }),

    async read() {
      try {
        await assertOwn();
        return parseLatch(Buffer.from(await readWhole(path, MOST_BYTES)).toString('utf8'));
      } catch (error) {
        if (error instanceof GwError) return error.message;
        const { code } = error as NodeJS.ErrnoException;
        return code === 'ENOENT' ? released : (code ?? 'it cannot be opened');
      }
    },

    write: ({ latched, reason, by, since }) =>
      attempt(() =>
        replaceFile(path, `${JSON.stringify({ format: FORMAT, latched, reason, by, since })}\n`, {
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
  if (!parsed.success) return 'it does not say what it must';
  const { latched, reason, by, since } = parsed.data;
  return { latched, reason, by, since };
}

function unkeptBy(stateDir: string, error: unknown): GwError {
  if (error instanceof GwError && error.code === 'FILE_UNWRITABLE' && error.cause === undefined) return error;
  const cause = error instanceof GwError ? (error.cause ?? error) : error;
  // Behind the comma stands the call and the name of a draft, which nobody has to look for.
  const [why] = (cause instanceof Error ? cause.message : String(cause)).split(', ');
  return unkept(stateDir, why ?? '', OWN_FOLDER, error);
}

function unkept(stateDir: string, why: string, remedy: string, cause?: unknown): GwError {
  return new GwError('FILE_UNWRITABLE', `The stop latch cannot be kept in ${stateDir}: ${why}.`, { remedy, cause });
}
