/** The properties of a connection that admission uses. */
export interface AdmittedConnection {
  /** Key of the limits per peer; see `peerOf`. */
  readonly peer: string;
  /** A live stream, an upload of a signed-in person or a stop in progress: never evicted. */
  readonly isHeldOpen: boolean;
}

export interface AdmissionLimits {
  readonly total: number;
  readonly perPeer: number;
  /** A peer with no more connections than this loses none while another one has more. */
  readonly smallPeer: number;
}

/** `evicted`: the connection to close first, already removed from the table; null when none has to be closed. */
export type Admission<T> =
  | { readonly kind: 'admitted'; readonly evicted: T | null }
  | { readonly kind: 'refused'; readonly evicted: null };

/**
 * The open connections of a listener, with eviction. A new connection is the most likely one to carry a stop, so it is
 * refused only when none can be evicted. Evicted is the least recently used connection of the same peer when that peer
 * is at its limit, else of the peer with the most connections. Project decision.
 */
export function createAdmission<T extends AdmittedConnection>({ total, perPeer, smallPeer }: AdmissionLimits) {
  /** Both from the least to the most recently used. */
  const all = new Set<T>();
  const byPeer = new Map<string, Set<T>>();
  /** Peers with more than `smallPeer`: never more than total / smallPeer of them. */
  const large = new Set<string>();

  function remove(connection: T): void {
    if (!all.delete(connection)) return;
    const { peer } = connection;
    const mine = byPeer.get(peer);
    mine?.delete(connection);
    if (mine?.size === 0) byPeer.delete(peer);
    if ((mine?.size ?? 0) <= smallPeer) large.delete(peer);
  }

  function leastUsed(peer: string): T | null {
    return firstToClose(byPeer.get(peer) ?? []);
  }

  function choose(peer: string): T | null {
    if (sizeOf(peer) >= perPeer) return leastUsed(peer);
    for (const greedy of [...large].sort((a, b) => sizeOf(b) - sizeOf(a))) {
      const found = leastUsed(greedy);
      if (found !== null) return found;
    }
    return firstToClose(all);
  }

  const sizeOf = (peer: string) => byPeer.get(peer)?.size ?? 0;

  return {
    size: () => all.size,
    sizeOf,
    connections: (): Iterable<T> => all,
    /** Decides about one more connection of `peer`. */
    admit(peer: string): Admission<T> {
      if (all.size < total && sizeOf(peer) < perPeer) return { kind: 'admitted', evicted: null };
      const evicted = choose(peer);
      if (evicted === null) return { kind: 'refused', evicted: null };
      remove(evicted);
      return { kind: 'admitted', evicted };
    },
    add(connection: T): void {
      all.add(connection);
      const mine = byPeer.get(connection.peer) ?? new Set();
      mine.add(connection);
      byPeer.set(connection.peer, mine);
      if (mine.size > smallPeer) large.add(connection.peer);
    },
    /** Marks it as the most recently used one. */
    touch(connection: T): void {
      if (!all.delete(connection)) return;
      all.add(connection);
      const mine = byPeer.get(connection.peer);
      mine?.delete(connection);
      mine?.add(connection);
    },
    remove,
  };
}

function firstToClose<T extends AdmittedConnection>(connections: Iterable<T>): T | null {
  for (const connection of connections) if (!connection.isHeldOpen) return connection;
  return null;
}
