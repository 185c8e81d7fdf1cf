import { readMapBack, type Sent, send, type WriteTools } from './checked-write.ts';
import { compareOverlays, type LiveMap, NO_FEATURES, type OverlaysComparison, steadyChanges } from './live-maps.ts';

/** How replacing the overlays of a map came out. Every one says what the chassis holds now, as far as it is known. */
type OverlaysOutcome =
  /** The order surely never reached the chassis. */
  | 'not-sent'
  /** The map holds what was to be written. */
  | 'written'
  /** The map holds what it held before. */
  | 'no-effect'
  /** It held something else, and after putting back it holds what it held before. */
  | 'put-back'
  /** It holds neither: `after` and `now` say what. */
  | 'differs'
  /** The chassis lists the map no more. */
  | 'gone'
  /** The chassis could not be asked what it holds. */
  | 'unknown';

export interface OverlaysWrite {
  readonly outcome: OverlaysOutcome;
  /** How the chassis took the order; null when it said yes. */
  readonly said: string | null;
  /** How it took the order to put the old overlays back; null when it said yes, or when there was none. */
  readonly undoSaid: string | null;
  /** Whether the old overlays were sent again. */
  readonly undone: boolean;
  /** What was to be written beside what was read after the write; null when nothing could be read. */
  readonly after: OverlaysComparison | null;
  /** What the map held before beside what was read last; null when nothing could be read. */
  readonly now: OverlaysComparison | null;
  /** What else of the map is not what it was, as clauses. */
  readonly alsoChanged: readonly string[];
  /** Why the chassis could not be asked; null otherwise. */
  readonly why: string | null;
}

const nothing = { said: null, undoSaid: null, undone: false, after: null, now: null, alsoChanged: [], why: null };

/**
 * Replaces the overlays of a map by a text that came from a chassis, reads them back and compares their content. Where
 * the map then holds neither the new nor the old overlays, the old text is put back and read back once more. Counters
 * decide nothing. It ends by itself also after Ctrl-C, and throws nothing that a chassis or a network can cause.
 */
export async function writeOverlays(tools: WriteTools, before: LiveMap, wanted: string): Promise<OverlaysWrite> {
  const { writes, onProgress, pace } = tools;
  const id = String(before.id);
  onProgress(`map ${id}: writing its overlays`);
  const sent = await send(tools, (grace) => writes.patchOverlays(id, wanted, grace));
  if (sent.kind === 'not-sent') return { ...nothing, outcome: 'not-sent', said: sent.why };
  const said = saidBy(sent);

  onProgress(`map ${id}: reading back`);
  const isWanted = comparingWith(wanted);
  const settleMs = sent.kind === 'lost' ? pace.settleLostMs : pace.settleMs;
  const read = await readMapBack(tools, id, (text, data) => isWanted(text).same && isSteady(before, data), settleMs);
  if (read.kind !== 'read') {
    return { ...nothing, said, outcome: read.kind, why: read.kind === 'unknown' ? read.why : null };
  }
  const result = {
    ...nothing,
    said,
    after: isWanted(read.overlays),
    now: compareOverlays(before.overlays, read.overlays),
    alsoChanged: steadyChanges(before.data, read.data),
  };
  if (result.alsoChanged.length === 0) {
    if (result.after.same) return { ...result, outcome: 'written' };
    if (result.now.same) return { ...result, outcome: 'no-effect' };
  }
  return await putBack(tools, before, result);
}

async function putBack(
  tools: WriteTools,
  before: LiveMap,
  result: Omit<OverlaysWrite, 'outcome'>,
): Promise<OverlaysWrite> {
  const { writes, onProgress, pace } = tools;
  const id = String(before.id);
  // A map that had no overlays at all gets an empty collection: that is as near as a write can come.
  const old = before.overlays ?? NO_FEATURES;
  onProgress(`map ${id}: it holds something else; putting its old overlays back`);
  const sent = await send(tools, (grace) => writes.patchOverlays(id, old, grace));
  const undo = { undone: sent.kind !== 'not-sent', undoSaid: saidBy(sent) };
  onProgress(`map ${id}: reading back`);
  const isOld = comparingWith(old);
  const settleMs = sent.kind === 'lost' ? pace.settleLostMs : pace.settleMs;
  const read = await readMapBack(tools, id, (text, data) => isOld(text).same && isSteady(before, data), settleMs);
  if (read.kind !== 'read') {
    return { ...result, ...undo, outcome: read.kind, now: null, why: read.kind === 'unknown' ? read.why : null };
  }
  const now = compareOverlays(before.overlays, read.overlays);
  const alsoChanged = steadyChanges(before.data, read.data);
  const isBack = now.same && alsoChanged.length === 0;
  return { ...result, ...undo, outcome: isBack ? 'put-back' : 'differs', now, alsoChanged };
}

function isSteady(before: LiveMap, data: Uint8Array): boolean {
  return steadyChanges(before.data, data).length === 0;
}

function saidBy(sent: Sent<unknown>): string | null {
  return sent.kind === 'answered' ? null : sent.why;
}

/** Compares with one text, and each other text once: the same answer is read again and again while it settles. */
function comparingWith(wanted: string): (text: string | null) => OverlaysComparison {
  let last: { readonly text: string | null; readonly comparison: OverlaysComparison } | undefined;
  return (text) => {
    if (last === undefined || last.text !== text) last = { text, comparison: compareOverlays(wanted, text) };
    return last.comparison;
  };
}
