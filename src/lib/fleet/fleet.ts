import type { Clock, Log, Service } from '../lifecycle/index.ts';
import { plural } from '../text/index.ts';
import { type Beacon, type SendingView, startBeacon } from './beacon.ts';
import { beginLife } from './boot-counter.ts';
import { type CoarseState, openDatagram, packBeat } from './datagram.ts';
import { readKeyRing } from './keys.ts';
import { createNeighbours, type Heard, type Neighbours, type Verdict } from './neighbours.ts';
import { createNoRoom } from './no-room.ts';
import { readPortTable } from './port-table.ts';
import { createReplayGuard } from './replay-guard.ts';
import { retiringKeys } from './retiring-keys.ts';
import { closeSocket, openHeartbeatPort } from './socket.ts';
import { MOST_UINT32 } from './wire.ts';

const HOUR_MS = 3_600_000;

export interface FleetOptions {
  readonly serial: string;
  readonly keyFile: string;
  /** Keys that are accepted beside that of `keyFile`. */
  readonly acceptedKeyFiles: readonly string[];
  /** For how long these are accepted; absent: as long as they stand in the site file. */
  readonly acceptedForHours?: number | undefined;
  readonly broadcast: boolean;
  readonly unicast: readonly string[];
  /** Serials of all robots of the site, as far as a person named them: these keep their places in every table. */
  readonly robots?: readonly string[];
  readonly stateDir: string;
  /** How this robot is, asked for once a beat. */
  readonly state: () => CoarseState;
  readonly clock: Clock;
  readonly log: Log;
}

/** Datagrams that told nothing, by what was wrong with them. */
interface Rejected {
  readonly malformed: number;
  readonly otherVersion: number;
  readonly otherKey: number;
  readonly forged: number;
  /** Signed, and not newer than what was heard of its serial. */
  readonly replayed: number;
  /** Signed, of a serial that is not known, while the table of serials is full. */
  readonly noRoom: number;
}

export interface FleetView {
  /** Whether it sends and receives now; what else is here is from an earlier life otherwise. */
  readonly running: boolean;
  readonly robots: readonly Heard[];
  readonly rejected: Rejected;
  /** Whether the table of serials is full, also of an earlier life; null: it was not read yet. */
  readonly isTableFull: boolean | null;
  /** Where somebody else speaks with the serial of this robot; null when nobody does. */
  readonly ownSerialFrom: string | null;
  /** The last beat that a person sent to see whether a path works. */
  readonly lastTest: { readonly serial: string; readonly address: string; readonly ageMs: number } | null;
  /** What this gateway sends, by its own counters; null while it does not run. */
  readonly sending: (SendingView & { readonly serial: string }) | null;
  /** Datagrams that the kernel threw away on this port, of every program of this machine; null: not known. */
  readonly dropped: number | null;
}

export interface Fleet extends Service {
  view(): FleetView;
}

/**
 * Tells the neighbours every 2 s that this robot lives, and hears them. Starts with a new life on the disk. Throws at
 * the start SECRET_UNREADABLE, FILE_UNWRITABLE, PORT_IN_USE; nothing that comes from the network ends it. While what it
 * must remember cannot be read or kept, nothing is sent and nothing is received: beginning anew by itself would let
 * recordings pass, and two lives share a counter.
 */
export function createFleet(options: FleetOptions): Fleet {
  const { serial, stateDir, clock, log } = options;
  const rejected = { malformed: 0, otherVersion: 0, otherKey: 0, forged: 0, replayed: 0 };
  let neighbours: Neighbours | null = null;
  let beacon: Beacon | null = null;
  let lastTest: { readonly serial: string; readonly address: string; readonly atMs: number } | null = null;
  let running: AsyncDisposableStack | null = null;
  const noRoom = createNoRoom(clock, log);
  let isTableFull: (() => boolean) | null = null;
  const reserved = new Set(options.robots?.filter((robot) => robot !== serial));

  function takeBeat(verdict: Verdict, address: string): void {
    if (verdict === 'replayed') rejected.replayed += 1;
    if (verdict === 'no-room') noRoom.refused(address);
  }

  return {
    name: 'fleet',
    // It moves nothing and stops nothing: a robot is driven and stopped without its neighbours.
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
              onRetired: (key) => log.info({ key }, 'a key of the heartbeat is accepted no more'),
            });
      const guard = createReplayGuard({ stateDir, clock, log, reserved });
      await guard.load();
      isTableFull = guard.isFull;
      parts.defer(() => guard.close());
      const life = await beginLife(stateDir);
      const heard = createNeighbours({ self: { serial, instance: life.instance }, guard, clock, reserved });
      signal.throwIfAborted();

      const socket = await openHeartbeatPort((bytes, { address }) => {
        const opened = openDatagram(bytes, keys);
        switch (opened.kind) {
          case 'test':
            lastTest = { serial: opened.beat.serial, address, atMs: clock.monotonicMs() };
            return;
          case 'beat':
            takeBeat(heard.take(opened.beat, address), address);
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
        lastSequence: MOST_UINT32,
        // The next life has a sequence of its own.
        onUsedUp: () => fail(new Error('the sequence of beats is used up')),
        datagram: (sequence) => {
          const uptimeS = (clock.monotonicMs() - beganMs) / 1000;
          return packBeat({ serial, ...life, sequence, uptimeS, state: options.state() }, keys.signing);
        },
      });
      parts.use(beacon);
      neighbours = heard;
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
      return `${plural(alive, 'other robot')} heard${unsent}`;
    },

    view: () => ({
      running: running !== null,
      robots: neighbours?.list() ?? [],
      rejected: { ...rejected, noRoom: noRoom.count() },
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
