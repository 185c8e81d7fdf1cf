import { open, rename, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { GwError } from '../error/index.ts';
import { type Clock, ensureFolder, type Log, syncFolder } from '../lifecycle/index.ts';
import type { StopLatch } from './model.ts';

const FILE = 'stop-latch.json';
const MOST_BYTES = 16 * 1024;
const MOST_LETTERS = 500;

const latchFileSchema = z.strictObject({
  format: z.literal('gw/stop-latch/1'),
  latched: z.boolean(),
  reason: z.string().max(MOST_LETTERS).nullable(),
  by: z.string().max(MOST_LETTERS).nullable(),
  since: z.iso.datetime().nullable(),
});

const released: StopLatch = { latched: false, reason: null, by: null, since: null };

/**
 * The stop that outlives a crash, a restart and a power cut. It holds in memory from the moment it is set, and on
 * disk before `set` resolves (a new file, fsynced, renamed over the old one, and the folder fsynced). What cannot
 * be read counts as stopped.
 */
export function createStopLatch(options: { stateDir: string; clock: Clock; log: Log; onChange: () => void }) {
  const { stateDir, clock, log, onChange } = options;
  const path = join(stateDir, FILE);
  let state: StopLatch = held('The stop latch has not been read yet', 'gw', null);
  let loaded = false;
  /** Counts the stops, so that a clear which was under way when one came does not win. */
  let stops = 0;
  let writing: Promise<void> = Promise.resolve();

  /** One write after the other, in the order asked for. */
  function write(next: StopLatch): Promise<void> {
    const turn = writing.then(() => writeDurably(stateDir, path, next));
    writing = turn.catch(() => {});
    return turn;
  }

  function become(next: StopLatch): void {
    state = next;
    onChange();
  }

  return {
    state: (): StopLatch => state,

    /** Reads what an earlier life left. Throws FILE_UNWRITABLE: a robot whose stop cannot be kept must not be driven. */
    async load(): Promise<void> {
      await proveWritable(stateDir);
      if (loaded) return;
      const found = await readLatch(path);
      loaded = true;
      // A stop that came before the first load stays.
      if (stops > 0) return;
      if (typeof found === 'string') {
        log.error({ path, found }, 'the stop latch cannot be read and counts as set');
        become(held(`The file of the stop latch cannot be read (${found}), which counts as stopped`, 'gw', null));
      } else {
        become(found);
      }
    },

    /** Never fails: when the disk refuses, the stop holds in memory and says so. */
    async set(reason: string, by: string): Promise<StopLatch> {
      stops += 1;
      const next = held(reason, by, clock.wall().toISOString());
      become(next);
      try {
        await write(next);
      } catch (error) {
        log.error({ path, error: String(error) }, 'the stop latch could not be saved; it holds until gw ends');
        if (state === next) {
          become({ ...next, reason: cut(`${next.reason} (not saved: a restart of gw would forget this stop)`) });
        }
      }
      return state;
    },

    /** Throws FILE_UNWRITABLE and stays set when the release cannot be saved. */
    async clear(): Promise<StopLatch> {
      const at = stops;
      try {
        await write(released);
      } catch (error) {
        throw unwritable(path, error);
      }
      if (stops === at) {
        loaded = true;
        become(released);
      }
      return state;
    },
  };
}

export type StopLatchKeeper = ReturnType<typeof createStopLatch>;

function held(reason: string, by: string, since: string | null): StopLatch {
  return { latched: true, reason: cut(reason), by: cut(by), since };
}

function cut(text: string): string {
  return text.slice(0, MOST_LETTERS);
}

/** The state, or in a few words why it cannot be told. No file at all is a gateway that was never stopped. */
async function readLatch(path: string): Promise<StopLatch | string> {
  let bytes: Buffer;
  try {
    await using file = await open(path, 'r');
    const buffer = Buffer.alloc(MOST_BYTES + 1);
    const { bytesRead } = await file.read(buffer, 0, buffer.length, 0);
    bytes = buffer.subarray(0, bytesRead);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    return code === 'ENOENT' ? released : (code ?? 'it cannot be opened');
  }
  if (bytes.length > MOST_BYTES) return 'it is too long';
  return parseLatch(bytes.toString('utf8'));
}

/** Exported for its property test. */
export function parseLatch(text: string): StopLatch | string {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return text === '' ? 'it is empty' : 'it is not JSON';
  }
  const parsed = latchFileSchema.safeParse(json);
  if (!parsed.success) return 'it does not say what it must';
  const { latched, reason, by, since } = parsed.data;
  return { latched, reason, by, since };
}

async function writeDurably(dir: string, path: string, state: StopLatch): Promise<void> {
  await ensureFolder(dir, 0o700);
  const fresh = `${path}.new`;
  {
    await using file = await open(fresh, 'w', 0o600);
    await file.writeFile(`${JSON.stringify({ format: 'gw/stop-latch/1', ...state })}\n`);
    await file.sync();
  }
  await rename(fresh, path);
  await syncFolder(dir);
}

async function proveWritable(dir: string): Promise<void> {
  const probe = join(dir, `${FILE}.probe`);
  try {
    await ensureFolder(dir, 0o700);
    {
      await using file = await open(probe, 'w', 0o600);
      await file.sync();
    }
    await unlink(probe);
    await syncFolder(dir);
  } catch (error) {
    throw unwritable(dir, error);
  }
}

function unwritable(path: string, cause: unknown): GwError {
  return new GwError('FILE_UNWRITABLE', `The stop latch cannot be kept in ${path}: ${(cause as Error).message}.`, {
    remedy: 'Give gw a folder of its own for state (stateDir in the site file) that it may write to.',
    cause,
  });
}
