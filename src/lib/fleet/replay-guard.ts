import { join } from 'node:path';
import { z } from 'zod';
import type { Clock, Log } from '../lifecycle/index.ts';
import type { Beat } from './datagram.ts';
import { keep, readKept } from './kept-file.ts';
import { MOST_UINT32, PERIOD_MS } from './wire.ts';

const FILE = 'heartbeat-heard.json';
const FORMAT = 'gw/heartbeat-heard/1';
/** Between two writes of the file: flash memory wears, and beats are many. Decision of ours. */
const SAVE_EVERY_MS = 10_000;
/** So far beyond the newest beat does the file refuse: the beats between two writes, and a few more. */
const BEATS_AHEAD = Math.ceil(SAVE_EVERY_MS / PERIOD_MS) + 3;
/** Serials that are remembered. Only a heartbeat that is signed with the key of the site makes one. */
export const MAX_SERIALS = 4096;
const REMEDY =
  'Look at it. When it is lost, move it away: recordings of beats that were heard before may then pass once.';

const counters = z.int().min(0).max(MOST_UINT32);
const schema = z.strictObject({
  format: z.literal(FORMAT),
  /** Serial and boot counter, and the sequence up to which its beats are refused. */
  refused: z.array(z.tuple([z.string().max(128), counters, counters])).max(MAX_SERIALS),
});

interface Newest {
  readonly bootCounter: number;
  readonly sequence: number;
  /** How far beyond it the file refuses; 0 until a beat is heard in this life, so that no crash adds to another. */
  readonly ahead: number;
  /** The sequence up to which the file on the disk refuses this boot counter; -1 when it does not know it. */
  kept: number;
}

/** 'replayed': not newer than one of its serial before. 'no-room': a new serial, and the table is full. */
type Acceptance = 'newer' | 'replayed' | 'no-room';

export interface ReplayGuard {
  /** Reads what was heard in earlier lives. Throws FILE_UNWRITABLE. */
  load(): Promise<void>;
  /** Judges a signed heartbeat; one that is 'newer' counts as received from then on. */
  accept(beat: Pick<Beat, 'serial' | 'bootCounter' | 'sequence'>): Acceptance;
  /** Whether a new serial that is not reserved would be refused. */
  isFull(): boolean;
  /** Writes what was heard since, as an orderly end; nothing is written after. Throws FILE_UNWRITABLE. */
  close(): Promise<void>;
}

/**
 * Remembers the newest beat of every serial by its counters, across restarts, without looking at a clock of the wall.
 * The file is written every 10 s and refuses a few beats ahead, so that a crash forgets none that was heard; a beat
 * beyond those (a new life, a robot that was out of reach) is written down at once. After a crash a robot that goes on
 * beating is heard again after 16 s at most. While the file cannot be written, what was heard holds in memory only.
 *
 * Whoever has the key can invent serials until the table is full. Each serial of `reserved` has its place in it.
 */
export function createReplayGuard(options: {
  stateDir: string;
  clock: Clock;
  log: Log;
  reserved?: ReadonlySet<string>;
}): ReplayGuard {
  const { clock, log, reserved = new Set<string>() } = options;
  const path = join(options.stateDir, FILE);
  const heard = new Map<string, Newest>();
  /** Of `reserved`, those that have not been received yet. */
  let absent = reserved.size;
  let isChanged = false;
  /** Whether this life has heard anything: only then is the file other than it was read. */
  let hasHeard = false;
  let isFailing = false;
  let saving: Promise<void> | null = null;
  let timer: Disposable | null = null;

  function isFull(): boolean {
    return heard.size + absent >= MAX_SERIALS;
  }

  /** False when a new serial finds no place. An invented one that gives way is refused from then on, as it is new. */
  function makeRoom(serial: string): boolean {
    if (!reserved.has(serial)) {
      return !isFull();
    }
    if (heard.size < MAX_SERIALS) return true;
    for (const other of heard.keys()) if (!reserved.has(other)) return heard.delete(other);
    return false;
  }

  async function write(orderly: boolean): Promise<void> {
    isChanged = false;
    const refused = [...heard].map(([serial, { bootCounter, sequence, ahead }]) => {
      return [serial, bootCounter, Math.min(sequence + (orderly ? 0 : ahead), MOST_UINT32)] as const;
    });
    await keep(path, { format: FORMAT, refused });
    for (const [serial, bootCounter, upTo] of refused) {
      const newest = heard.get(serial);
      if (newest?.bootCounter === bootCounter) newest.kept = upTo;
    }
  }

  function save(): void {
    if (!isChanged || saving !== null || timer === null) return;
    saving = write(false)
      .then(
        () => {
          if (isFailing) log.info({ path }, 'which beats were heard is saved again');
          isFailing = false;
        },
        (error: unknown) => {
          if (!isFailing) log.warn({ path, error: String(error) }, 'which beats were heard could not be saved');
          [isChanged, isFailing] = [true, true];
        },
      )
      .then(() => {
        saving = null;
        if (!isFailing && [...heard.values()].some(isBeyondFile)) save();
      });
  }

  return {
    async load() {
      const before = await readKept(path, schema, REMEDY);
      heard.clear();
      for (const [serial, bootCounter, sequence] of before?.refused ?? []) {
        heard.set(serial, { bootCounter, sequence, ahead: 0, kept: sequence });
      }
      absent = [...reserved].filter((serial) => !heard.has(serial)).length;
      timer = clock.every(SAVE_EVERY_MS, save);
    },

    accept({ serial, bootCounter, sequence }) {
      const last = heard.get(serial);
      if (last === undefined) {
        if (!makeRoom(serial)) return 'no-room';
        if (reserved.has(serial)) absent -= 1;
      } else {
        if (bootCounter < last.bootCounter) return 'replayed';
        if (bootCounter === last.bootCounter && sequence <= last.sequence) return 'replayed';
      }
      const kept = last?.bootCounter === bootCounter ? last.kept : -1;
      const newest = { bootCounter, sequence, ahead: BEATS_AHEAD, kept };
      heard.set(serial, newest);
      isChanged = true;
      hasHeard = true;
      // A disk that fails is tried again every 10 s, not with every beat.
      if (isBeyondFile(newest) && !isFailing) save();
      return 'newer';
    },

    isFull,

    async close() {
      if (timer === null) return;
      timer[Symbol.dispose]();
      timer = null;
      await saving;
      if (hasHeard) await write(true);
    },
  };
}

/** Whether a recording of it would pass after a crash. */
function isBeyondFile({ sequence, kept }: Newest): boolean {
  return sequence > kept;
}
