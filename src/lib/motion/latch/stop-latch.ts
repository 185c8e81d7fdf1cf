import { asGwError, GwError } from '../../error/index.ts';
import { type Clock, type Log, removeLeftDrafts, repeat } from '../../lifecycle/index.ts';
import type { StopLatch } from '../model.ts';
import { createHeldStop, cut } from './held-stop.ts';
import { createKeepingTrouble } from './keeping-trouble.ts';
import { createLatchDisk, type LatchDisk, released } from './latch-disk.ts';

/** Interval of the disk check; an unsaved stop is saved again. */
const CHECK_MS = 2_000;
/** After a failure the disk is probed with a write at most this often. */
const PROBE_MS = 10_000;
/** A disk access that takes longer counts as failed. */
const HUNG_MS = 3_000;
/** How long clearing a stop waits for the disk; after that the stop stays latched. */
const CLEAR_TIMEOUT_MS = 5_000;

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
  const held = createHeldStop(clock, onChange);
  const trouble = createKeepingTrouble(path, log, onChange);
  let clearing = 0;
  let queue: Promise<unknown> = Promise.resolve();
  let loading: Promise<void> | null = null;

  /** Serialises access to the file. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = queue.then(work);
    queue = turn.catch(() => {});
    return turn;
  }

  /** Saves the present state and sets `saved` by the result. Never rejects. */
  async function save(): Promise<void> {
    const { latched, saved, reason, by, since, disobeyed } = held.state();
    if (saved === true) return;
    const at = held.stops();
    const isSame = () => held.stops() === at && held.state().latched;
    try {
      await disk.write({ latched, reason, by, since, disobeyed });
      trouble.clear();
      if (isSame()) held.markSaved();
    } catch (error) {
      trouble.set(error);
      if (!isSame()) return;
      const why = `not saved: a restart of gw would forget this stop. ${asGwError(error).message}`;
      if (held.state().saved !== false) log.error({ path, error: asGwError(error).message }, 'the stop is not saved');
      held.markUnsaved(why);
    }
  }

  async function load(): Promise<void> {
    await disk.probe().then(trouble.clear, trouble.set);
    if (trouble.current() === null) await removeLeftDrafts(stateDir, clock.wall());
    await readAgain();
  }

  async function readAgain(): Promise<void> {
    if (held.isLoaded()) return;
    const found = await disk.read();
    // A stop that was set before the first load stays.
    if (held.stops() > 0 || held.isLoaded()) return;
    if (typeof found === 'string') {
      log.error({ path, found }, 'the stop latch cannot be read and counts as set');
      held.countAsSet(found);
    } else held.load(found);
  }

  /** Never rejects. */
  async function saveAgain(): Promise<void> {
    if (!held.isByPerson()) return;
    held.markPending();
    await inTurn(save);
  }

  return {
    state: held.state,
    /** false: it has not been read yet, and counts as stopped for orders alone. */
    isKnown: held.isKnown,
    /** Why a stop could not be saved now; null while it could. */
    trouble: trouble.current,

    /** Resolves when the present state is on the disk, or a later one is. */
    untilSaved: held.untilSaved,

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
      if (held.state().latched && held.isByPerson() && clearing === 0) {
        held.repeat(reason, by);
        return held.state().saved === 'pending' ? queue.then(() => {}) : Promise.resolve();
      }
      held.set(reason, by);
      return inTurn(save);
    },

    /**
     * The robot drove on after a cancel: nothing but a person lets it drive again. Holds when it returns; the promise
     * settles when the disk has answered. Never fails.
     */
    disobeyed(why: string): Promise<void> {
      const { latched, disobeyed } = held.state();
      if (latched && disobeyed !== undefined) return Promise.resolve();
      held.setDisobeyed(why);
      return inTurn(save);
    },

    /**
     * Resolves when the release is on the disk. Throws FILE_UNWRITABLE and stays set when it cannot be saved, also when
     * the disk gives no answer.
     */
    async clear(): Promise<StopLatch> {
      const at = held.stops();
      let isLate = false;
      clearing += 1;
      const release = inTurn(async () => {
        if (isLate) return;
        try {
          await disk.write(released);
          trouble.clear();
        } catch (error) {
          trouble.set(error);
          // The content on the disk is unknown: the present state is saved again.
          void saveAgain();
          throw error;
        }
        if (isLate) void saveAgain();
        else if (held.stops() === at) held.release();
      });
      try {
        const { promise: late, reject } = Promise.withResolvers<never>();
        using _limit = clock.after(CLEAR_TIMEOUT_MS, () => {
          isLate = true;
          reject(hung(path, 'so the stop holds'));
        });
        await Promise.race([release, late]);
        return held.state();
      } finally {
        release.catch(() => {});
        clearing -= 1;
      }
    },

    /** Checks the disk until disposed. */
    watch(): Disposable {
      let probedAtMs = clock.monotonicMs();
      async function check(): Promise<void> {
        const { latched, saved } = held.state();
        if (latched && saved === true && !(await disk.isThere())) {
          log.error({ path }, 'the file of the stop latch was removed; it is saved again');
          await saveAgain();
        } else if (held.state().saved === false && held.isByPerson()) await inTurn(save);
        else if (trouble.current() === null) await disk.check().catch(trouble.set);
        else if (clock.monotonicMs() - probedAtMs >= PROBE_MS) {
          probedAtMs = clock.monotonicMs();
          await disk.probe().then(trouble.clear, trouble.set);
          if (trouble.current() === null) await readAgain();
        }
      }
      const onHung = () => trouble.set(hung(path, 'so no order passes'));
      return repeat(clock, { everyMs: CHECK_MS, work: check, hungMs: HUNG_MS, onHung });
    },
  };
}

function hung(path: string, so: string): GwError {
  return new GwError('FILE_UNWRITABLE', `Disk access to ${path} timed out, ${so}.`, {
    remedy: 'Check the disk of this machine (`dmesg`, `df`); if that does not help, restart the machine.',
  });
}

export type LatchKeeper = ReturnType<typeof createStopLatch>;
