import type { Clock } from '../lifecycle/index.ts';
import type { Endpoint } from '../net/index.ts';
import { type ConnectionQueues, readConnectionQueues } from '../net/probe/index.ts';
import { lost } from './lost.ts';

/** Over the network, where adb dials `dialled`: the tablet itself or a relay to it; or at the cable of this machine. */
export type TabletWay =
  | { readonly kind: 'tcp'; readonly endpoint: Endpoint; readonly dialled: Endpoint }
  | { readonly kind: 'usb' };

/**
 * So long nothing may move. Decisions of ours. In the network every packet that the tablet takes is seen, so that no
 * transfer is too slow; what the tablet does after the last one takes seconds. What goes over a cable is seen only when
 * adb takes the next part, at most 32 MiB: no cable needs two minutes for that.
 */
export const STALL_MS = { tcp: 30_000, usb: 120_000 } as const;

/** What can be seen of a transfer from here at one moment. */
export interface Sight {
  /** Another text than before: something has moved. */
  readonly state: string;
  /** Whether a standstill would show. Else nobody here knows what goes on behind the machine in between. */
  readonly isWhole: boolean;
}

/**
 * Looks at the transfer where it really moves. adb takes a package in large parts, long before the tablet has them: a
 * slow line shows only in how the kernel's queues change, those between adb and the tablet and those between adb and
 * us. The last stretch of a way through SSH is a connection of another machine, so that there is no whole sight of it.
 */
export function movementTo(
  way: TabletWay,
  serverPort: number,
  read: () => Promise<readonly ConnectionQueues[]> = readConnectionQueues,
): () => Promise<Sight> {
  const ports = new Set(way.kind === 'tcp' ? [serverPort, way.dialled.port, way.endpoint.port] : [serverPort]);
  return async () => {
    const rows = (await read()).filter(({ local, remote }) => ports.has(local.port) || ports.has(remote.port));
    const states = rows.map(
      ({ local, remote, sendQueueBytes, receiveQueueBytes }) =>
        `${local.address} ${local.port} ${remote.address} ${remote.port} ${sendQueueBytes} ${receiveQueueBytes}`,
    );
    const isWhole = way.kind === 'usb' || rows.some(({ remote }) => remote.port === way.endpoint.port);
    return { state: states.sort().join('\n'), isWhole };
  };
}

/** So many looks are taken in the time that nothing may move, at most one a second. */
const LOOKS = 10;

export interface StallWatch extends Disposable {
  /** Something has moved that only the caller sees. */
  moved(): void;
  /** Rejects with TABLET_LOST; never resolves. */
  readonly stalled: Promise<never>;
}

/** Watches a transfer for a standstill, and says nothing of one that it cannot see. */
export function watchForStall(options: {
  readonly movement: () => Promise<Sight>;
  readonly stallMs: number;
  readonly clock: Clock;
}): StallWatch {
  const { movement, stallMs, clock } = options;
  const everyMs = Math.min(1_000, stallMs / LOOKS);
  const { promise: stalled, reject } = Promise.withResolvers<never>();
  stalled.catch(() => {});
  let last: string | undefined;
  // Counted and not reckoned: work of our own that held everything up is no standstill of the transfer.
  let still = 0;
  let isLooking = false;
  async function look(): Promise<void> {
    const { state, isWhole } = await movement();
    still = isWhole && state === last ? still + 1 : 0;
    last = state;
    if (still * everyMs >= stallMs) {
      reject(lost(`Nothing of the package moved for ${Math.round(stallMs / 1000)} s.`));
    }
  }
  const timer = clock.every(everyMs, () => {
    if (isLooking) return;
    isLooking = true;
    look()
      .catch(reject)
      .finally(() => {
        isLooking = false;
      });
  });
  return {
    stalled,
    moved() {
      still = 0;
    },
    [Symbol.dispose]: () => timer[Symbol.dispose](),
  };
}
