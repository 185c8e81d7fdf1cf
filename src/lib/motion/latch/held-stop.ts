import type { Clock } from '../../lifecycle/index.ts';
import type { RepeatedStops, StopLatch } from '../model.ts';
import { type KeptLatch, MAX_CHARACTERS, released } from './latch-disk.ts';

/** Names kept of repeated stops; further ones are only counted. */
const MAX_NAMED = 16;

/**
 * The stop as it holds in memory, regardless of the disk: whatever is called here holds when the call returns. Until a latch
 * was read from the disk, or set here, it counts as stopped.
 */
export function createHeldStop(clock: Pick<Clock, 'wall'>, onChange: () => void) {
  let state: StopLatch = latchedByGw('The stop latch has not been read yet', 'pending');
  /** A stop is latched, set here or loaded from disk; gw's own reasons to count as stopped are replaced by such a stop. */
  let isByPerson = false;
  let isLoaded = false;
  /** Counts the stops, so that a stop during a clear wins. */
  let stops = 0;
  /** Resolved while the present state is on the disk. */
  let kept = Promise.withResolvers<void>();

  function become(next: StopLatch): void {
    if (next.saved === true) kept.resolve();
    else if (state.saved === true) kept = Promise.withResolvers();
    state = next;
    onChange();
  }

  return {
    state: (): StopLatch => state,
    isByPerson: (): boolean => isByPerson,
    /** Whether the state of the disk is known: it was read, or replaced by a release. */
    isLoaded: (): boolean => isLoaded,
    /** false: it has not been read yet, and counts as stopped for orders alone. */
    isKnown: (): boolean => isLoaded || isByPerson || state.saved !== 'pending',
    /** How many stops were set here; a repeated one is none. */
    stops: (): number => stops,
    /** Resolves when the present state is on the disk, or a later one is. */
    untilSaved: (): Promise<void> => kept.promise,

    set(reason: string, by: string): void {
      stops += 1;
      isByPerson = true;
      const since = clock.wall().toISOString();
      become({ latched: true, reason, by, since, saved: 'pending', unsavedBecause: null, repeated: null });
    },

    /** One more stop while one is latched. */
    repeat(reason: string, by: string): void {
      const before: RepeatedStops = state.repeated ?? { count: 0, by: [], last: { reason, by, at: '' } };
      const isNew = !before.by.includes(by) && before.by.length < MAX_NAMED;
      become({
        ...state,
        repeated: {
          count: before.count + 1,
          by: isNew ? [...before.by, by] : before.by,
          last: { reason, by, at: clock.wall().toISOString() },
        },
      });
    },

    /** The robot drove on: a stop that is latched already keeps its reason, and its repeats. */
    setDisobeyed(why: string): void {
      const stop = { reason: 'it did not stop, or drove off again', by: 'gw', since: clock.wall().toISOString() };
      const { reason, by, since } = state.latched && isByPerson ? state : stop;
      stops += 1;
      isByPerson = true;
      const { repeated } = state;
      become({
        ...{ latched: true, reason, by, since, repeated, disobeyed: cut(why) },
        ...{ saved: 'pending', unsavedBecause: null },
      });
    },

    /** The disk has this latch. */
    load(found: KeptLatch): void {
      isLoaded = true;
      isByPerson = found.latched;
      become({ ...found, saved: true, unsavedBecause: null, repeated: null });
    },

    /** `found`: why the latch on the disk cannot be read. */
    countAsSet(found: string): void {
      become(latchedByGw(`The stop latch file cannot be read (${found}), which counts as stopped`, false));
    },

    /** The release is on the disk. */
    release(): void {
      [isLoaded, isByPerson] = [true, false];
      become({ ...released, saved: true, unsavedBecause: null, repeated: null });
    },

    /** The present state is to be saved again. */
    markPending: (): void => become({ ...state, saved: 'pending' }),
    markSaved: (): void => become({ ...state, saved: true, unsavedBecause: null }),
    markUnsaved: (unsavedBecause: string): void => become({ ...state, saved: false, unsavedBecause }),
  };
}

/** A text as the disk takes it. */
export function cut(text: string): string {
  return text.slice(0, MAX_CHARACTERS);
}

function latchedByGw(reason: string, saved: StopLatch['saved']): StopLatch {
  const kept: KeptLatch = { latched: true, reason: cut(reason), by: 'gw', since: null };
  return { ...kept, saved, unsavedBecause: null, repeated: null };
}
