import type { Clock } from '../lifecycle/index.ts';
import { decodeHeartbeat, decodeUnverified, type Heartbeat } from './datagram.ts';
import type { KeyRing } from './keys.ts';
import { type Presence, presenceOf } from './neighbours.ts';
import { PERIOD_MS } from './wire.ts';

/** Bounds of senders and addresses with separate counts; the rest is summed up. Without a key anyone can create them. */
const MAX_SENDERS = 500;
const MAX_ADDRESSES = 256;
/** Other addresses of one serial that are listed. */
const MAX_NAMED = 16;

/** A serial at one address. Two devices with one serial are two senders, as is one device with two addresses. */
interface Sender {
  readonly serial: string;
  readonly address: string;
  /** Whether it sends test heartbeats (`gw heartbeat send`) and is not a robot. */
  readonly test: boolean;
  /** Whether its signature was verified. */
  readonly verified: boolean;
  readonly presence: Presence;
  readonly ageMs: number;
  readonly heartbeats: number;
  /** Duplicates within one period, such as by broadcast and unicast. */
  readonly copies: number;
  /** Other heartbeats that were not newer than an earlier one. */
  readonly replayed: number;
  /** Gaps in its sequence since the first heartbeat received. */
  readonly lost: number;
  /** Mean and standard deviation of the time from heartbeat to heartbeat, averaged over gaps; null before the third heartbeat. */
  readonly periodMs: number | null;
  readonly jitterMs: number | null;
  /** Other addresses that send with the same serial, at most 16. */
  readonly alsoFrom: readonly string[];
  /**
   * Those of another device, or of a recording of an earlier boot: another instance that does not follow or precede this
   * one, and neither is gone. One device with two addresses, or a new one, is no conflict.
   */
  readonly conflictWith: readonly string[];
  readonly last: Heartbeat;
}

/** Rejected datagrams of one address, by reason. */
export interface Noise {
  /** null: all addresses beyond the bound. */
  readonly address: string | null;
  readonly malformed: number;
  readonly otherVersion: number;
  readonly otherKey: number;
  readonly forged: number;
}

export interface SniffView {
  readonly datagrams: number;
  readonly senders: readonly Sender[];
  /** Heartbeats of states beyond those that are kept apart. */
  readonly otherHeartbeats: number;
  readonly noise: readonly Noise[];
}

export interface Sniffer {
  receive(bytes: Buffer, address: string): void;
  view(): SniffView;
}

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

type Counts = { malformed: number; otherVersion: number; otherKey: number; forged: number };

/** Counts heartbeats per sender. Without `keys` nothing is verified, and `verified` is false. */
export function createSniffer(options: {
  readonly keys: KeyRing | null;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** Robots of the site file: each is listed, however many other senders there are. */
  readonly reserved?: ReadonlySet<string>;
  /** Called for each heartbeat of a robot, verified where there are keys. */
  readonly onHeartbeat?: (heartbeat: Heartbeat, address: string) => void;
}): Sniffer {
  const { keys, clock, onHeartbeat, reserved = new Set<string>() } = options;
  const reservedSeen = new Set<string>();
  const states = new Map<string, SenderState>();
  const noise = new Map<string | null, Counts>();
  let datagrams = 0;
  let otherHeartbeats = 0;

  function noiseOf(address: string): Counts {
    const place = noise.has(address) || noise.size < MAX_ADDRESSES ? address : null;
    let counts = noise.get(place);
    if (counts === undefined) {
      counts = { malformed: 0, otherVersion: 0, otherKey: 0, forged: 0 };
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
    receive(bytes, address) {
      datagrams += 1;
      const opened = keys === null ? decodeUnverified(bytes) : decodeHeartbeat(bytes, keys);
      switch (opened.kind) {
        case 'heartbeat':
        case 'test':
          if (opened.kind === 'heartbeat') onHeartbeat?.(opened.heartbeat, address);
          record(opened.heartbeat, address, opened.kind === 'test');
          return;
        case 'other-version':
          noiseOf(address).otherVersion += 1;
          return;
        case 'other-key':
          noiseOf(address).otherKey += 1;
          return;
        default:
          noiseOf(address)[opened.kind] += 1;
      }
    },

    view() {
      const nowMs = clock.monotonicMs();
      const bySerial = Map.groupBy(states.values(), ({ heartbeat }) => heartbeat.serial);
      const senders = [...states.values()].map((state): Sender => {
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
          ageMs,
          heartbeats,
          copies,
          replayed,
          lost,
          periodMs: isKnown ? meanMs : null,
          jitterMs: isKnown ? Math.sqrt(squares / (intervals - 1)) : null,
          alsoFrom: addressesOf(others),
          conflictWith: addressesOf(others.filter((other) => isConflict(state, other, nowMs))),
          last: heartbeat,
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
