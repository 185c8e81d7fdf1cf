import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Log } from '../../lifecycle/index.ts';
import { CURRENT_FILE, HEAD_FILE, listFolder, MAX_ROTATED_FILES, readLines } from './files.ts';
import { FIRST_PREV, parseLine } from './line.ts';
import { type Head, readHead } from './pointers.ts';
import type { SessionRecord } from './schema.ts';

/** Older hashes are forgotten: a notification is delivered again within hours at most. Project decision. */
const MAX_TOKENS = 10_000;

/** State of the records, read from their folder. */
export interface Loaded {
  /** After which record the next one comes; seq 0: none yet. */
  readonly last: Head;
  /** The current file: how many bytes of whole lines it has, and how many of a torn one follow; null: none. */
  readonly current: { readonly bytes: number; readonly tornBytes: number } | null;
  /** Whether the last whole line of the current file is no record, so that nothing may follow it. */
  readonly isEndUnreadable: boolean;
  readonly isHeadDamaged: boolean;
  readonly isHeadBehind: boolean;
  /** Starts without an end, oldest first. */
  readonly open: Map<string, { readonly session: string; readonly at: string }>;
  /** Of at most the last MAX_TOKENS notifications. */
  readonly tokens: Set<string>;
}

/**
 * Reads every file of the records. `known` is what this process wrote last. Damage is logged and skipped, since a
 * record that cannot be read must not end remote support for good; the audit names it. Rejects with the error of the
 * operating system when the current file cannot be read.
 */
export async function loadRecords(dir: string, log: Log, known: Head): Promise<Loaded> {
  const open: Loaded['open'] = new Map();
  const tokens = new Set<string>();
  let prev: string | null = null;
  let lastRead = { seq: 0, hash: FIRST_PREV };
  let firstRead = 1;
  let damaged = 0;
  let isEndUnreadable = false;

  function take(record: SessionRecord): void {
    if (prev === null) firstRead = record.seq;
    else if (record.prev !== prev) damaged += 1;
    prev = record.hash;
    // Not simply the last line, which may be a copy of an earlier one.
    if (record.seq >= lastRead.seq) lastRead = { seq: record.seq, hash: record.hash };
    if (record.kind === 'start') open.set(record.session, { session: record.session, at: record.at });
    if (record.kind === 'end') open.delete(record.session);
    else remember(tokens, record.tokenHash);
  }

  async function readFile(path: string): Promise<{ readonly bytes: number; readonly tornBytes: number }> {
    let bytes = 0;
    isEndUnreadable = false;
    for await (const line of readLines(path)) {
      if (!line.isWhole) break;
      const record = parseLine(line.bytes);
      isEndUnreadable = record === null;
      if (record === null) damaged += 1;
      else take(record);
      bytes = line.end;
    }
    const { size } = await stat(path);
    return { bytes, tornBytes: size - bytes };
  }

  const { rotated } = await listFolder(dir);
  for (const { path } of rotated) {
    await readFile(path).catch((error) => {
      log.error({ path, error: error.message }, 'a rotated file of the session records cannot be read');
    });
  }
  isEndUnreadable = false;
  const current = await readFile(join(dir, CURRENT_FILE)).catch((error) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (damaged > 0) {
    log.error({ dir, damaged }, 'the session records are damaged: run gw tunnel audit, which names the lines');
  }

  const read = await readHead(join(dir, HEAD_FILE));
  // Without a head only as many files as rotation keeps show that it has removed some: otherwise the first are missed.
  const firstSeq = rotated.length >= MAX_ROTATED_FILES ? firstRead : 1;
  const head = read.kind === 'read' ? read.value : { seq: 0, hash: FIRST_PREV, firstSeq };
  // The first record is on the disk before the first head.
  if (read.kind === 'missing' && lastRead.seq > 1) {
    log.error({ dir }, 'head.json is missing beside session records: only the copy of the cloud shows a cut end now');
  }
  const ends = [lastRead, head, known];
  const { seq, hash } = ends.reduce((best, one) => (one.seq > best.seq ? one : best));
  // Not the first that is there: a file that another program removed is to be missed.
  const last: Head = { seq, hash, firstSeq: known.seq > 0 ? known.firstSeq : head.firstSeq };
  if (last.seq > lastRead.seq) {
    const missing = { fromSeq: lastRead.seq + 1, toSeq: last.seq };
    log.error({ dir, ...missing }, 'session records are missing at the end: the numbers stay reserved for them');
  }
  return {
    last,
    current,
    isEndUnreadable,
    isHeadDamaged: read.kind === 'damaged',
    isHeadBehind: last.seq > 0 && (read.kind !== 'read' || head.seq < last.seq),
    open,
    tokens,
  };
}

/** Keeps the newest. */
export function remember(tokens: Set<string>, hash: string): void {
  tokens.delete(hash);
  tokens.add(hash);
  const [oldest] = tokens;
  if (tokens.size > MAX_TOKENS && oldest !== undefined) tokens.delete(oldest);
}
