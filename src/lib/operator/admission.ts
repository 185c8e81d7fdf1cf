/** What the decision needs to know of a connection that is open. */
export interface OpenConnection {
  /** See `peerOf`. */
  readonly peer: string;
  /** Grows with every accepted connection and every request; the smallest was used least recently. */
  readonly lastUse: number;
  /** A live stream, an upload of a signed-in person or a stop that is being carried out: never closed to make room. */
  readonly isHeldOpen: boolean;
}

export interface AdmissionLimits {
  readonly total: number;
  readonly perPeer: number;
  /** A peer with no more connections than this loses none while another one has more. */
  readonly smallPeer: number;
}

/** `evicted`: the connection to close first; null when there is room. */
export type Admission<T> =
  | { readonly kind: 'admitted'; readonly evicted: T | null }
  | { readonly kind: 'refused'; readonly evicted: null };

/**
 * Decides about one more connection from `peer`. A new connection is the most likely one to bring a stop, so it is
 * refused only when nothing can be closed in its place; what is closed belongs to the same peer when that peer is at
 * its own limit, else to the peer with the most connections, and is the one that was used least recently. Project
 * decision.
 */
export function admit<T extends OpenConnection>(
  open: Iterable<T>,
  peer: string,
  limits: AdmissionLimits,
): Admission<T> {
  const counts = new Map<string, number>();
  let total = 0;
  for (const other of open) {
    counts.set(other.peer, (counts.get(other.peer) ?? 0) + 1);
    total += 1;
  }
  const isPeerFull = (counts.get(peer) ?? 0) >= limits.perPeer;
  if (!isPeerFull && total < limits.total) return { kind: 'admitted', evicted: null };

  let evicted: T | null = null;
  let greed = 0;
  for (const other of open) {
    if (other.isHeldOpen || (isPeerFull && other.peer !== peer)) continue;
    const held = Math.max(counts.get(other.peer) ?? 0, limits.smallPeer);
    if (evicted === null || held > greed || (held === greed && other.lastUse < evicted.lastUse)) {
      evicted = other;
      greed = held;
    }
  }
  return evicted === null ? { kind: 'refused', evicted: null } : { kind: 'admitted', evicted };
}
