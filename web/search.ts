import type { Actions, Interaction } from '../src/lib/pages/ui.ts';

/** Project decision: whoever comes later sees all stations, not what another person searched for. */
const KEPT_MS = 60_000;
/** No title is longer. */
const MAX_QUERY_CHARS = 60;

const finder = () => document.querySelector('.finder');

/** The search for a station, which is over after a while. */
export function createSearch(show: (change: Partial<Interaction>) => void) {
  let timer = 0;

  function keep(change: Partial<Interaction>): void {
    clearTimeout(timer);
    timer = setTimeout(() => show({ query: '', isPadOpen: false }), KEPT_MS);
    show(change);
  }

  return {
    search: (query) => keep({ query: query.slice(0, MAX_QUERY_CHARS) }),
    openPad(isPadOpen) {
      keep({ isPadOpen });
      // On a phone it would open below the fold; two frames later it is painted.
      requestAnimationFrame(() => requestAnimationFrame(() => finder()?.scrollIntoView({ block: 'nearest' })));
    },
  } satisfies Partial<Actions>;
}
