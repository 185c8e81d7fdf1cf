import { hash } from 'node:crypto';
import { linesOf } from '../records/files.ts';
import { HASH_PART_BYTES, linksOf, readFields } from '../records/line.ts';
import type { Chain } from './chain.ts';
import type { LocalRecords } from './cloud-copy.ts';
import type { Findings, Place } from './findings.ts';
import { MAX_AUDITED_LINE_BYTES } from './lines.ts';
import type { Sessions } from './sessions.ts';
import type { SourceFile } from './sources.ts';

/** Of a line that is no record, searched for tokens. */
const MAX_SEARCHED_BYTES = 64 * 1024;

export interface ReadParts {
  readonly findings: Findings;
  readonly chain: Chain;
  readonly sessions: Sessions;
  /** Filled when there is a copy of the cloud to compare with. */
  readonly local: LocalRecords | null;
  readonly signal: AbortSignal | undefined;
}

/**
 * Reads the lines of one file in a stream, with the hash over the bytes as they are. Returns the number of lines, the place
 * of a last line without its line end, and whether all bytes were searched for tokens.
 */
export async function readRecordFile(
  file: SourceFile,
  { findings, chain, sessions, local, signal }: ReadParts,
): Promise<{ readonly lines: number; readonly torn: Place | null; readonly isSearched: boolean }> {
  let line = 0;
  let torn: Place | null = null;
  let isSearched = true;

  function searchBytes(content: Buffer, at: Place): void {
    if (content.byteLength > MAX_SEARCHED_BYTES) isSearched = false;
    sessions.search(content.toString('latin1', 0, MAX_SEARCHED_BYTES), at);
  }

  function keep(seq: number, own: string): void {
    if (local?.has(seq) === false) local.set(seq, { hash: own, isInCloud: false });
  }

  /** One line without its line end. */
  function judge(content: Buffer, at: Place): void {
    const own = hash('sha256', content.subarray(0, Math.max(0, content.byteLength - HASH_PART_BYTES)), 'hex');
    const links = linksOf(content);
    if (links === null) {
      findings.add('unreadable-line', at);
      chain.broken(at);
      searchBytes(content, at);
      return;
    }
    const read = readFields(content);
    const seq = read.ok ? read.record.seq : null;
    if (own !== links.hash) {
      findings.add('changed-line', at, { seq });
      chain.broken(at);
    } else if (!read.ok) {
      findings.add(read.code, at, { values: { what: read.what } });
      chain.broken(at);
    }
    if (!read.ok) {
      searchBytes(content, at);
      return;
    }
    keep(read.record.seq, own);
    if (own !== links.hash) {
      sessions.searchRecord(read.record, at);
      return;
    }
    chain.follow(read.record, at);
    sessions.take(read.record, at);
  }

  for await (const { bytes, isWhole, isCut } of linesOf(file.parts(), MAX_AUDITED_LINE_BYTES)) {
    signal?.throwIfAborted();
    line += 1;
    const at = { file: file.path, line };
    if (isWhole && !isCut) {
      judge(bytes, at);
      continue;
    }
    isSearched = false;
    if (!isWhole && file.isCurrent) torn = at;
    else {
      findings.add('unreadable-line', at);
      chain.broken(at);
    }
  }
  return { lines: line, torn, isSearched };
}
