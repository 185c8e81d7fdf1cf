import type { Clock } from '../lifecycle/index.ts';
import { type Beat, openDatagram, openUnverified } from './datagram.ts';
import type { KeyRing } from './keys.ts';
import { type Presence, presenceOf } from './neighbours.ts';
import { PERIOD_MS } from './wire.ts';

/** Speakers and addresses that are kept apart; what is beyond is counted as one. Without a key anybody makes them. */
const MOST_SPEAKERS = 500;
const MOST_ADDRESSES = 256;
/** Other addresses of one serial that are named. */
const MOST_NAMED = 16;

/** One voice: a serial, from one address. Two devices with one serial are two voices, as is one with two addresses. */
interface Speaker {
  readonly serial: string;
  readonly address: string;
  /** Whether it says that it is no robot, but somebody who looks whether a path works. */
  readonly test: boolean;
  /** Whether its signature was looked at and holds. */
  readonly verified: boolean;
  readonly presence: Presence;
  readonly ageMs: number;
  readonly beats: number;
  /** Beats that came once more within their period, as by broadcast and unicast both. */
  readonly copies: number;
  /** Other beats that were not newer than one before. */
  readonly replayed: number;
  /** Beats that are missing in its sequence since it was first heard. */
  readonly lost: number;
  /** Mean and standard deviation of the time from beat to beat, gaps shared out; null before the third beat. */
  readonly periodMs: number | null;
  readonly jitterMs: number | null;
  /** Other addresses that speak with the same serial, at most 16. */
  readonly alsoFrom: readonly string[];
  /**
   * Those where another life speaks, neither of the two after the other and neither of them gone: another device, or a
   * recording of an earlier life. A device with two addresses, or with a new one, is in no conflict with itself.
   */
  readonly conflictWith: readonly string[];
  readonly last: Beat;
}

/** Datagrams from one address that were no beats, by what was wrong with them. */
export interface Noise {
  /** null: all addresses beyond those that are kept apart. */
  readonly address: string | null;
  readonly malformed: number;
  readonly otherVersion: number;
  readonly otherKey: number;
  readonly forged: number;
}

export interface SniffView {
  readonly datagrams: number;
  readonly speakers: readonly Speaker[];
  /** Beats of voices beyond those that are kept apart. */
  readonly moreBeats: number;
  readonly noise: readonly Noise[];
}

export interface Sniffer {
  take(bytes: Buffer, address: string): void;
  view(): SniffView;
}

interface Voice {
  readonly address: string;
  readonly test: boolean;
  readonly verified: boolean;
  beat: Beat;
  atMs: number;
  /** When the life of this beat was first heard here. */
  sinceMs: number;
  beats: number;
  copies: number;
  replayed: number;
  lost: number;
  /** Welford's running mean and sum of squares of the intervals. */
  intervals: number;
  meanMs: number;
  squares: number;
}

type Counts = { malformed: number; otherVersion: number; otherKey: number; forged: number };

/** Counts who speaks on the port of the heartbeat, and how. Without `keys` nothing is verified, and it says so. */
export function createSniffer(options: {
  readonly keys: KeyRing | null;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** Robots of the site file: each is shown, however many other speakers there are. */
  readonly reserved?: ReadonlySet<string>;
  /** Called for each heartbeat of a robot, verified where there are keys. */
  readonly onHeartbeat?: (beat: Beat, address: string) => void;
}): Sniffer {
  const { keys, clock, onHeartbeat, reserved = new Set<string>() } = options;
  const reservedSeen = new Set<string>();
  const voices = new Map<string, Voice>();
  const noise = new Map<string | null, Counts>();
  let datagrams = 0;
  let moreBeats = 0;

  function noiseOf(address: string): Counts {
    const place = noise.has(address) || noise.size < MOST_ADDRESSES ? address : null;
    let counts = noise.get(place);
    if (counts === undefined) {
      counts = { malformed: 0, otherVersion: 0, otherKey: 0, forged: 0 };
      noise.set(place, counts);
    }
    return counts;
  }

  /** One voice each: with the key anybody can speak with its serial from many addresses. */
  function isFirstOfReserved(serial: string): boolean {
    return reserved.has(serial) && !reservedSeen.has(serial);
  }

  function hear(beat: Beat, address: string, test: boolean): void {
    const name = `${test} ${beat.serial} ${address}`;
    const atMs = clock.monotonicMs();
    const voice = voices.get(name);
    const hasPlace = voices.size < MOST_SPEAKERS || (!test && isFirstOfReserved(beat.serial));
    if (voice !== undefined) takeBeat(voice, beat, atMs);
    else if (!hasPlace) moreBeats += 1;
    else voices.set(name, { ...firstBeat, address, test, verified: keys !== null, beat, atMs, sinceMs: atMs });
    if (hasPlace && !test && reserved.has(beat.serial)) reservedSeen.add(beat.serial);
  }

  return {
    take(bytes, address) {
      datagrams += 1;
      const opened = keys === null ? openUnverified(bytes) : openDatagram(bytes, keys);
      switch (opened.kind) {
        case 'beat':
        case 'test':
          if (opened.kind === 'beat') onHeartbeat?.(opened.beat, address);
          hear(opened.beat, address, opened.kind === 'test');
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
      const bySerial = Map.groupBy(voices.values(), ({ beat }) => beat.serial);
      const speakers = [...voices.values()].map((voice): Speaker => {
        const { address, test, verified, beat, beats, copies, replayed, lost, intervals, meanMs, squares } = voice;
        const ageMs = nowMs - voice.atMs;
        const isKnown = intervals > 1;
        const others = (bySerial.get(beat.serial) ?? []).filter((other) => other !== voice && other.test === test);
        return {
          serial: beat.serial,
          address,
          test,
          verified,
          presence: presenceOf(ageMs),
          ageMs,
          beats,
          copies,
          replayed,
          lost,
          periodMs: isKnown ? meanMs : null,
          jitterMs: isKnown ? Math.sqrt(squares / (intervals - 1)) : null,
          alsoFrom: addressesOf(others),
          conflictWith: addressesOf(others.filter((other) => isConflict(voice, other, nowMs))),
          last: beat,
        };
      });
      speakers.sort((a, b) => order(a.serial, b.serial) || order(a.address, b.address));
      return {
        datagrams,
        speakers,
        moreBeats,
        noise: [...noise].map(([address, counts]) => ({ address, ...counts })),
      };
    },
  };
}

const firstBeat = { beats: 1, copies: 0, replayed: 0, lost: 0, intervals: 0, meanMs: 0, squares: 0 };

function takeBeat(voice: Voice, beat: Beat, atMs: number): void {
  const before = voice.beat;
  const isSameLife = beat.bootCounter === before.bootCounter;
  if (beat.bootCounter < before.bootCounter || (isSameLife && beat.sequence <= before.sequence)) {
    const isSame = isSameLife && beat.sequence === before.sequence && beat.instance === before.instance;
    if (isSame && atMs - voice.atMs < PERIOD_MS) voice.copies += 1;
    else voice.replayed += 1;
    return;
  }
  const steps = isSameLife ? beat.sequence - before.sequence : 1;
  voice.lost += steps - 1;
  voice.beats += 1;
  if (beat.instance !== before.instance) voice.sinceMs = atMs;
  // From one life to the next there is no period, and over a long silence none that means anything.
  const silentMs = atMs - voice.atMs;
  if (isSameLife && silentMs <= LONGEST_SILENCE_MS) {
    const intervalMs = silentMs / steps;
    voice.intervals += 1;
    const off = intervalMs - voice.meanMs;
    voice.meanMs += off / voice.intervals;
    voice.squares += off * (intervalMs - voice.meanMs);
  }
  voice.beat = beat;
  voice.atMs = atMs;
}

const LONGEST_SILENCE_MS = 60_000;

function isConflict(one: Voice, other: Voice, nowMs: number): boolean {
  const isOneLife = one.beat.instance === other.beat.instance;
  const isInTurn = one.atMs < other.sinceMs || other.atMs < one.sinceMs;
  const isGone = [one, other].some(({ atMs }) => presenceOf(nowMs - atMs) === 'gone');
  return !isOneLife && !isInTurn && !isGone;
}

function addressesOf(voices: readonly Voice[]): string[] {
  return voices.slice(0, MOST_NAMED).map(({ address }) => address);
}

function order(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
