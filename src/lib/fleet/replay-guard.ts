import { join } from 'node:path';
import { z } from 'zod';
import { readStateFile, writeStateFile } from '../json/index.ts';
import type { Clock, Log } from '../lifecycle/index.ts';
import type { Heartbeat } from './datagram.ts';
import { MAX_UINT32, PERIOD_MS } from './wire.ts';

const FILE = 'heartbeat-received.json';
const FORMAT = 'gw/heartbeat-received/1';
/** Project decision: time between two writes of the file, to limit wear of the flash memory. */
const SAVE_EVERY_MS = 10_000;
/** How far ahead of the newest sequence the file rejects: the heartbeats between two writes, and a margin. */
const HEARTBEATS_AHEAD = Math.ceil(SAVE_EVERY_MS / PERIOD_MS) + 3;
/** Bound of the table of serials. Only a heartbeat signed with the site key adds one. */
export const MAX_SERIALS = 4096;
const REMEDY =
  'Inspect the file. If it is lost, move it away: recordings of earlier heartbeats may then be accepted once.';

const counters = z.int().min(0).max(MAX_UINT32);
const schema = z.strictObject({
  format: z.literal(FORMAT),
  /** Serial, boot counter, and the sequence up to which its heartbeats are rejected. */
  refused: z.array(z.tuple([z.string().max(128), counters, counters])).max(MAX_SERIALS),
});

interface Newest {
  readonly bootCounter: number;
  readonly sequence: number;
  /** How far ahead the file rejects; 0 until a heartbeat is received in this boot. */
  readonly ahead: number;
  /** The sequence up to which the file rejects this boot counter; -1 when not in the file. */
  kept: number;
}

/** 'replayed': not newer than the last one of its serial. 'table-full': a new serial, and the table is full. */
type Acceptance = 'newer' | 'replayed' | 'table-full';

export interface ReplayGuard {
  /** Loads the state of earlier boots. Throws FILE_UNREADABLE. */
  load(): Promise<void>;
  /** Judges a signed heartbeat; one that is 'newer' counts as received from then on. */
  accept(heartbeat: Pick<Heartbeat, 'serial' | 'bootCounter' | 'sequence'>): Acceptance;
  /** Whether a new serial that is not reserved would be refused. */
  isFull(): boolean;
  /** Writes the state and stops writing. Throws FILE_UNWRITABLE. */
  close(): Promise<void>;
}

/**
 * Remembers the newest heartbeat of every serial by its counters, across restarts and without the wall clock. The file is
 * written every 10 s and rejects a few heartbeats ahead, so that a crash forgets none; a heartbeat beyond those (a new boot,
 * a robot that was out of range) is written at once. After a crash a robot that keeps sending is accepted again within 16 s.
 * While the file cannot be written, the state is kept in memory only.
 *
 * A device with the key can invent serials until the table is full. Each serial of `reserved` has its place in it.
 */
export function createReplayGuard(options: {
  stateDir: string;
  clock: Clock;
  log: Log;
  reserved?: ReadonlySet<string>;
}): ReplayGuard {
  const { clock, log, reserved = new Set<string>() } = options;
  const path = join(options.stateDir, FILE);
  const received = new Map<string, Newest>();
  /** Of `reserved`, those that have not been received yet. */
  let absent = reserved.size;
  let isChanged = false;
  /** Whether a heartbeat was received in this boot, so that the file is outdated. */
  let hasReceived = false;
  let isFailing = false;
  let saving: Promise<void> | null = null;
  let timer: Disposable | null = null;

  function isFull(): boolean {
    return received.size + absent >= MAX_SERIALS;
  }

  /** False when there is no place. A removed serial is rejected from then on like any new one. */
  function reservePlace(serial: string): boolean {
    if (!reserved.has(serial)) {
      return !isFull();
    }
    if (received.size < MAX_SERIALS) return true;
    for (const other of received.keys()) if (!reserved.has(other)) return received.delete(other);
    return false;
  }

  async function write(orderly: boolean): Promise<void> {
    isChanged = false;
    const refused = [...received].map(([serial, { bootCounter, sequence, ahead }]) => {
      return [serial, bootCounter, Math.min(sequence + (orderly ? 0 : ahead), MAX_UINT32)] as const;
    });
    await writeStateFile(path, { format: FORMAT, refused });
    for (const [serial, bootCounter, upTo] of refused) {
      const newest = received.get(serial);
      if (newest?.bootCounter === bootCounter) newest.kept = upTo;
    }
  }

  function save(): void {
    if (!isChanged || saving !== null || timer === null) return;
    saving = write(false)
      .then(
        () => {
          if (isFailing) log.info({ path }, 'replay guard state is saved again');
          isFailing = false;
        },
        (error: unknown) => {
          if (!isFailing) log.warn({ path, error: String(error) }, 'replay guard state could not be saved');
          [isChanged, isFailing] = [true, true];
        },
      )
      .then(() => {
        saving = null;
        if (!isFailing && [...received.values()].some(isBeyondFile)) save();
      });
  }

  return {
    async load() {
      const before = await readStateFile(path, schema, REMEDY);
      received.clear();
      for (const [serial, bootCounter, sequence] of before?.refused ?? []) {
        received.set(serial, { bootCounter, sequence, ahead: 0, kept: sequence });
      }
      absent = [...reserved].filter((serial) => !received.has(serial)).length;
      timer = clock.every(SAVE_EVERY_MS, save);
    },

    accept({ serial, bootCounter, sequence }) {
      const last = received.get(serial);
      if (last === undefined) {
        if (!reservePlace(serial)) return 'table-full';
        if (reserved.has(serial)) absent -= 1;
      } else {
        if (bootCounter < last.bootCounter) return 'replayed';
        if (bootCounter === last.bootCounter && sequence <= last.sequence) return 'replayed';
      }
      const kept = last?.bootCounter === bootCounter ? last.kept : -1;
      const newest = { bootCounter, sequence, ahead: HEARTBEATS_AHEAD, kept };
      received.set(serial, newest);
      isChanged = true;
      hasReceived = true;
      // After a write error the next attempt is the periodic one.
      if (isBeyondFile(newest) && !isFailing) save();
      return 'newer';
    },

    isFull,

    async close() {
      if (timer === null) return;
      timer[Symbol.dispose]();
      timer = null;
      await saving;
      if (hasReceived) await write(true);
    },
  };
}

/** Whether a replay of it would be accepted after a crash. */
function isBeyondFile({ sequence, kept }: Newest): boolean {
  return sequence > kept;
}
