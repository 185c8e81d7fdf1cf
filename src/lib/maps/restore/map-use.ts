import type { CurrentMap } from '../../chassis/index.ts';
import { send, settle, type WriteTools } from './checked-write.ts';

/** Result of setting the current map. */
export interface SelectionOutcome {
  readonly outcome: 'set' | 'not-set' | 'not-started' | 'unknown';
  readonly id: number | null;
  readonly why: string | null;
  /** The order was or may have been accepted, so the position of the robot is expected to be lost. */
  readonly mayBeSet: boolean;
}

/**
 * Sets the current map and reads it back. The order is sent once. `wasCurrent`: the map was already current, so only the
 * response of the chassis counts, not the read-back. It also completes after Ctrl-C; chassis and network errors are
 * results.
 */
export async function setCurrentMap(
  tools: WriteTools,
  id: number,
  { wasCurrent }: { readonly wasCurrent: boolean },
): Promise<SelectionOutcome> {
  const { client, writes, pace, onProgress } = tools;
  onProgress(`setting map ${id} as current map`);
  const sent = await send(tools, (grace) => writes.useMap(id, grace));
  const orderError = sent.kind === 'answered' ? null : sent.why;
  const mayBeSet = sent.kind === 'answered' || sent.kind === 'lost';
  if (sent.kind === 'not-sent') return { outcome: 'not-set', id, why: orderError, mayBeSet };
  const settleMs = sent.kind === 'lost' ? pace.settleLostMs : pace.settleMs;
  const read = await settle(tools, settleMs, async (grace) => {
    await client.identity(grace);
    const current: CurrentMap | null = await client.currentMap(grace);
    return { found: { kind: 'read' as const, current }, expected: current?.id === id };
  });
  if (read.kind === 'unknown') return { outcome: 'unknown', id, why: read.why, mayBeSet };
  if (read.current?.id === id) {
    if (sent.kind === 'answered' || !wasCurrent) return { outcome: 'set', id, why: orderError, mayBeSet };
    return { outcome: sent.kind === 'refused' ? 'not-set' : 'unknown', id, why: orderError, mayBeSet };
  }
  const now = read.current === null ? 'there is no current map' : `map ${read.current.id} is the current map`;
  return { outcome: 'not-set', id, why: orderError === null ? now : `${orderError}; ${now}`, mayBeSet };
}
