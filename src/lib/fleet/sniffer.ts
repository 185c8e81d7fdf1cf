import type { Clock } from '../lifecycle/index.ts';
import { decodeHeartbeat, type Heartbeat, noRejection, type Rejections } from './datagram.ts';
import type { KeyRing } from './keys.ts';
import { presenceOf } from './neighbours.ts';
import { PERIOD_MS } from './wire.ts';

/** Bounds of senders and addresses with separate counts; the rest is summed up. Without a key anyone can create them. */
const MAX_SENDERS = 500;
const MAX_ADDRESSES = 256;
/** Other addresses of one serial that are listed. */
const MAX_NAMED = 16;

export type SniffView = ReturnType<ReturnType<typeof createSniffer>['view']>;

interface SenderState {
  readonly address: string;
  readonly test: boolean;
  readonly verified: boolean;
  heartbeat: Heartbeat;
  atMs: number;
  /** When the boot of this heartbeat was first received here. */
  sinceMs: number;
  heartbeats: number;
  copies: number;
  replayed: number;
  lost: number;
  /** Welford's running mean and sum of squares of the intervals. */
  intervals: number;
  meanMs: number;
  squares: number;
}

/**
 * Counts heartbeats per serial and address, in the shape of `gw heartbeat sniff --json`: two devices with one serial are two
 * senders, as is one device with two addresses. Without `keys` nothing is verified, and `verified` is false.
 */
export function createSniffer(options: {
  readonly keys: KeyRing | null;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** Robots of the site file: each is listed, however many other senders there are. */
  readonly reserved?: ReadonlySet<string>;
  /** Called for each heartbeat of a robot, verified where there are keys. */
  readonly onHeartbeat?: (heartbeat: Heartbeat, address: string) => void;
}) {
  const { keys, clock, onHeartbeat, reserved = new Set<string>() } = options;
  const reservedSeen = new Set<string>();
  const states = new Map<string, SenderState>();
  const noise = new Map<string | null, Rejections>();
  let datagrams = 0;
  let otherHeartbeats = 0;

  function noiseOf(address: string): Rejections {
    const place = noise.has(address) || noise.size < MAX_ADDRESSES ? address : null;
    let counts = noise.get(place);
    if (counts === undefined) {
      counts = { ...noRejection };
      noise.set(place, counts);
    }
    return counts;
  }

  /** One place each: a device with the key can send a reserved serial from many addresses. */
  function isFirstOfReserved(serial: string): boolean {
    return reserved.has(serial) && !reservedSeen.has(serial);
  }

  function record(heartbeat: Heartbeat, address: string, test: boolean): void {
    const name = `${test} ${heartbeat.serial} ${address}`;
    const atMs = clock.monotonicMs();
    const state = states.get(name);
    const hasPlace = states.size < MAX_SENDERS || (!test && isFirstOfReserved(heartbeat.serial));
    if (state !== undefined) update(state, heartbeat, atMs);
    else if (!hasPlace) otherHeartbeats += 1;
    else
      states.set(name, { ...firstHeartbeat, address, test, verified: keys !== null, heartbeat, atMs, sinceMs: atMs });
    if (hasPlace && !test && reserved.has(heartbeat.serial)) reservedSeen.add(heartbeat.serial);
  }

  return {
    receive(bytes: Buffer, address: string): void {
      datagrams += 1;
      const opened = decodeHeartbeat(bytes, keys);
      switch (opened.kind) {
        case 'heartbeat':
        case 'test':
          if (opened.kind === 'heartbeat') onHeartbeat?.(opened.heartbeat, address);
          record(opened.heartbeat, address, opened.kind === 'test');
          return;
        default:
          noiseOf(address)[opened.kind] += 1;
      }
    },

    view() {
      const nowMs = clock.monotonicMs();
      const bySerial = Map.groupBy(states.values(), ({ heartbeat }) => heartbeat.serial);
      const senders = [...states.values()].map((state) => {
        const { address, test, verified, heartbeat, heartbeats, copies, replayed, lost, intervals, meanMs, squares } =
          state;
        const ageMs = nowMs - state.atMs;
        const isKnown = intervals > 1;
        const others = (bySerial.get(heartbeat.serial) ?? []).filter((other) => other !== state && other.test === test);
        return {
          serial: heartbeat.serial,
          address,
          test,
          verified,
          presence: presenceOf(ageMs),
          ageMs: Math.round(ageMs),
          heartbeats,
          copies,
          replayed,
          lost,
          periodMs: isKnown ? meanMs : null,
          jitterMs: isKnown ? Math.sqrt(squares / (intervals - 1)) : null,
          alsoFrom: addressesOf(others),
          // Of another device, or of a recording of an earlier boot. One device with two addresses, or a new one, is none.
          conflictWith: addressesOf(others.filter((other) => isConflict(state, other, nowMs))),
          bootCounter: heartbeat.bootCounter,
          sequence: heartbeat.sequence,
          uptimeS: heartbeat.uptimeS,
          ...heartbeat.state,
          software: heartbeat.state.software === '' ? null : heartbeat.state.software,
        };
      });
      senders.sort((a, b) => order(a.serial, b.serial) || order(a.address, b.address));
      return {
        datagrams,
        senders,
        otherHeartbeats,
        noise: [...noise].map(([address, counts]) => ({ address, ...counts })),
      };
    },
  };
}

const firstHeartbeat = { heartbeats: 1, copies: 0, replayed: 0, lost: 0, intervals: 0, meanMs: 0, squares: 0 };

function update(state: SenderState, heartbeat: Heartbeat, atMs: number): void {
  const before = state.heartbeat;
  const isSameLife = heartbeat.bootCounter === before.bootCounter;
  if (heartbeat.bootCounter < before.bootCounter || (isSameLife && heartbeat.sequence <= before.sequence)) {
    const isSame = isSameLife && heartbeat.sequence === before.sequence && heartbeat.instance === before.instance;
    if (isSame && atMs - state.atMs < PERIOD_MS) state.copies += 1;
    else state.replayed += 1;
    return;
  }
  const steps = isSameLife ? heartbeat.sequence - before.sequence : 1;
  state.lost += steps - 1;
  state.heartbeats += 1;
  if (heartbeat.instance !== before.instance) state.sinceMs = atMs;
  // There is no period across a boot, and no meaningful one across a long silence.
  const silentMs = atMs - state.atMs;
  if (isSameLife && silentMs <= MAX_INTERVAL_MS) {
    const intervalMs = silentMs / steps;
    state.intervals += 1;
    const off = intervalMs - state.meanMs;
    state.meanMs += off / state.intervals;
    state.squares += off * (intervalMs - state.meanMs);
  }
  state.heartbeat = heartbeat;
  state.atMs = atMs;
}

const MAX_INTERVAL_MS = 60_000;

/** Another instance that does not follow or precede this one, and neither is gone. */
function isConflict(one: SenderState, other: SenderState, nowMs: number): boolean {
  const isOneLife = one.heartbeat.instance === other.heartbeat.instance;
  const isInTurn = one.atMs < other.sinceMs || other.atMs < one.sinceMs;
  const isGone = [one, other].some(({ atMs }) => presenceOf(nowMs - atMs) === 'gone');
  return !isOneLife && !isInTurn && !isGone;
}

function addressesOf(states: readonly SenderState[]): string[] {
  return states.slice(0, MAX_NAMED).map(({ address }) => address);
}

function order(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
