import type { Clock } from '../lifecycle/index.ts';
import type { Beat } from './datagram.ts';
import type { ReplayGuard } from './replay-guard.ts';
import { createOtherVoices, type OtherVoices, type Spoken } from './voices.ts';
import { PERIOD_MS } from './wire.ts';

/** Missed beats in a row after which a neighbour is late, and gone. Decision of ours. */
const LATE_AFTER = 3;
const GONE_AFTER = 15;
/** Robots that are shown; of more the one that was heard longest ago gives way. */
const MOST_NEIGHBOURS = 1000;

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
  /** Where another device speaks with the same serial, or a recording of an earlier life is played; null: nowhere. */
  readonly conflictWith: string | null;
}

/**
 * What became of a signed beat. 'echo': our own. 'copy': the one that was just heard, come by another way as well.
 * 'replayed': not newer than what was heard of its serial. 'no-room': of a new serial, and the table of serials is full.
 */
export type Verdict = 'heard' | 'echo' | 'copy' | 'replayed' | 'no-room';

interface Entry extends Spoken {
  readonly beats: number;
  readonly lost: number;
  readonly others: OtherVoices;
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
  /** Robots of the site file: none of them gives way to another serial. */
  readonly reserved?: ReadonlySet<string>;
}): Neighbours {
  const { self, guard, clock, reserved = new Set<string>() } = options;
  const entries = new Map<string, Entry>();
  const ownVoices = createOtherVoices();

  return {
    take(beat, address) {
      const spoken = { beat, address, atMs: clock.monotonicMs() };
      if (beat.serial === self.serial) {
        if (beat.instance === self.instance) return 'echo';
        ownVoices.refused(spoken);
        return 'replayed';
      }
      const entry = entries.get(beat.serial);
      const isOther = entry !== undefined && entry.beat.instance !== beat.instance;
      const acceptance = guard.accept(beat);
      if (acceptance === 'no-room') return 'no-room';
      if (acceptance === 'replayed') {
        // One of the same instance is a copy that came by another way, or a recording; neither is another device.
        if (isOther) entry.others.refused(spoken);
        return entry !== undefined && isCopy(entry, spoken) ? 'copy' : 'replayed';
      }
      if (isOther) entry.others.givesWay(entry, spoken);
      if (entry === undefined) makeRoom(entries, reserved);
      else entries.delete(beat.serial);
      entries.set(beat.serial, {
        ...spoken,
        beats: (entry?.beats ?? 0) + 1,
        lost: (entry?.lost ?? 0) + (entry === undefined || isOther ? 0 : lostBetween(entry.beat, beat)),
        others: entry?.others ?? createOtherVoices(),
      });
      return 'heard';
    },

    list() {
      const nowMs = clock.monotonicMs();
      return [...entries.values()]
        .map(({ address, beat, atMs, beats, lost, others }): Heard => {
          const ageMs = Math.max(0, nowMs - atMs);
          const conflictWith = others.conflict(nowMs);
          return { serial: beat.serial, address, presence: presenceOf(ageMs), ageMs, beat, beats, lost, conflictWith };
        })
        .sort((a, b) => (a.serial < b.serial ? -1 : 1));
    },

    ownConflict: () => ownVoices.conflict(clock.monotonicMs()),
  };
}

/** Of a neighbour whose last beat is this old. */
export function presenceOf(ageMs: number): Presence {
  const missed = Math.floor(ageMs / PERIOD_MS);
  if (missed >= GONE_AFTER) return 'gone';
  return missed >= LATE_AFTER ? 'late' : 'alive';
}

/** Ways differ by milliseconds. What comes a period later was kept and sent again. */
function isCopy(last: Spoken, { beat, atMs }: Spoken): boolean {
  const { instance, bootCounter, sequence } = last.beat;
  const isSame = beat.instance === instance && beat.bootCounter === bootCounter && beat.sequence === sequence;
  return isSame && atMs - last.atMs < PERIOD_MS;
}

function lostBetween(before: Beat, after: Beat): number {
  return before.bootCounter === after.bootCounter ? after.sequence - before.sequence - 1 : 0;
}

/** Insertion order is the order in which they were last heard. At most 1000 are reserved, by the site file. */
function makeRoom(entries: Map<string, Entry>, reserved: ReadonlySet<string>): void {
  if (entries.size < MOST_NEIGHBOURS) return;
  let oldest: string | undefined;
  for (const serial of entries.keys()) {
    oldest ??= serial;
    if (reserved.has(serial)) continue;
    entries.delete(serial);
    return;
  }
  if (oldest !== undefined) entries.delete(oldest);
}
