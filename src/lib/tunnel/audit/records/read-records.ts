import { isUtf8 } from 'node:buffer';
import { hash } from 'node:crypto';
import { HASH_PART_BYTES, linksOf, PREV_PART_BYTES } from '../../records/line.ts';
import type { LocalIndex } from '../cloud/local-index.ts';
import { readChunks } from '../files/chunks.ts';
import type { SourceFile } from '../files/sources.ts';
import type { Findings, Place } from '../findings.ts';
import type { Chain } from './chain.ts';
import { readCanonical, readFields } from './fields.ts';
import type { Sessions } from './sessions.ts';

/** Of `"prev":"…"` and `"hash":"…"`, seen from the line end. */
const HASH_AT = HASH_PART_BYTES + 1 - ',"hash":"'.length;
const PREV_AT = HASH_PART_BYTES + 1 + PREV_PART_BYTES - ',"prev":"'.length;
const HEX_DIGITS = 64;
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
 * Reads the lines of one file in a stream: the hash over the bytes as they are, one expression for the layout, a parser
 * only for lines that differ from it. Returns the number of lines, the place of a last line without its line end, and whether
 * all bytes were searched for tokens.
 */
export async function readRecordFile(
  file: SourceFile,
  { findings, chain, sessions, local, signal }: ReadParts,
): Promise<{ readonly lines: number; readonly torn: Place | null; readonly isSearched: boolean }> {
  let line = 0;
  let torn: Place | null = null;
  let isSearched = true;

  /** A line that is not canonical, or whose hash is wrong; with its line end. */
  function judge(bytes: Buffer, own: string): void {
    const at = { file: file.path, line };
    const content = bytes.subarray(0, -1);
    if (content.byteLength > MAX_SEARCHED_BYTES) isSearched = false;
    const links = linksOf(content);
    if (links === null) {
      findings.add('unreadable-line', at);
      chain.broken(at);
      sessions.search(content.toString('latin1', 0, MAX_SEARCHED_BYTES), at);
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
      sessions.search(content.toString('latin1', 0, MAX_SEARCHED_BYTES), at);
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
    // Every line of a valid text is valid, since a line end is never a part of another character.
    const isText = isUtf8(lines);
    const text = lines.toString('latin1');
    for (let from = 0; from < lines.byteLength; ) {
      const next = text.indexOf('\n', from) + 1;
      line += 1;
      const own = hash('sha256', lines.subarray(from, Math.max(from, next - HASH_PART_BYTES - 1)), 'hex');
      const fields = isText ? readCanonical(text, from, next) : null;
      const stored = text.slice(next - HASH_AT, next - HASH_AT + HEX_DIGITS);
      if (fields === null || stored !== own) judge(lines.subarray(from, next), own);
      else {
        const at = { file: file.path, line };
        const prev = text.slice(next - PREV_AT, next - PREV_AT + HEX_DIGITS);
        chain.follow({ seq: fields.seq, prev, hash: own }, at);
        local?.add(fields.seq, own);
        sessions.take(fields, at);
      }
      from = next;
    }
  }
  return { lines: line, torn, isSearched };
}
