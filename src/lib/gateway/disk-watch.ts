import { access, constants, type FileHandle, open, readdir, stat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { systemReason } from '../error/index.ts';
import { type Clock, type Log, repeat } from '../lifecycle/index.ts';
import type { FolderHealth } from '../operator/index.ts';

/** Project decisions: the check interval, and the time after which a check counts as hung. */
const CHECK_INTERVAL_MS = 10_000;
const HUNG_MS = 15_000;

export interface DiskWatch extends Disposable {
  view(): FolderHealth;
}

/**
 * Checks the free space of a folder, or of its nearest existing parent, without writing. Starts at once. A folder that is held
 * must also stay the one that was seen first: whatever writes to it next makes it anew, without all that it held.
 */
export function watchDisk(options: {
  readonly path: string;
  /** The key of the site file that names the folder. */
  readonly key: string;
  /** Min. free space. */
  readonly reserveBytes: number;
  /** gw has files of it open, and a socket in it. */
  readonly isHeld: boolean;
  readonly clock: Clock;
  readonly log: Log;
}): DiskWatch {
  const { path, key, reserveBytes, clock, log } = options;
  const held = options.isHeld ? holdFolder(path) : null;
  let seen: FolderHealth = {
    path,
    status: 'not-checked',
    freeBytes: null,
    totalBytes: null,
    detail: 'Not checked yet.',
    remedy: null,
  };

  function take(next: FolderHealth): void {
    const { status, detail, freeBytes } = next;
    if (status !== seen.status && (status !== 'ok' || seen.status !== 'not-checked')) {
      const how = status === 'ok' ? log.info : log.warn;
      how({ path, status, detail, freeBytes }, 'free space of a gw folder');
    }
    seen = next;
  }

  const ticking = repeat(clock, {
    everyMs: CHECK_INTERVAL_MS,
    hungMs: HUNG_MS,
    // What else keeps it from being used, the look at it says.
    work: () =>
      (held?.problem() ?? Promise.resolve(null))
        .catch(() => null)
        .then((problem) => problem ?? look(path, key, reserveBytes))
        .then(take),
    onHung: () =>
      take({
        ...seen,
        status: 'not-checked',
        detail: 'The file system does not answer.',
        remedy: 'Check the disk of this machine (`dmesg`, `df`).',
      }),
  });
  ticking.tick();
  return {
    view: () => seen,
    [Symbol.dispose]() {
      ticking[Symbol.dispose]();
      held?.[Symbol.dispose]();
    },
  };
}

/** Open from the first time at which it is there, so that no other folder gets its number on the file system. */
function holdFolder(path: string): Disposable & { problem(): Promise<FolderHealth | null> } {
  let folder: FileHandle | null = null;
  let isOver = false;
  const close = () => void folder?.close().catch(() => {});

  async function hold(): Promise<void> {
    folder ??= await open(path, constants.O_RDONLY | constants.O_DIRECTORY).catch(() => null);
    if (isOver) close();
  }

  return {
    async problem() {
      if (folder === null) await hold();
      if (folder === null || isOver) return null;
      const own = await folder.stat();
      const now = await stat(path).catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return null;
        throw error;
      });
      if (now?.dev === own.dev && now.ino === own.ino) return null;
      return {
        ...{ path, status: 'unusable', freeBytes: null, totalBytes: null },
        detail:
          now === null
            ? 'The folder was removed while gw ran.'
            : 'It is another folder than the one with which gw began, which was removed with all that it held.',
        remedy: 'Put the folder back, or restart `gw serve`, which begins with a new one.',
      };
    },
    [Symbol.dispose]() {
      isOver = true;
      close();
    },
  };
}

async function look(path: string, key: string, reserveBytes: number): Promise<FolderHealth> {
  const nothing = { path, freeBytes: null, totalBytes: null };
  try {
    const there = await nearestExisting(path);
    // Fails with ENOTDIR for anything but a folder.
    if (there === path) await readdir(path);
    // Fails on a read-only file system for root as well.
    await access(there, constants.W_OK | constants.X_OK);
    const { bavail, blocks, bsize } = await statfs(there);
    const space = { path, freeBytes: bavail * bsize, totalBytes: blocks * bsize };
    const free = `${mb(space.freeBytes)} MB of ${mb(space.totalBytes)} MB free`;
    if (space.freeBytes >= reserveBytes) return { ...space, status: 'ok', detail: `${free}.`, remedy: null };
    return {
      ...space,
      status: 'low',
      detail: `${free}, less than the reserve of ${mb(reserveBytes)} MB (disk.reserveMb).`,
      remedy: 'Find large folders with `du -x -d1 -h /`, and remove unneeded files.',
    };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return {
      ...nothing,
      status: 'unusable',
      detail: `The folder cannot be used (${systemReason({ code })}).`,
      remedy: `Make it writable for gw, or name another folder in ${key} of the site file.`,
    };
  }
}

/** The folder, or its nearest existing parent. */
async function nearestExisting(path: string): Promise<string> {
  try {
    await stat(path);
    return path;
  } catch (error) {
    const above = dirname(path);
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || above === path) throw error;
    return nearestExisting(above);
  }
}

function mb(bytes: number): number {
  return Math.floor(bytes / 1_000_000);
}
