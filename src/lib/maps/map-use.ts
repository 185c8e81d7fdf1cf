import type { CurrentMap } from '../chassis/index.ts';
import { send, settle, type WriteTools } from './checked-write.ts';

/** What became of taking a map into use. */
export interface UseOutcome {
  readonly outcome: 'set' | 'not-set' | 'not-started' | 'unknown';
  readonly id: number | null;
  readonly why: string | null;
  /** The order was taken, or may have been: the position of the robot is not expected to be what it was. */
  readonly mayBeTaken: boolean;
}

/**
 * Takes a map into use and asks the chassis which one is the current map then. It is sent once only. `wasCurrent`: it
 * was the current map before, so that finding it so again proves nothing; then only the chassis's own yes counts. It
 * ends by itself also after Ctrl-C, and throws nothing that a chassis or a network can cause.
 */
export async function takeIntoUse(
  tools: WriteTools,
  id: number,
  { wasCurrent }: { readonly wasCurrent: boolean },
): Promise<UseOutcome> {
  const { client, writes, pace, onProgress } = tools;
  onProgress(`taking map ${id} into use`);
  const sent = await send(tools, (grace) => writes.useMap(id, grace));
  const said = sent.kind === 'answered' ? null : sent.why;
  const mayBeTaken = sent.kind === 'answered' || sent.kind === 'lost';
  if (sent.kind === 'not-sent') return { outcome: 'not-set', id, why: said, mayBeTaken };
  const settleMs = sent.kind === 'lost' ? pace.settleLostMs : pace.settleMs;
  const read = await settle(tools, settleMs, async (grace) => {
    await client.identity(grace);
    const current: CurrentMap | null = await client.currentMap(grace);
    return { found: { kind: 'read' as const, current }, expected: current?.id === id };
  });
  if (read.kind === 'unknown') return { outcome: 'unknown', id, why: read.why, mayBeTaken };
  if (read.current?.id === id) {
    if (sent.kind === 'answered' || !wasCurrent) return { outcome: 'set', id, why: said, mayBeTaken };
    return { outcome: sent.kind === 'refused' ? 'not-set' : 'unknown', id, why: said, mayBeTaken };
  }
  const now = read.current === null ? 'the chassis has no map in use' : `map ${read.current.id} is in use`;
  return { outcome: 'not-set', id, why: said === null ? now : `${said}; ${now}`, mayBeTaken };
}
