import { networkInterfaces } from 'node:os';
import { type Clock, readBounded } from '../../lifecycle/index.ts';

/** How long the network must be gone. Project decision: the specification says only 'disconnected from the network'. */
export const NETWORK_LOST_MS = 10_000;
const CHECK_MS = 1_000;

/** What the machine reports about its interfaces. */
export interface NetworkReadings {
  /** Addresses by the name of the interface. */
  interfaces(): Readonly<Record<string, readonly { readonly address: string }[] | undefined>>;
  /** Content of `/sys/class/net/NAME/operstate`; null where it cannot be read. */
  operState(name: string): Promise<string | null>;
}

export const systemNetwork: NetworkReadings = {
  interfaces: () => networkInterfaces(),
  async operState(name) {
    // An interface name has no slash; anything else is not looked up.
    if (!/^[^/\s]{1,15}$/.test(name) || name === '.' || name === '..') return null;
    const read = await readBounded(`/sys/class/net/${name}/operstate`, 64).catch(() => null);
    return read?.kind === 'bytes' ? Buffer.from(read.bytes).toString().trim() : null;
  },
};

/** Operational states in which nothing can be sent. @source Linux, Documentation/networking/operstates */
const downStates: ReadonlySet<string> = new Set(['down', 'lowerlayerdown', 'notpresent']);

export interface NetworkWatch extends Disposable {
  /** Watches the interface that has this address; null: none at the moment. */
  follow(localAddress: string | null): void;
}

/**
 * Watches the interface that the tunnel uses. Lost: for 10 s without interruption no interface has the address, or the
 * one that has it is down. An unknown state (loopback, systems without /sys) is not down.
 */
export function watchNetwork({
  clock,
  readings,
  onLost,
}: {
  readonly clock: Clock;
  readonly readings: NetworkReadings;
  readonly onLost: (detail: string) => void;
}): NetworkWatch {
  let address: string | null = null;
  let goneSinceMs: number | null = null;
  let isChecking = false;
  let isOver = false;

  const faultOf = async (local: string): Promise<string | null> => {
    const found = Object.entries(readings.interfaces()).find(([, entries]) =>
      entries?.some((entry) => entry.address === local),
    );
    if (found === undefined) return `no interface has the address ${local} of the tunnel any more`;
    const state = await readings.operState(found[0]);
    return state !== null && downStates.has(state) ? `the interface ${found[0]} of the tunnel is down` : null;
  };

  const check = async () => {
    const local = address;
    if (local === null || isChecking || isOver) return;
    isChecking = true;
    try {
      const fault = await faultOf(local);
      if (isOver || local !== address) return;
      if (fault === null) {
        goneSinceMs = null;
        return;
      }
      goneSinceMs ??= clock.monotonicMs();
      if (clock.monotonicMs() - goneSinceMs < NETWORK_LOST_MS) return;
      isOver = true;
      onLost(`${fault}, for ${NETWORK_LOST_MS / 1_000} s`);
    } finally {
      isChecking = false;
    }
  };
  const timer = clock.every(CHECK_MS, () => void check());

  return {
    follow(localAddress) {
      // The zone of a link-local address is no part of it in the list of interfaces.
      const next = localAddress === null ? null : localAddress.replace(/%.*$/, '').replace(/^::ffff:(?=\d+\.)/i, '');
      if (next !== address) goneSinceMs = null;
      address = next;
    },
    [Symbol.dispose]() {
      isOver = true;
      timer[Symbol.dispose]();
    },
  };
}
