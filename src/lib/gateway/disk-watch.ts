import { access, constants, readdir, stat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Clock, Log } from '../lifecycle/index.ts';
import type { FolderHealth } from '../operator/index.ts';

/** Project decisions: how often it is looked, and when a file system that gives no answer is said to. */
const LOOK_MS = 10_000;
const HUNG_MS = 15_000;

export interface DiskWatch extends Disposable {
  view(): FolderHealth;
}

/** Looks at the room in a folder, or where it would be made, without writing. The first look begins at once. */
export function watchDisk(options: {
  readonly path: string;
  /** The key of the site file that names the folder. */
  readonly key: string;
  /** Less free room than this is too little. */
  readonly reserveBytes: number;
  readonly clock: Clock;
  readonly log: Log;
}): DiskWatch {
  const { path, key, reserveBytes, clock, log } = options;
  let seen: FolderHealth = {
    path,
    status: 'not-checked',
    freeBytes: null,
    totalBytes: null,
    detail: 'It has not been looked at yet.',
    remedy: null,
  };
  let lookingSinceMs: number | null = null;

  function take(next: FolderHealth): void {
    const { status, detail, freeBytes } = next;
    if (status !== seen.status && (status !== 'ok' || seen.status !== 'not-checked')) {
      const how = status === 'ok' ? log.info : log.warn;
      how({ path, status, detail, freeBytes }, 'the room for a folder of gw');
    }
    seen = next;
  }

  function tick(): void {
    const nowMs = clock.monotonicMs();
    if (lookingSinceMs === null) {
      lookingSinceMs = nowMs;
      void look(path, key, reserveBytes)
        .then(take)
        .finally(() => {
          lookingSinceMs = null;
        });
    } else if (nowMs - lookingSinceMs >= HUNG_MS) {
      take({
        ...seen,
        status: 'not-checked',
        detail: 'The file system gives no answer.',
        remedy: 'Look at the disk of this machine (`dmesg`, `df`).',
      });
    }
  }

  const ticking = clock.every(LOOK_MS, tick);
  tick();
  return { view: () => seen, [Symbol.dispose]: () => ticking[Symbol.dispose]() };
}

async function look(path: string, key: string, reserveBytes: number): Promise<FolderHealth> {
  const nothing = { path, freeBytes: null, totalBytes: null };
  try {
    const there = await firstThere(path);
    // Says ENOTDIR for anything else than a folder.
    if (there === path) await readdir(path);
    // Refuses on a read-only file system for root as well.
    await access(there, constants.W_OK | constants.X_OK);
    const { bavail, blocks, bsize } = await statfs(there);
    const room = { path, freeBytes: bavail * bsize, totalBytes: blocks * bsize };
    const free = `${mb(room.freeBytes)} MB of ${mb(room.totalBytes)} MB free`;
    if (room.freeBytes >= reserveBytes) return { ...room, status: 'ok', detail: `${free}.`, remedy: null };
    return {
      ...room,
      status: 'low',
      detail: `${free}, less than the reserve of ${mb(reserveBytes)} MB (disk.reserveMb).`,
      remedy: 'Find out what fills the disk (`du -x -d1 -h /`), and remove what is not needed.',
    };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return {
      ...nothing,
      status: 'unusable',
      detail: `The folder cannot be used (${code ?? 'unknown reason'}).`,
      remedy: `Mend it, or name a folder in ${key} of the site file that gw may write to.`,
    };
  }
}

/** The folder, or the nearest one above it in which it would be made. */
async function firstThere(path: string): Promise<string> {
  try {
    await stat(path);
    return path;
  } catch (error) {
    const above = dirname(path);
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || above === path) throw error;
    return firstThere(above);
  }
}

function mb(bytes: number): number {
  return Math.floor(bytes / 1_000_000);
}
