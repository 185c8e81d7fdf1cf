import { join } from 'node:path';
import { CURRENT_FILE, listFolder, readLines } from './files.ts';
import { parseLine } from './line.ts';
import type { SessionRecord } from './schema.ts';

/** The newest records, newest first. Rejects with the error of the operating system. */
export async function newestRecords(dir: string, limit: number): Promise<SessionRecord[]> {
  const found: SessionRecord[] = [];
  for (const path of (await filesOf(dir)).toReversed()) {
    if (found.length >= limit) break;
    found.push(...(await newestOfFile(path, limit - found.length)));
  }
  return found;
}

/** As `newestRecords`, of one file; none of a file that is not there. */
export async function newestOfFile(path: string, limit = 1): Promise<SessionRecord[]> {
  const found: SessionRecord[] = [];
  await ifThere(async () => {
    for await (const { bytes, isWhole } of readLines(path)) {
      const record = isWhole ? parseLine(bytes) : null;
      if (record === null) continue;
      found.push(record);
      if (found.length > limit) found.shift();
    }
  });
  return found.toReversed();
}

/**
 * Reads the records after a `seq`, oldest first. It remembers where the last batch ended, so that a long backlog is read
 * once. Rejects with the error of the operating system.
 */
export function createUnsent(dir: string): (after: number, limit: number) => Promise<SessionRecord[]> {
  let next: { readonly path: string; readonly offset: number; readonly after: number; readonly before: string } | null =
    null;

  return async (after, limit) => {
    const found: SessionRecord[] = [];
    const files = await filesOf(dir);
    const resume = next;
    // The current file has another content once it was rotated, and then another file is before it.
    const known = files.findIndex((path, at) => path === resume?.path && (files[at - 1] ?? '') === resume.before);
    const from = known === -1 || resume?.after !== after ? null : { at: known, offset: resume.offset };
    for (const [at, path] of files.entries()) {
      if (found.length >= limit) break;
      if (from !== null && at < from.at) continue;
      await ifThere(async () => {
        for await (const line of readLines(path, at === from?.at ? from.offset : 0)) {
          if (found.length >= limit || !line.isWhole) break;
          const record = parseLine(line.bytes);
          if (record === null || record.seq <= after) continue;
          found.push(record);
          next = { path, offset: line.end, after: record.seq, before: files[at - 1] ?? '' };
        }
      });
    }
    return found;
  };
}

/** Oldest first. */
async function filesOf(dir: string): Promise<string[]> {
  const { rotated } = await listFolder(dir);
  return [...rotated.map(({ path }) => path), join(dir, CURRENT_FILE)];
}

async function ifThere(work: () => Promise<void>): Promise<void> {
  await work().catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
}
