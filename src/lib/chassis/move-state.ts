/** States of a move that is not under way. @source chassis vendor (HINWEIS) */
const ENDED: readonly string[] = ['none', 'idle', 'succeeded', 'failed', 'cancelled'];

/** Progress of a move from its reported state; null: no state was received over the present connection. */
export function moveProgress(moveState: string | null): 'under-way' | 'ended' | 'not-known' {
  if (moveState === 'moving') return 'under-way';
  return moveState !== null && ENDED.includes(moveState) ? 'ended' : 'not-known';
}
