import type { Beat } from './datagram.ts';
import { PERIOD_MS } from './wire.ts';

/** So many refused beats, each newer than the one before, are no chance any more. */
const PROOF_BEATS = 3;
/** Silence after which a voice does not count any more. Decision of ours, as are the others. */
const FORGOTTEN_AFTER_MS = 15 * PERIOD_MS;
/** Voices of one serial beside the one that is heard; of more the one that is silent longest gives way. */
const MOST_VOICES = 4;

/** A beat, and where and when it was heard. */
export interface Spoken {
  readonly beat: Beat;
  readonly address: string;
  readonly atMs: number;
}

interface Voice extends Spoken {
  /** Beats that were refused, each newer than the one before. */
  readonly advanced: number;
  /** Whether it was once the one that is heard. */
  readonly wasHeard: boolean;
}

/**
 * Who else speaks with a serial: another device that was set up with the same one, or a recording of an earlier life.
 * Voices are told apart by their instance and not by their address, since one device may come by several.
 */
export interface OtherVoices {
  /** Takes a beat that was refused, of another instance than the one that is heard. */
  refused(spoken: Spoken): void;
  /** Takes the last beat of the instance that was heard, and the one of another instance that is newer. */
  givesWay(last: Spoken, next: Spoken): void;
  /** Where another device speaks, as far as that is proved; null when none does. */
  conflict(nowMs: number): string | null;
}

export function createOtherVoices(): OtherVoices {
  /** By instance, in the order in which they last said something new. */
  const voices = new Map<string, Voice>();

  function put(voice: Voice): void {
    voices.delete(voice.beat.instance);
    if (voices.size === MOST_VOICES) {
      const [oldest] = voices.keys();
      if (oldest !== undefined) voices.delete(oldest);
    }
    voices.set(voice.beat.instance, voice);
  }

  function find({ beat, atMs }: Spoken): Voice | null {
    const voice = voices.get(beat.instance);
    return voice === undefined || isForgotten(voice, atMs) ? null : voice;
  }

  return {
    refused(spoken) {
      const before = find(spoken);
      if (before !== null && !isNewer(spoken.beat, before.beat)) return;
      put({ ...spoken, advanced: (before?.advanced ?? 0) + 1, wasHeard: before?.wasHeard ?? false });
    },

    givesWay(last, next) {
      const before = find(next);
      voices.delete(next.beat.instance);
      // A life ends with its boot counter: who comes back within one was never gone, and two devices share it.
      const isBack = before?.wasHeard === true && before.beat.bootCounter === next.beat.bootCounter;
      const { beat, address, atMs } = last;
      put({ beat, address, atMs, advanced: isBack ? PROOF_BEATS : 0, wasHeard: true });
    },

    conflict(nowMs) {
      const proved = [...voices.values()].filter(
        (voice) => voice.advanced >= PROOF_BEATS && !isForgotten(voice, nowMs),
      );
      return proved.at(-1)?.address ?? null;
    },
  };
}

function isNewer(beat: Beat, than: Beat): boolean {
  if (beat.bootCounter !== than.bootCounter) return beat.bootCounter > than.bootCounter;
  return beat.sequence > than.sequence;
}

function isForgotten({ atMs }: Voice, nowMs: number): boolean {
  return nowMs - atMs >= FORGOTTEN_AFTER_MS;
}
