import type { Clock } from '../lifecycle/index.ts';
import type { Beat } from './datagram.ts';
import type { ReplayGuard } from './replay-guard.ts';
import { PERIOD_MS } from './wire.ts';

/** Missed beats in a row after which a neighbour is late, and gone. Decision of ours. */
const LATE_AFTER = 3;
const GONE_AFTER = 15;
/** Robots that are shown; of more the one that was heard longest ago gives way. */
const MOST_NEIGHBOURS = 1000;
/** So many beats of another voice, each newer than the one before, are no echo on the network any more. */
const OTHER_VOICE_BEATS = 3;

export type Presence = 'alive' | 'late' | 'gone';

/** Another robot, as its beats tell it. */
export interface Heard {
  readonly serial: string;
  /** Where its last beat came from. */
  readonly address: string;
  readonly presence: Presence;
  /** Since its last beat, by a clock that nobody can set. */
  readonly ageMs: number;
  readonly beat: Beat;
  /** Beats that were heard, and beats that must have been sent between them. */
  readonly beats: number;
  readonly lost: number;
  /** Where another device speaks with the same serial, or an old recording is played; null when nobody does. */
  readonly conflictWith: string | null;
}

/** What became of a signed beat. 'echo': our own. 'replayed': not newer than what was heard of its serial. */
export type Verdict = 'heard' | 'echo' | 'replayed';

interface Entry {
  address: string;
  beat: Beat;
  atMs: number;
  beats: number;
  lost: number;
  other: OtherVoice | null;
}

/** Signed beats of the same serial that the guard refused. */
interface OtherVoice {
  readonly address: string;
  bootCounter: number;
  sequence: number;
  /** How many came, each newer than the one before. */
  advanced: number;
  atMs: number;
}

export interface Neighbours {
  /** Takes a beat whose signature holds. */
  take(beat: Beat, address: string): Verdict;
  /** By serial. */
  list(): Heard[];
  /** Where somebody else speaks with our own serial; null when nobody does. */
  ownConflict(): string | null;
}

/**
 * The robots that were heard. They are kept with their age when they fall silent; no clock of the wall has a say.
 * `self`: our own serial and life, so that the echo of our beats is none of them.
 */
export function createNeighbours(options: {
  readonly self: { readonly serial: string; readonly instance: string };
  readonly guard: Pick<ReplayGuard, 'accept'>;
  readonly clock: Pick<Clock, 'monotonicMs'>;
}): Neighbours {
  const { self, guard, clock } = options;
  const entries = new Map<string, Entry>();
  let ownOther: OtherVoice | null = null;

  return {
    take(beat, address) {
      const nowMs = clock.monotonicMs();
      if (beat.serial === self.serial) {
        if (beat.instance === self.instance) return 'echo';
        ownOther = heardAgain(ownOther, beat, address, nowMs);
        return 'replayed';
      }
      const entry = entries.get(beat.serial);
      if (!guard.accept(beat)) {
        if (entry !== undefined) entry.other = heardAgain(entry.other, beat, address, nowMs);
        return 'replayed';
      }
      // The one with the higher counters is heard; the other one's last words stay in sight.
      const isOtherLife = entry !== undefined && entry.beat.instance !== beat.instance;
      if (entry === undefined) makeRoom(entries);
      else entries.delete(beat.serial);
      entries.set(beat.serial, {
        address,
        beat,
        atMs: nowMs,
        beats: (entry?.beats ?? 0) + 1,
        lost: (entry?.lost ?? 0) + (entry === undefined || isOtherLife ? 0 : lostBetween(entry.beat, beat)),
        other: entry?.other ?? null,
      });
      return 'heard';
    },

    list() {
      const nowMs = clock.monotonicMs();
      return [...entries.values()]
        .map(({ address, beat, atMs, beats, lost, other }): Heard => {
          const ageMs = Math.max(0, nowMs - atMs);
          const conflictWith = conflictOf(other, nowMs);
          return { serial: beat.serial, address, presence: presenceOf(ageMs), ageMs, beat, beats, lost, conflictWith };
        })
        .sort((a, b) => (a.serial < b.serial ? -1 : 1));
    },

    ownConflict: () => conflictOf(ownOther, clock.monotonicMs()),
  };
}

/** Of a neighbour whose last beat is this old. */
export function presenceOf(ageMs: number): Presence {
  const missed = Math.floor(ageMs / PERIOD_MS);
  if (missed >= GONE_AFTER) return 'gone';
  return missed >= LATE_AFTER ? 'late' : 'alive';
}

function lostBetween(before: Beat, after: Beat): number {
  return before.bootCounter === after.bootCounter ? after.sequence - before.sequence - 1 : 0;
}

function heardAgain(before: OtherVoice | null, beat: Beat, address: string, nowMs: number): OtherVoice {
  const { bootCounter, sequence } = beat;
  if (before === null || before.address !== address || isForgotten(before, nowMs)) {
    return { address, bootCounter, sequence, advanced: 1, atMs: nowMs };
  }
  const isNewer =
    bootCounter > before.bootCounter || (bootCounter === before.bootCounter && sequence > before.sequence);
  if (!isNewer) return before;
  return { address, bootCounter, sequence, advanced: before.advanced + 1, atMs: nowMs };
}

function isForgotten({ atMs }: OtherVoice, nowMs: number): boolean {
  return nowMs - atMs >= GONE_AFTER * PERIOD_MS;
}

function conflictOf(other: OtherVoice | null, nowMs: number): string | null {
  if (other === null || other.advanced < OTHER_VOICE_BEATS || isForgotten(other, nowMs)) return null;
  return other.address;
}

/** Insertion order is the order in which they were last heard. */
function makeRoom(entries: Map<string, Entry>): void {
  if (entries.size < MOST_NEIGHBOURS) return;
  const [oldest] = entries.keys();
  if (oldest !== undefined) entries.delete(oldest);
}
