import { constants, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { GwError } from '../error/index.ts';
import { readJsonBytes } from '../json/index.ts';
import { assertOwnFolder, ensureFolder, openExisting, openFresh, readWhole, syncFolder } from '../lifecycle/index.ts';
import { type DayLine, dayLineSchema } from './day-lines.ts';

/**
 * Project decisions: the newest ninety days on which the robot drove are kept. By their number, since a wall clock that jumps
 * would otherwise remove them all; and no more than so many bytes.
 */
const MAX_DAYS = 90;
const MAX_DAY_BYTES = 256 * 1024;
/** So near to its limit a day may have taken no more. */
const NEARLY_FULL_BYTES = 4 * 1024;
const DAY_FILE = /^\d{4}-\d{2}-\d{2}\.jsonl$/;
const MODE = { file: 0o600, folder: 0o700 };

/**
 * Appends lines to the files of their days, each whole and on the disk, and removes days beyond the limit. Returns how many were
 * left out, of days that are full. Throws FILE_UNWRITABLE: then some may be there already, and are the same a second time.
 */
export async function appendLines(dir: string, lines: readonly DayLine[]): Promise<number> {
  let leftOut = 0;
  try {
    await ensureFolder(dir, MODE.folder);
    await assertOwnFolder(dir);
    for (const [day, ofDay] of Map.groupBy(lines, ({ at }) => at.slice(0, 10))) {
      const isKept = await append(dir, `${day}.jsonl`, `${ofDay.map((line) => JSON.stringify(line)).join('\n')}\n`);
      if (!isKept) leftOut += ofDay.length;
    }
    const days = await dayFiles(dir);
    const written = new Set(lines.map(({ at }) => `${at.slice(0, 10)}.jsonl`));
    // Also by a clock that is years behind what was written just now is kept, until the next one.
    for (const old of days.slice(0, -MAX_DAYS)) if (!written.has(old)) await rm(join(dir, old));
    return leftOut;
  } catch (cause) {
    if (cause instanceof GwError) throw cause;
    const { code } = cause as NodeJS.ErrnoException;
    throw new GwError('FILE_UNWRITABLE', `${dir} cannot be written (${code ?? 'unknown reason'}).`, { cause });
  }
}

/** false: this day is full. */
async function append(dir: string, name: string, text: string): Promise<boolean> {
  const path = join(dir, name);
  let isNew = false;
  await using file = await openExisting(path, constants.O_RDWR | constants.O_APPEND).catch((error) => {
    if (error.code !== 'ENOENT') throw error;
    isNew = true;
    return openFresh(path, MODE.file);
  });
  const { size } = await file.stat();
  if (size + 1 + Buffer.byteLength(text) > MAX_DAY_BYTES) return false;
  const last = Buffer.alloc(1);
  if (size > 0) await file.read(last, 0, 1, size - 1);
  // A crash may have left the end of a line without its line end.
  await file.appendFile(size > 0 && last.toString() !== '\n' ? `\n${text}` : text);
  await file.sync();
  if (isNew) await syncFolder(dir);
  return true;
}

/**
 * All readable lines of this robot, oldest first; and of the days from `since` (2026-01-31) on how much could not be read, and
 * how many are full. Throws FILE_UNREADABLE for the folder.
 */
export async function readDays(
  dir: string,
  serial: string,
  since = '',
): Promise<{ readonly lines: readonly DayLine[]; readonly unreadable: number; readonly full: number }> {
  const lines: DayLine[] = [];
  let [unreadable, full] = [0, 0];
  const names = await dayFiles(dir).catch((cause: NodeJS.ErrnoException) => {
    throw new GwError('FILE_UNREADABLE', `${dir} cannot be read (${cause.code ?? 'unknown reason'}).`, { cause });
  });
  for (const name of names) {
    const isAsked = name.slice(0, 10) >= since;
    const bytes = await readWhole(join(dir, name), MAX_DAY_BYTES).catch(() => null);
    if (bytes === null) {
      if (isAsked) unreadable += 1;
      continue;
    }
    if (isAsked && bytes.length > MAX_DAY_BYTES - NEARLY_FULL_BYTES) full += 1;
    for (const text of Buffer.from(bytes).toString('utf8').split('\n')) {
      if (text === '') continue;
      const line = parseDayLine(text);
      if (line === null) unreadable += isAsked ? 1 : 0;
      else if (line.serial === serial) lines.push(line);
    }
  }
  return { lines, unreadable, full };
}

/** null: it is not a whole line of this format. Never throws. */
export function parseDayLine(text: string): DayLine | null {
  const read = readJsonBytes(Buffer.from(text), 'line');
  const parsed = read.ok ? dayLineSchema.safeParse(read.value) : null;
  return parsed?.success === true ? parsed.data : null;
}

async function dayFiles(dir: string): Promise<string[]> {
  const names = await readdir(dir).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  return names.filter((name) => DAY_FILE.test(name)).sort();
}
