import { setImmediate as nextTurn } from 'node:timers/promises';
import { createJsonScanner, type JsonBounds, type ScanFinding } from './scan.ts';

/** One to two milliseconds of scanning (measured), after which the event loop runs. */
const PIECE_BYTES = 64 * 1024;

/** Checks whether bytes are JSON within the bounds, without blocking the event loop. */
export async function checkJson(bytes: Uint8Array, bounds: JsonBounds): Promise<ScanFinding> {
  const scanner = createJsonScanner(bounds);
  for (let from = 0; from < bytes.length; from += PIECE_BYTES) {
    if (from > 0) await nextTurn();
    if (!scanner.push(bytes, from, Math.min(from + PIECE_BYTES, bytes.length))) break;
  }
  return scanner.end();
}

/** The same synchronously, for small input. */
export function checkJsonNow(bytes: Uint8Array, bounds: JsonBounds): ScanFinding {
  const scanner = createJsonScanner(bounds);
  scanner.push(bytes);
  return scanner.end();
}

/** A finding as a sentence for a person; null for 'sound'. `what` as for `readJsonBytes`. */
export function problemOfFinding(finding: ScanFinding, bounds: JsonBounds, what = 'answer'): string | null {
  switch (finding) {
    case 'sound':
      return null;
    case 'not-json':
      return `the ${what} is not JSON`;
    case 'too-deep':
      return `the JSON is nested deeper than ${bounds.maxDepth} levels`;
    case 'too-many':
      return `the JSON holds more than ${bounds.maxValues} values`;
  }
}
