import { access, constants, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { otherFormat, otherVersionText } from '../../json/index.ts';
import { ensureFolder, openFresh, syncFolder } from '../../lifecycle/index.ts';
import { createKeptFile, parseKept } from '../kept-file.ts';

const FILE = 'stop-latch.json';
const FORMAT = 'gw/stop-latch/1';
const MAX_BYTES = 16 * 1024;
export const MAX_CHARACTERS = 500;
/** Less free space than for a few such files counts as full. Project decision. */
const MIN_FREE_BYTES = 64 * 1024;

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
  const file = createKeptFile(stateDir, FILE, 'stop latch', MAX_BYTES);
  return {
    path: file.path,

    probe: () =>
      file.attempt(async () => {
        await ensureFolder(stateDir, 0o700);
        const probe = join(stateDir, `.${FILE}.${crypto.randomUUID()}`);
        try {
          await using draft = await openFresh(probe, 0o600);
          // The size of the longest stop: a full disk may still create empty files.
          await draft.writeFile(Buffer.alloc(4 * MAX_CHARACTERS, ' '));
          await draft.sync();
        } finally {
          await rm(probe, { force: true }).catch(() => {});
        }
        await syncFolder(stateDir);
      }),

    check: () =>
      file.attempt(async () => {
        await access(stateDir, constants.W_OK | constants.X_OK);
        const { bavail, bsize, files, ffree } = await statfs(stateDir);
        // Some file systems report no file count.
        const isFull = bavail * bsize < MIN_FREE_BYTES || (files > 0 && ffree === 0);
        if (isFull) throw new Error('no space left');
      }),

    isThere: file.isThere,
    read: () => file.read(parseLatch, released),

    write: ({ latched, reason, by, since, disobeyed }) =>
      file.write(`${JSON.stringify({ format: FORMAT, latched, reason, by, since, disobeyed })}\n`),
  };
}

/** Exported for its property test. */
export function parseLatch(text: string): KeptLatch | string {
  const kept = parseKept(text);
  if (typeof kept === 'string') return kept;
  const parsed = schema.safeParse(kept.json);
  if (!parsed.success) {
    const format = otherFormat(kept.json, FORMAT);
    return format === null ? 'its content is not a stop latch' : otherVersionText(format, FORMAT);
  }
  const { format: _format, ...latch } = parsed.data;
  return latch;
}
