/** Words of a move that is not under way. @source chassis vendor (HINWEIS) */
const ENDED: readonly string[] = ['none', 'idle', 'succeeded', 'failed', 'cancelled'];

/** What a word of the chassis says about its move; null stands for no word over the present connection. */
export function moveStanding(moveState: string | null): 'under-way' | 'ended' | 'not-known' {
  if (moveState === 'moving') return 'under-way';
  return moveState !== null && ENDED.includes(moveState) ? 'ended' : 'not-known';
}
