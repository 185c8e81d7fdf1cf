import type { Clock, Log, Service } from '../lifecycle/index.ts';
import { plural } from '../text/index.ts';
import { type Beacon, type SendingView, startBeacon } from './beacon.ts';
import { startBoot } from './boot-counter.ts';
import { type CoarseState, decodeHeartbeat, encodeHeartbeat } from './datagram.ts';
import { readKeyRing } from './keys.ts';
import { createNeighbours, type Neighbour, type Neighbours, type Verdict } from './neighbours.ts';
import { readPortTable } from './port-table.ts';
import { createReplayGuard } from './replay-guard.ts';
import { retiringKeys } from './retiring-keys.ts';
import { closeSocket, openHeartbeatPort } from './socket.ts';
import { createTableFullCounter } from './table-full.ts';
import { MAX_UINT32 } from './wire.ts';

const HOUR_MS = 3_600_000;

export interface FleetOptions {
  readonly serial: string;
  readonly keyFile: string;
  /** Keys that are accepted in addition to `keyFile`. */
  readonly acceptedKeyFiles: readonly string[];
  /** For how long these are accepted; absent: without limit. */
  readonly acceptedForHours?: number | undefined;
  readonly broadcast: boolean;
  readonly unicast: readonly string[];
  /** Serials of all robots of the site, as far as a person named them: these keep their places in every table. */
  readonly robots?: readonly string[];
  readonly stateDir: string;
  /** State of this robot, read once per heartbeat. */
  readonly state: () => CoarseState;
  readonly clock: Clock;
  readonly log: Log;
}

/** Rejected datagrams by reason. */
interface Rejected {
  readonly malformed: number;
  readonly otherVersion: number;
  readonly otherKey: number;
  readonly forged: number;
  /** Signed, but not newer than the last one of its serial. */
  readonly replayed: number;
  /** Signed, of a new serial, while the table of serials is full. */
  readonly tableFull: number;
}

export interface FleetView {
  /** Whether it sends and receives now; otherwise the rest is from before it stopped. */
  readonly running: boolean;
  readonly robots: readonly Neighbour[];
  readonly rejected: Rejected;
  /** Whether the table of serials is full; null: not loaded yet. */
  readonly isTableFull: boolean | null;
  /** Address of another device that sends with the serial of this robot; null: none. */
  readonly ownSerialFrom: string | null;
  /** The last test heartbeat received. */
  readonly lastTest: { readonly serial: string; readonly address: string; readonly ageMs: number } | null;
  /** What this gateway sends, by its own counters; null while it does not run. */
  readonly sending: (SendingView & { readonly serial: string }) | null;
  /** Datagrams that the kernel dropped on this port, for all programs of this machine; null: unknown. */
  readonly dropped: number | null;
}

export interface Fleet extends Service {
  view(): FleetView;
}

/**
 * The heartbeat service: sends every 2 s and receives those of other robots. `start` increments the boot counter and throws
 * SECRET_UNREADABLE, FILE_UNREADABLE, FILE_UNWRITABLE, PORT_IN_USE; nothing from the network ends it. While its state
 * files cannot be read or written, nothing is sent or received, because starting without them would accept replays and
 * reuse a boot counter.
 */
export function createFleet(options: FleetOptions): Fleet {
  const { serial, stateDir, clock, log } = options;
  const rejected = { malformed: 0, otherVersion: 0, otherKey: 0, forged: 0, replayed: 0 };
  let neighbours: Neighbours | null = null;
  let beacon: Beacon | null = null;
  let lastTest: { readonly serial: string; readonly address: string; readonly atMs: number } | null = null;
  let running: AsyncDisposableStack | null = null;
  const tableFull = createTableFullCounter(clock, log);
  let isTableFull: (() => boolean) | null = null;
  const reserved = new Set(options.robots?.filter((robot) => robot !== serial));

  function count(verdict: Verdict, address: string): void {
    if (verdict === 'replayed') rejected.replayed += 1;
    if (verdict === 'table-full') tableFull.refused(address);
  }

  return {
    name: 'fleet',
    // Driving and stopping do not depend on the heartbeat.
    failedStart: 'is-retried',

    async start({ signal, fail }) {
      await using parts = new AsyncDisposableStack();
      const ring = await readKeyRing(options);
      const { acceptedForHours } = options;
      const keys =
        acceptedForHours === undefined
          ? ring
          : retiringKeys(ring, {
              afterMs: acceptedForHours * HOUR_MS,
              clock,
              onRetired: (key) => log.info({ key }, 'heartbeat key no longer accepted'),
            });
      const guard = createReplayGuard({ stateDir, clock, log, reserved });
      await guard.load();
      isTableFull = guard.isFull;
      parts.defer(() => guard.close());
      const boot = await startBoot(stateDir);
      const table = createNeighbours({ self: { serial, instance: boot.instance }, guard, clock, reserved });
      signal.throwIfAborted();

      const socket = await openHeartbeatPort((bytes, { address }) => {
        const opened = decodeHeartbeat(bytes, keys);
        switch (opened.kind) {
          case 'test':
            lastTest = { serial: opened.heartbeat.serial, address, atMs: clock.monotonicMs() };
            return;
          case 'heartbeat':
            count(table.receive(opened.heartbeat, address), address);
            return;
          case 'other-version':
            rejected.otherVersion += 1;
            return;
          case 'other-key':
            rejected.otherKey += 1;
            return;
          default:
            rejected[opened.kind] += 1;
        }
      });
      parts.defer(() => closeSocket(socket));
      socket.on('error', fail);

      const beganMs = clock.monotonicMs();
      beacon = startBeacon({
        ...options,
        unicastBy: socket,
        lastSequence: MAX_UINT32,
        // The restart begins a new boot with a new sequence.
        onUsedUp: () => fail(new Error('heartbeat sequence exhausted')),
        datagram: (sequence) => {
          const uptimeS = (clock.monotonicMs() - beganMs) / 1000;
          return encodeHeartbeat({ serial, ...boot, sequence, uptimeS, state: options.state() }, keys.signing);
        },
      });
      parts.use(beacon);
      neighbours = table;
      running = parts.move();
    },

    async stop() {
      const parts = running;
      running = null;
      beacon = null;
      await parts?.disposeAsync();
    },

    describe() {
      if (running === null || neighbours === null) return '';
      const alive = neighbours.list().filter(({ presence }) => presence === 'alive').length;
      const ways = beacon?.failures() ?? [];
      const unsent = ways.length === 0 ? '' : `; not sent to ${ways.join(', ')}`;
      return `${plural(alive, 'other robot')} received${unsent}`;
    },

    view: () => ({
      running: running !== null,
      robots: neighbours?.list() ?? [],
      rejected: { ...rejected, tableFull: tableFull.count() },
      isTableFull: isTableFull?.() ?? null,
      ownSerialFrom: neighbours?.ownConflict() ?? null,
      lastTest:
        lastTest === null
          ? null
          : { serial: lastTest.serial, address: lastTest.address, ageMs: clock.monotonicMs() - lastTest.atMs },
      sending: beacon === null ? null : { serial, ...beacon.view() },
      dropped: readPortTable()?.dropped ?? null,
    }),
  };
}
