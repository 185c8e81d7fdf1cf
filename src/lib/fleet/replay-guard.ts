import { join } from 'node:path';
import { z } from 'zod';
import type { Clock, Log } from '../lifecycle/index.ts';
import type { Beat } from './datagram.ts';
import { keep, readKept } from './kept-file.ts';
import { MOST_UINT32, PERIOD_MS } from './wire.ts';

const FILE = 'heartbeat-heard.json';
/** Between two writes of the file: flash memory wears, and beats are many. Decision of ours. */
const SAVE_EVERY_MS = 10_000;
/** Beats that may have been heard since the last write, when no orderly stop wrote them down; and a few more. */
const UNSAVED_BEATS = Math.ceil(SAVE_EVERY_MS / PERIOD_MS) + 3;
/** Serials that are remembered. Only a beat that is signed with the key of the site makes one. */
const MOST_SERIALS = 4096;

const counters = z.int().min(0).max(MOST_UINT32);
const schema = z.strictObject({
  format: z.literal('gw/heartbeat-heard/1'),
  /** false while gw runs: after a crash some beats were heard that do not stand here. */
  orderly: z.boolean(),
  heard: z.array(z.tuple([z.string().max(128), counters, counters])).max(MOST_SERIALS),
});

interface Heard {
  bootCounter: number;
  sequence: number;
}

export interface ReplayGuard {
  /** Reads what was heard in earlier lives. Throws FILE_UNWRITABLE. */
  load(): Promise<void>;
  /** Whether a signed beat is newer than every one that was heard of its serial; from then on it was heard. */
  accept(beat: Pick<Beat, 'serial' | 'bootCounter' | 'sequence'>): boolean;
  /** Writes what was heard since, as an orderly end. */
  close(): Promise<void>;
}

/**
 * Remembers the newest beat of every serial by its counters, across restarts, without looking at a clock of the wall.
 * What was heard is written every 10 s and at the end. After a crash the last seconds are missing, so that as many
 * beats as may have been heard in them are refused: a robot that goes on beating is heard again after 16 s at most.
 */
export function createReplayGuard(options: { stateDir: string; clock: Clock; log: Log }): ReplayGuard {
  const { clock, log } = options;
  const path = join(options.stateDir, FILE);
  const heard = new Map<string, Heard>();
  let isChanged = false;
  /** A life began that the file does not know. */
  let isUrgent = false;
  let saving: Promise<void> | null = null;
  let timer: Disposable | null = null;

  async function write(orderly: boolean): Promise<void> {
    [isChanged, isUrgent] = [false, false];
    const rows = [...heard].map(([serial, { bootCounter, sequence }]) => [serial, bootCounter, sequence]);
    await keep(path, { format: 'gw/heartbeat-heard/1', orderly, heard: rows });
  }

  function save(): void {
    if (!isChanged || saving !== null) return;
    saving = write(false)
      .catch((error: unknown) => {
        // The next round tries again; until then what was heard holds in memory.
        isChanged = true;
        log.warn({ path, error: String(error) }, 'which beats were heard could not be saved');
      })
      .then(() => {
        saving = null;
        if (isUrgent) save();
      });
  }

  return {
    async load() {
      const before = await readKept(path, schema);
      const margin = before === null || before.orderly ? 0 : UNSAVED_BEATS;
      heard.clear();
      for (const [serial, bootCounter, sequence] of before?.heard ?? []) {
        heard.set(serial, { bootCounter, sequence: Math.min(sequence + margin, MOST_UINT32) });
      }
      // From now on a crash loses what is heard.
      await write(false);
      timer = clock.every(SAVE_EVERY_MS, save);
    },

    accept({ serial, bootCounter, sequence }) {
      const last = heard.get(serial);
      if (last === undefined) {
        if (heard.size === MOST_SERIALS) return false;
        heard.set(serial, { bootCounter, sequence });
      } else {
        if (bootCounter < last.bootCounter) return false;
        if (bootCounter === last.bootCounter && sequence <= last.sequence) return false;
      }
      isChanged = true;
      // The margin after a crash counts the beats of one life, so a new life is written down at once.
      if (last === undefined || bootCounter !== last.bootCounter) isUrgent = true;
      if (last !== undefined) {
        last.bootCounter = bootCounter;
        last.sequence = sequence;
      }
      if (isUrgent) save();
      return true;
    },

    async close() {
      if (timer === null) return;
      timer[Symbol.dispose]();
      timer = null;
      isUrgent = false;
      await saving;
      await write(true);
    },
  };
}
