import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { GwError } from '../error/index.ts';
import { readJsonBytes, readStateFile, writeStateFile } from '../json/index.ts';
import type { Clock, Log, Service } from '../lifecycle/index.ts';
import { HEARTBEAT_PORT } from '../site/index.ts';
import { plural } from '../text/index.ts';
import { type Beacon, type SendingView, startBeacon } from './beacon.ts';
import { type CoarseState, decodeHeartbeat, encodeHeartbeat, noRejection, type Rejections } from './datagram.ts';
import { type KeyRing, keyName, readKeyRing } from './keys.ts';
import { createNeighbours, type Neighbour, type Neighbours, type Verdict } from './neighbours.ts';
import { createReplayGuard, MAX_SERIALS } from './replay-guard.ts';
import { closeSocket, openHeartbeatPort } from './socket.ts';
import { at, MAX_UINT32 } from './wire.ts';

/** Minimum time between log entries, since a device with the key can cause them at will. */
const LOG_INTERVAL_MS = 10 * 60_000;

/** Project decision: a key unused for this long may be dropped; robots are away for charging or repair. */
const UNUSED_FOR_MS = 60 * 60_000;

/** Kernel counters of the sockets of this machine on the heartbeat port. */
interface PortTable {
  /** Datagrams dropped because a receive buffer was full, since those sockets were opened. */
  readonly dropped: number;
  /** Sockets bound to 0.0.0.0: a unicast datagram reaches only the one bound last. */
  readonly openToAll: number;
}

const LOCAL_ADDRESS = 1;
const ANY = '00000000';

export const BOOTS_FILE = 'heartbeat-boots.json';
const FORMAT = 'gw/heartbeat-boots/1';
const schema = z.strictObject({ format: z.literal(FORMAT), boots: z.int().min(0).max(MAX_UINT32) });
const REMEDY =
  `Inspect the file. If its number is lost, write {"format":"${FORMAT}","boots":N} to it, with an N above every earlier ` +
  'boot counter of this robot: its neighbours reject heartbeats with a lower one as replays.';

/** The identity of one start of the heartbeat. */
interface Boot {
  readonly bootCounter: number;
  readonly instance: string;
}

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
interface Rejected extends Readonly<Rejections> {
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
  const rejected = { ...noRejection, replayed: 0 };
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

/** Counts and logs heartbeats that are rejected because the table of serials is full. */
export function createTableFullCounter(clock: Pick<Clock, 'monotonicMs'>, log: Pick<Log, 'warn'>) {
  let refused = 0;
  let loggedAtMs: number | null = null;
  return {
    count: () => refused,
    refused(address: string) {
      refused += 1;
      const nowMs = clock.monotonicMs();
      if (loggedAtMs !== null && nowMs - loggedAtMs < LOG_INTERVAL_MS) return;
      loggedAtMs = nowMs;
      log.warn(
        { serials: MAX_SERIALS, refused, address },
        'heartbeats of new serials are rejected: the table of serials is full; robots of fleet.robots keep their places',
      );
    },
  };
}

/**
 * A key ring whose accepted keys, except the signing key, expire: after the given time since the start of the daemon, by the
 * monotonic clock, a key is dropped once no heartbeat was signed with it for an hour.
 */
export function retiringKeys(
  ring: KeyRing,
  options: {
    readonly afterMs: number;
    readonly clock: Pick<Clock, 'monotonicMs'>;
    readonly onRetired: (key: string) => void;
  },
): KeyRing {
  const { afterMs, clock, onRetired } = options;
  const beganMs = clock.monotonicMs();
  const usedAtMs = new Map<number, number>();
  const retired = new Set<number>();

  return {
    signing: ring.signing,
    byId(id) {
      const key = ring.byId(id);
      if (key === undefined || key === ring.signing) return key;
      const nowMs = clock.monotonicMs();
      const isUnused = nowMs - (usedAtMs.get(id) ?? beganMs) >= UNUSED_FOR_MS;
      if (isUnused && nowMs - beganMs >= afterMs && !retired.has(id)) {
        retired.add(id);
        onRetired(keyName(key));
      }
      if (retired.has(id)) return undefined;
      return {
        ...key,
        verifies(bytes, signature) {
          const isValid = key.verifies(bytes, signature);
          if (isValid) usedAtMs.set(id, clock.monotonicMs());
          return isValid;
        },
      };
    },
  };
}

/** null when not on Linux. @source proc(5), /proc/net/udp */
export function readPortTable(path = '/proc/net/udp'): PortTable | null {
  try {
    return portTableIn(readFileSync(path, 'utf8'), HEARTBEAT_PORT);
  } catch {
    return null;
  }
}

/** Sums up the rows of this port; null when the table has no column `drops`. */
export function portTableIn(table: string, port: number): PortTable | null {
  const [head = '', ...rows] = table.split('\n');
  // Some header titles cover parts of one column, so columns are matched from the end.
  if (head.trim().split(/\s+/).at(-1) !== 'drops') return null;
  const ending = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  let dropped = 0;
  let openToAll = 0;
  for (const row of rows) {
    const cells = row.trim().split(/\s+/);
    const local = cells[LOCAL_ADDRESS];
    if (local?.endsWith(ending) !== true) continue;
    const drops = Number(cells.at(-1));
    if (Number.isSafeInteger(drops) && drops >= 0) dropped += drops;
    if (local === ANY + ending) openToAll += 1;
  }
  return { dropped, openToAll };
}

/** The boots that a file of the counter has counted; null: it is none. */
export function bootsIn(content: Uint8Array): number | null {
  const read = readJsonBytes(content, 'file');
  const parsed = read.ok ? schema.safeParse(read.value) : null;
  return parsed?.success === true ? parsed.data.boots : null;
}

/**
 * The file of a counter for a gateway that goes on with a copy from `ageS` seconds ago: above every number that one with the
 * same file has used since, since none starts more than once a second. The margin is for clocks that differ. null: there
 * is no such number.
 */
export function bootsAfter(boots: number, ageS: number): Uint8Array | null {
  const raised = boots + Math.ceil(Math.max(0, ageS)) + BOOTS_MARGIN;
  return raised >= MAX_UINT32 ? null : Buffer.from(`${JSON.stringify({ format: FORMAT, boots: raised })}\n`);
}

/** A day of seconds. Project decision. */
const BOOTS_MARGIN = 86_400;

/**
 * Increments the boot counter, durably before it resolves: no two boots of a robot share a counter, not even after a power
 * failure. Throws FILE_UNREADABLE, FILE_UNWRITABLE.
 */
export async function startBoot(stateDir: string): Promise<Boot> {
  const path = join(stateDir, BOOTS_FILE);
  const before = await readStateFile(path, schema, REMEDY);
  const bootCounter = (before?.boots ?? 0) + 1;
  if (bootCounter > MAX_UINT32) {
    throw new GwError('FILE_UNWRITABLE', `The boot counter in ${path} is exhausted.`, {
      remedy:
        'The number was edited by hand. Write the real one; if neighbours received this one, move their heartbeat-received.json away.',
    });
  }
  await writeStateFile(path, { format: FORMAT, boots: bootCounter });
  return { bootCounter, instance: randomBytes(at.uptimeS - at.instance).toString('hex') };
}
