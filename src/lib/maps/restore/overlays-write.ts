import { compareOverlays, identityChanges, type LiveMap, NO_FEATURES, type OverlaysComparison } from '../live-maps.ts';
import { type ReadBack, readMapBack, type Sent, send, type WriteTools } from './checked-write.ts';

/** Result of replacing the overlays of a map: the content that the chassis has now. */
type OverlaysOutcome =
  /** The order did not reach the chassis. */
  | 'not-sent'
  /** The map has the new overlays. */
  | 'written'
  /** The map has the old overlays. */
  | 'no-effect'
  /** It had neither, and has the old overlays again after a rollback. */
  | 'rolled-back'
  /** It has neither: see `after` and `now`. */
  | 'differs'
  /** The chassis no longer lists the map. */
  | 'gone'
  /** The map could not be read back. */
  | 'unknown';

export interface OverlaysWrite {
  readonly outcome: OverlaysOutcome;
  /** Error of the order; null when the chassis accepted it. */
  readonly orderError: string | null;
  /** Error of the rollback order; null when accepted or not sent. */
  readonly rollbackError: string | null;
  /** Whether a rollback was sent. */
  readonly rolledBack: boolean;
  /** From the new overlays to those read after the write; null when not readable. */
  readonly after: OverlaysComparison | null;
  /** From the old overlays to those read last; null when not readable. */
  readonly now: OverlaysComparison | null;
  /** Other changes of the map, as clauses. */
  readonly alsoChanged: readonly string[];
  /** Why the map could not be read back; null otherwise. */
  readonly why: string | null;
}

const noResult = {
  orderError: null,
  rollbackError: null,
  rolledBack: false,
  after: null,
  now: null,
  alsoChanged: [],
  why: null,
};

/**
 * Replaces the overlays of a map by a text received from a chassis, reads them back and compares their content. If the
 * map then has neither the new nor the old overlays, the old text is written and read back again. Counters are ignored.
 * It also completes after Ctrl-C; chassis and network errors are results.
 */
export async function writeOverlays(tools: WriteTools, before: LiveMap, target: string): Promise<OverlaysWrite> {
  const { writes, onProgress } = tools;
  const id = String(before.id);
  onProgress(`map ${id}: writing its overlays`);
  const sent = await send(tools, (grace) => writes.patchOverlays(id, target, grace));
  if (sent.kind === 'not-sent') return { ...noResult, outcome: 'not-sent', orderError: sent.why };
  const orderError = orderErrorOf(sent);

  const compareWithTarget = cachedComparison(target);
  const read = await readBack(tools, before, sent, compareWithTarget);
  if (read.kind !== 'read') {
    return { ...noResult, orderError, outcome: read.kind, why: read.kind === 'unknown' ? read.why : null };
  }
  const result = {
    ...noResult,
    orderError,
    after: compareWithTarget(read.overlays),
    now: compareOverlays(before.overlays, read.overlays),
    alsoChanged: identityChanges(before.data, read.data),
  };
  if (result.alsoChanged.length === 0) {
    if (result.after.same) return { ...result, outcome: 'written' };
    if (result.now.same) return { ...result, outcome: 'no-effect' };
  }
  return await rollBack(tools, before, result);
}

async function rollBack(
  tools: WriteTools,
  before: LiveMap,
  result: Omit<OverlaysWrite, 'outcome'>,
): Promise<OverlaysWrite> {
  const { writes, onProgress } = tools;
  const id = String(before.id);
  // A map without overlays gets an empty collection, since a write cannot remove the key.
  const old = before.overlays ?? NO_FEATURES;
  onProgress(`map ${id}: read-back differs; restoring its old overlays`);
  const sent = await send(tools, (grace) => writes.patchOverlays(id, old, grace));
  const rollback = { rolledBack: sent.kind !== 'not-sent', rollbackError: orderErrorOf(sent) };
  const read = await readBack(tools, before, sent, cachedComparison(old));
  if (read.kind !== 'read') {
    return { ...result, ...rollback, outcome: read.kind, now: null, why: read.kind === 'unknown' ? read.why : null };
  }
  const now = compareOverlays(before.overlays, read.overlays);
  const alsoChanged = identityChanges(before.data, read.data);
  const isRestored = now.same && alsoChanged.length === 0;
  return { ...result, ...rollback, outcome: isRestored ? 'rolled-back' : 'differs', now, alsoChanged };
}

/** Reads the map back until it has the sent overlays and nothing else changed, or has had other ones for some time. */
function readBack(
  tools: WriteTools,
  before: LiveMap,
  sent: Sent<unknown>,
  compare: (text: string | null) => OverlaysComparison,
): Promise<ReadBack> {
  const { onProgress, pace } = tools;
  onProgress(`map ${before.id}: reading back`);
  const isExpected = (text: string | null, data: Uint8Array) =>
    compare(text).same && identityChanges(before.data, data).length === 0;
  const settleMs = sent.kind === 'lost' ? pace.settleLostMs : pace.settleMs;
  return readMapBack(tools, String(before.id), isExpected, settleMs);
}

function orderErrorOf(sent: Sent<unknown>): string | null {
  return sent.kind === 'answered' ? null : sent.why;
}

/** Compares with one text and caches the last comparison, since polling reads the same text repeatedly. */
function cachedComparison(target: string): (text: string | null) => OverlaysComparison {
  let last: { readonly text: string | null; readonly comparison: OverlaysComparison } | undefined;
  return (text) => {
    if (last === undefined || last.text !== text) last = { text, comparison: compareOverlays(target, text) };
    return last.comparison;
  };
}
