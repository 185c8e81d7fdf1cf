import { FIRST_PREV } from '../records/line.ts';
import type { Head } from '../records/pointers.ts';
import type { Findings, Place } from './findings.ts';

/** A line whose hash is right. */
interface Link {
  readonly seq: number;
  readonly prev: string;
  readonly hash: string;
}

/** Follows the chain from line to line. */
export interface Chain {
  /** A line whose hash is right. */
  follow(link: Link, at: Place): void;
  /** A line that was found already, and may stand for a record. */
  broken(at: Place): void;
  first(): Link | null;
  /** The record with the highest number. */
  last(): Link | null;
  /**
   * Compares the end with head.json; `torn` is the place of a last line without a line end. Returns whether exactly one
   * record follows the one that head.json names: gw writes it before head.json, and another program may have added it.
   */
  finish(torn: Place | null): boolean;
}

/**
 * Every line must follow the one before: `prev` is its hash and `seq` one more. The first line that does not is named.
 * A line that was found does not make those behind it findings too. `onUnjudged` is called where records cannot be judged:
 * missing ones, and lines that may stand for one.
 */
export function createChain(findings: Findings, head: Head | null, onUnjudged: () => void): Chain {
  let first: Link | null = null;
  /** The record that the next one must follow, and the one before it. */
  let last: Link | null = null;
  let before: Link | null = null;
  let firstAt: Place | null = null;
  let lastAt: Place | null = null;
  let followed = 0;
  /** Broken lines since `last`. */
  let between = 0;

  function accept(link: Link, at: Place): void {
    before = last;
    last = link;
    lastAt = at;
    between = 0;
    followed += 1;
    if (head !== null && link.seq === head.seq && link.hash !== head.hash) {
      findings.add('end-differs', at, { seq: link.seq });
    }
  }

  function begin(link: Link, at: Place): void {
    first = link;
    firstAt = at;
    // Broken lines before may be the records that are missing.
    const expected = (head?.firstSeq ?? 1) + between;
    if (link.seq > 1) onUnjudged();
    if (link.seq > expected && head !== null) {
      findings.add('missing-records', at, { seq: link.seq, values: { from: expected, to: link.seq - 1 } });
    }
    if (link.seq === 1 && link.prev !== FIRST_PREV) findings.add('chain-broken', at, { seq: 1 });
    accept(link, at);
  }

  return {
    follow(link, at) {
      if (last === null) return begin(link, at);
      const follows = link.prev === last.hash && link.seq === last.seq + 1;
      if (follows) return accept(link, at);
      const { seq } = link;
      if (link.hash === last.hash) {
        findings.add('repeated-line', at, { seq });
        return;
      }
      if (seq <= last.seq) {
        // With nothing before it, only the second line shows that the first is foreign.
        if (followed === 1 && firstAt !== null && between === 0) {
          findings.add('out-of-order', firstAt, { seq: last.seq, values: { after: seq } });
          first = link;
          last = null;
          return accept(link, at);
        }
        // Either may be the foreign one; the chain goes on from the later.
        if (before !== null && link.prev === before.hash && seq === before.seq + 1) {
          findings.add('forked', lastAt, { seq, values: { line: at.line, other: at.file } });
          last = before;
          return accept(link, at);
        }
        findings.add('out-of-order', at, { seq, values: { after: last.seq } });
        return;
      }
      const mayFill = seq <= last.seq + 1 + between;
      // Broken lines stand for the records between, or were inserted.
      if (between > 0 && mayFill && (seq > last.seq + 1 || link.prev === last.hash)) return accept(link, at);
      if (seq > last.seq + 1 && link.prev !== last.hash) {
        const values = { from: last.seq + 1 + between, to: seq - 1 };
        findings.add('missing-records', at, { seq, values });
        onUnjudged();
      } else findings.add('chain-broken', at, { seq });
      accept(link, at);
    },

    broken() {
      between += 1;
      onUnjudged();
    },

    first: () => first,
    last: () => last,

    finish(torn) {
      if (head === null) return false;
      const seq = last?.seq ?? 0;
      // Broken lines at the end stand for as many records, and were found.
      if (head.seq > seq + between) {
        const place = torn ?? (lastAt === null ? null : { file: lastAt.file, line: lastAt.line + between + 1 });
        const values = { from: seq + between + 1, to: head.seq };
        findings.add('missing-end', place, { seq: seq + between + 1, values });
        onUnjudged();
      } else if (head.seq < seq) {
        // An append is on the disk before head.json, and one only.
        if (head.seq === seq - 1 && before?.hash === head.hash) return true;
        findings.add('head-behind', lastAt, { seq, values: { head: head.seq } });
      }
      return false;
    },
  };
}
