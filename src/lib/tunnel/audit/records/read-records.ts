import { hash } from 'node:crypto';
import { HASH_PART_BYTES, linksOf } from '../../records/line.ts';
import type { LocalIndex } from '../cloud/local-index.ts';
import { readChunks } from '../files/chunks.ts';
import type { SourceFile } from '../files/sources.ts';
import type { Findings, Place } from '../findings.ts';
import type { Chain } from './chain.ts';
import { readFields } from './fields.ts';
import type { Sessions } from './sessions.ts';

/** Of a line that is no record, searched for tokens. */
const MAX_SEARCHED_BYTES = 64 * 1024;

export interface ReadParts {
  readonly findings: Findings;
  readonly chain: Chain;
  readonly sessions: Sessions;
  /** Filled when there is a copy of the cloud to compare with. */
  readonly local: LocalIndex | null;
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

  /** One line without its line end. */
  function judge(content: Buffer): void {
    const at = { file: file.path, line };
    const own = hash('sha256', content.subarray(0, Math.max(0, content.byteLength - HASH_PART_BYTES)), 'hex');
    const links = linksOf(content);
    if (links === null) {
      findings.add('unreadable-line', at);
      chain.broken(at);
      searchBytes(content, at);
      return;
    }
    const read = readFields(content);
    const seq = read.ok ? read.fields.seq : null;
    const isChanged = own !== links.hash;
    if (isChanged) {
      findings.add('changed-line', at, { seq });
      chain.broken(at);
      if (local !== null && seq !== null) local.add(seq, own);
    }
    if (!read.ok) {
      if (!isChanged) {
        findings.add(read.code, at, { values: { what: read.what } });
        chain.broken(at);
      }
      searchBytes(content, at);
      return;
    }
    if (isChanged) {
      sessions.searchFields(read.fields, at);
      return;
    }
    chain.follow({ seq: read.fields.seq, ...links }, at);
    local?.add(read.fields.seq, own);
    sessions.take(read.fields, at);
  }

  for await (const { lines, rest } of readChunks(file.parts())) {
    signal?.throwIfAborted();
    if (rest !== null) {
      line += 1;
      isSearched = false;
      const at = { file: file.path, line };
      if (rest.isTorn && file.isCurrent) torn = at;
      else {
        findings.add('unreadable-line', at);
        chain.broken(at);
      }
      continue;
    }
    for (let from = 0; from < lines.byteLength; ) {
      const next = lines.indexOf(0x0a, from) + 1;
      line += 1;
      judge(lines.subarray(from, next - 1));
      from = next;
    }
  }
  return { lines: line, torn, isSearched };
}
