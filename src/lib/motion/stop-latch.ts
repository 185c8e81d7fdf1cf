import { asGwError, GwError } from '../error/index.ts';
import { type Clock, type Log, removeLeftDrafts, repeat } from '../lifecycle/index.ts';
import { createLatchDisk, type KeptLatch, type LatchDisk, MAX_CHARACTERS, released } from './latch-disk.ts';
import type { KeepingTrouble, RepeatedStops, StopLatch } from './model.ts';

/** Interval of the disk check; an unsaved stop is saved again. */
const CHECK_MS = 2_000;
/** After a failure the disk is probed with a write at most this often. */
const PROBE_MS = 10_000;
/** A disk access that takes longer counts as failed. */
const HUNG_MS = 3_000;
/** How long clearing a stop waits for the disk; after that the stop stays latched. */
const CLEAR_TIMEOUT_MS = 5_000;
/** Names kept of repeated stops; further ones are only counted. */
const MAX_NAMED = 16;

interface Options {
  readonly stateDir: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly onChange: () => void;
  /** Another disk, for tests. */
  readonly disk?: LatchDisk;
}

/**
 * The stop latch: with `saved: true` it survives a crash, a restart and a power cut. It holds in memory from the moment
 * it is set, regardless of the disk, and saving is retried until it succeeds. An unreadable latch counts as stopped. All
 * numbers are project decisions.
 */
export function createStopLatch({ stateDir, clock, log, onChange, disk = createLatchDisk(stateDir) }: Options) {
  const { path } = disk;
  let state: StopLatch = latchedByGw('The stop latch has not been read yet', 'pending');
  /** A stop is latched, set here or loaded from disk; gw's own reasons to count as stopped are replaced by such a stop. */
  let isByPerson = false;
  let isLoaded = false;
  let trouble: KeepingTrouble | null = null;
  /** Counts the stops, so that a stop during a clear wins. */
  let stops = 0;
  let clearing = 0;
  let queue: Promise<unknown> = Promise.resolve();
  let loading: Promise<void> | null = null;
  /** Resolved while the present state is on the disk. */
  let kept = Promise.withResolvers<void>();

  /** Serialises access to the file. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = queue.then(work);
    queue = turn.catch(() => {});
    return turn;
  }

  function become(next: StopLatch): void {
    if (next.saved === true) kept.resolve();
    else if (state.saved === true) kept = Promise.withResolvers();
    state = next;
    onChange();
  }

  function setTrouble(error: unknown): void {
    if (error === null) {
      if (trouble === null) return;
      trouble = null;
      log.info({ path }, 'the stop latch can be saved again');
    } else {
      const { message, remedy } = asGwError(error);
      if (trouble?.reason === message) return;
      trouble = { reason: message, remedy };
      log.error({ path, reason: message }, 'the stop latch cannot be saved: no order passes until it can');
    }
    onChange();
  }

  /** Saves the present state and sets `saved` by the result. Never rejects. */
  async function save(): Promise<void> {
    const { latched, saved } = state;
    if (saved === true) return;
    const { reason, by, since, disobeyed } = state;
    const at = stops;
    const isSame = () => stops === at && state.latched;
    try {
      await disk.write({ latched, reason, by, since, disobeyed });
      setTrouble(null);
      if (isSame()) become({ ...state, saved: true, unsavedBecause: null });
    } catch (error) {
      setTrouble(error);
      if (!isSame()) return;
      const why = `not saved: a restart of gw would forget this stop. ${asGwError(error).message}`;
      if (state.saved !== false) log.error({ path, error: asGwError(error).message }, 'the stop is not saved');
      become({ ...state, saved: false, unsavedBecause: why });
    }
  }

  async function load(): Promise<void> {
    await disk.probe().then(
      () => setTrouble(null),
      (error: unknown) => setTrouble(error),
    );
    if (trouble === null) await removeLeftDrafts(stateDir, clock.wall());
    await readAgain();
  }

  async function readAgain(): Promise<void> {
    if (isLoaded) return;
    const found = await disk.read();
    // A stop that was set before the first load stays.
    if (stops > 0 || isLoaded) return;
    if (typeof found === 'string') {
      log.error({ path, found }, 'the stop latch cannot be read and counts as set');
      become(latchedByGw(`The stop latch file cannot be read (${found}), which counts as stopped`, false));
      return;
    }
    isLoaded = true;
    isByPerson = found.latched;
    become({ ...found, saved: true, unsavedBecause: null, repeated: null });
  }

  function addRepeat(reason: string, by: string): void {
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
  }

  return {
    state: (): StopLatch => state,
    /** false: it has not been read yet, and counts as stopped for orders alone. */
    isKnown: (): boolean => isLoaded || isByPerson || state.saved !== 'pending',
    /** Why a stop could not be saved now; null while it could. */
    trouble: (): KeepingTrouble | null => trouble,

    /** Resolves when the present state is on the disk, or a later one is. */
    untilSaved: (): Promise<void> => kept.promise,

    /** Resolves when the disk has answered every change so far. Never rejects. */
    settled: (): Promise<unknown> => queue,

    /** Reads the saved latch and probes the disk. Never fails; see `trouble`. */
    load(): Promise<void> {
      loading ??= load().finally(() => {
        loading = null;
      });
      return loading;
    },

    /**
     * Holds when it returns; the promise settles when the disk has answered, and `saved` holds the result. Never fails.
     * A repeated stop is counted in memory and writes nothing.
     */
    set(reasonGiven: string, byGiven: string): Promise<void> {
      const [reason, by] = [cut(reasonGiven), cut(byGiven)];
      if (state.latched && isByPerson && clearing === 0) {
        addRepeat(reason, by);
        return state.saved === 'pending' ? queue.then(() => {}) : Promise.resolve();
      }
      stops += 1;
      isByPerson = true;
      const since = clock.wall().toISOString();
      become({ latched: true, reason, by, since, saved: 'pending', unsavedBecause: null, repeated: null });
      return inTurn(save);
    },

    /**
     * The robot drove on after a cancel: nothing but a person lets it drive again. Holds when it returns; the promise
     * settles when the disk has answered. Never fails.
     */
    disobeyed(why: string): Promise<void> {
      if (state.latched && state.disobeyed !== undefined) return Promise.resolve();
      const stop = { reason: 'it did not stop, or drove off again', by: 'gw', since: clock.wall().toISOString() };
      const { reason, by, since } = state.latched && isByPerson ? state : stop;
      stops += 1;
      isByPerson = true;
      const { repeated } = state;
      become({
        ...{ latched: true, reason, by, since, repeated, disobeyed: cut(why) },
        ...{ saved: 'pending', unsavedBecause: null },
      });
      return inTurn(save);
    },

    /**
     * Resolves when the release is on the disk. Throws FILE_UNWRITABLE and stays set when it cannot be saved, also when
     * the disk gives no answer.
     */
    async clear(): Promise<StopLatch> {
      const at = stops;
      let isLate = false;
      clearing += 1;
      const release = inTurn(async () => {
        if (isLate) return;
        try {
          await disk.write(released);
          setTrouble(null);
        } catch (error) {
          setTrouble(error);
          // The content on the disk is unknown: the present state is saved again.
          void saveAgain();
          throw error;
        }
        if (isLate) void saveAgain();
        else if (stops === at) {
          [isLoaded, isByPerson] = [true, false];
          become({ ...released, saved: true, unsavedBecause: null, repeated: null });
        }
      });
      try {
        const { promise: late, reject } = Promise.withResolvers<never>();
        using _limit = clock.after(CLEAR_TIMEOUT_MS, () => {
          isLate = true;
          reject(hung(path, 'so the stop holds'));
        });
        await Promise.race([release, late]);
        return state;
      } finally {
        release.catch(() => {});
        clearing -= 1;
      }
    },

    /** Checks the disk until disposed. */
    watch(): Disposable {
      let probedAtMs = clock.monotonicMs();
      async function check(): Promise<void> {
        if (state.latched && state.saved === true && !(await disk.isThere())) {
          log.error({ path }, 'the file of the stop latch was removed; it is saved again');
          await saveAgain();
        } else if (state.saved === false && isByPerson) await inTurn(save);
        else if (trouble === null) await disk.check().catch(setTrouble);
        else if (clock.monotonicMs() - probedAtMs >= PROBE_MS) {
          probedAtMs = clock.monotonicMs();
          await disk.probe().then(() => setTrouble(null), setTrouble);
          if (trouble === null) await readAgain();
        }
      }
      const onHung = () => setTrouble(hung(path, 'so no order passes'));
      return repeat(clock, { everyMs: CHECK_MS, work: check, hungMs: HUNG_MS, onHung });
    },
  };

  /** Never rejects. */
  async function saveAgain(): Promise<void> {
    if (!isByPerson) return;
    become({ ...state, saved: 'pending' });
    await inTurn(save);
  }
}

function latchedByGw(reason: string, saved: StopLatch['saved']): StopLatch {
  const kept: KeptLatch = { latched: true, reason: cut(reason), by: 'gw', since: null };
  return { ...kept, saved, unsavedBecause: null, repeated: null };
}

function cut(text: string): string {
  return text.slice(0, MAX_CHARACTERS);
}

function hung(path: string, so: string): GwError {
  return new GwError('FILE_UNWRITABLE', `Disk access to ${path} timed out, ${so}.`, {
    remedy: 'Check the disk of this machine (`dmesg`, `df`); if that does not help, restart the machine.',
  });
}

export type LatchKeeper = ReturnType<typeof createStopLatch>;
