import type { Clock } from '../../lifecycle/index.ts';
import type { Endpoint } from '../../net/index.ts';
import { type ConnectionQueues, readConnectionQueues } from '../../net/probe/index.ts';
import { tabletLost } from './tablet-lost.ts';

/** Over TCP, where adb dials `dialled` (the tablet or a relay to it), or over USB of this machine. */
export type TabletTransport =
  | { readonly kind: 'tcp'; readonly endpoint: Endpoint; readonly dialled: Endpoint }
  | { readonly kind: 'usb' };

/**
 * Time without progress after which a transfer counts as stalled. Project decisions. Over TCP every accepted packet is
 * visible, so slow transfers do not stall. Over USB progress is visible only when adb accepts the next part of at most
 * 32 MiB, which takes less than 2 min.
 */
export const STALL_MS = { tcp: 30_000, usb: 120_000 } as const;

/** Visible state of a transfer at one moment. */
export interface TransferSnapshot {
  /** Changes when data moves. */
  readonly state: string;
  /** Whether the connection to the tablet itself is visible; otherwise a stall cannot be judged. */
  readonly isComplete: boolean;
}

/**
 * Snapshots of a transfer from the kernel's socket queues between gw, adb and the tablet, since adb buffers large parts
 * of a package before the tablet has them. Through SSH the last connection belongs to the remote host, so the snapshots
 * are incomplete.
 */
export function transferSnapshots(
  transport: TabletTransport,
  serverPort: number,
  read: () => Promise<readonly ConnectionQueues[]> = readConnectionQueues,
): () => Promise<TransferSnapshot> {
  const ports = new Set(
    transport.kind === 'tcp' ? [serverPort, transport.dialled.port, transport.endpoint.port] : [serverPort],
  );
  return async () => {
    const rows = (await read()).filter(({ local, remote }) => ports.has(local.port) || ports.has(remote.port));
    const states = rows.map(
      ({ local, remote, sendQueueBytes, receiveQueueBytes }) =>
        `${local.address} ${local.port} ${remote.address} ${remote.port} ${sendQueueBytes} ${receiveQueueBytes}`,
    );
    const isComplete = transport.kind === 'usb' || rows.some(({ remote }) => remote.port === transport.endpoint.port);
    return { state: states.sort().join('\n'), isComplete };
  };
}

/** Minimum of snapshots within the stall time; at most one per second. */
const MIN_SNAPSHOTS = 10;

export interface StallWatch extends Disposable {
  /** Reports progress that only the caller can see. */
  moved(): void;
  /** Rejects with TABLET_LOST; never resolves. */
  readonly stalled: Promise<never>;
}

/** Watches a transfer for a stall; incomplete snapshots are not judged. */
export function watchForStall(options: {
  readonly snapshot: () => Promise<TransferSnapshot>;
  readonly stallMs: number;
  readonly clock: Clock;
}): StallWatch {
  const { snapshot, stallMs, clock } = options;
  const intervalMs = Math.min(1_000, stallMs / MIN_SNAPSHOTS);
  const { promise: stalled, reject } = Promise.withResolvers<never>();
  stalled.catch(() => {});
  let last: string | undefined;
  // Snapshots are counted, so that a blocked event loop does not count as a stall.
  let unchanged = 0;
  let isReading = false;
  async function compare(): Promise<void> {
    const { state, isComplete } = await snapshot();
    unchanged = isComplete && state === last ? unchanged + 1 : 0;
    last = state;
    if (unchanged * intervalMs >= stallMs) {
      reject(tabletLost(`Transfer of the package stalled for ${Math.round(stallMs / 1000)} s.`));
    }
  }
  const timer = clock.every(intervalMs, () => {
    if (isReading) return;
    isReading = true;
    compare()
      .catch(reject)
      .finally(() => {
        isReading = false;
      });
  });
  return {
    stalled,
    moved() {
      unchanged = 0;
    },
    [Symbol.dispose]: () => timer[Symbol.dispose](),
  };
}
