import type { Lookup } from '../../net/index.ts';

/** A lookup cannot be cancelled and occupies a thread of the pool, so there is one per name at a time. */
export function createSharedLookup(lookup: Lookup): Lookup {
  const running = new Map<string, ReturnType<Lookup>>();
  return (host) => {
    const present = running.get(host);
    if (present !== undefined) return present;
    const answer = lookup(host);
    running.set(host, answer);
    const forget = () => running.delete(host);
    answer.then(forget, forget);
    return answer;
  };
}
