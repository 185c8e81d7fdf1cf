import { asGwError, GwError } from '../error/index.ts';
import { type Clock, type Log, removeLeftDrafts } from '../lifecycle/index.ts';
import { createLatchDisk, type KeptLatch, type LatchDisk, MOST_LETTERS, released } from './latch-disk.ts';
import type { KeepingTrouble, RepeatedStops, StopLatch } from './model.ts';

/** Every so often it is looked whether the stop could be kept, and one that is not saved is saved again. */
const LOOK_MS = 2_000;
/** A disk that refused is written to at most so often to see whether it takes anything again. */
const PROVE_MS = 10_000;
/** A disk that gives no answer for longer is taken for one that refuses. */
const HUNG_MS = 3_000;
/** So long a person who clears a stop waits for the disk; then the stop stays. */
const CLEAR_PATIENCE_MS = 5_000;
/** People who stopped a robot that was stopped already; beyond these they are counted alone. */
const MOST_NAMED = 16;

interface Options {
  readonly stateDir: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly onChange: () => void;
  /** Another disk, for tests. */
  readonly disk?: LatchDisk;
}

/**
 * The stop that outlives a crash, a restart and a power cut once it says `saved: true`. It holds in memory from the
 * moment it is set, whatever the disk does, and is saved again and again until the disk takes it. What cannot be read
 * counts as stopped. All numbers are project decisions.
 */
export function createStopLatch({ stateDir, clock, log, onChange, disk = createLatchDisk(stateDir) }: Options) {
  const { path } = disk;
  let state: StopLatch = heldByGw('The stop latch has not been read yet', 'pending');
  /** Whether somebody set it, or an earlier life kept it; gw's own reasons to count as stopped give way to a person's. */
  let isByPerson = false;
  let isLoaded = false;
  let trouble: KeepingTrouble | null = null;
  /** Counts the stops, so that a clear which was under way when one came does not win. */
  let stops = 0;
  let clearing = 0;
  let queue: Promise<unknown> = Promise.resolve();
  let loading: Promise<void> | null = null;

  /** One access to the file after the other, in the order asked for. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = queue.then(work);
    queue = turn.catch(() => {});
    return turn;
  }

  function become(next: StopLatch): void {
    state = next;
    onChange();
  }

  function setTrouble(error: unknown): void {
    if (error === null) {
      if (trouble === null) return;
      trouble = null;
      log.info({ path }, 'the stop latch can be kept again');
    } else {
      const { message, remedy } = asGwError(error);
      if (trouble?.reason === message) return;
      trouble = { reason: message, remedy };
      log.error({ path, reason: message }, 'the stop latch cannot be kept: no order passes until it can');
    }
    onChange();
  }

  /** Puts what holds now on the disk; says in the state whether the disk took it. Never rejects. */
  async function save(): Promise<void> {
    const { latched, saved } = state;
    if (!latched || saved === true || !isByPerson) return;
    const { reason, by, since } = state;
    const at = stops;
    const isSame = () => stops === at && state.latched;
    try {
      await disk.write({ latched, reason, by, since });
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
    await disk.prove().then(
      () => setTrouble(null),
      (error: unknown) => setTrouble(error),
    );
    if (trouble === null) await removeLeftDrafts(stateDir, clock.wall());
    await readAgain();
  }

  async function readAgain(): Promise<void> {
    if (isLoaded) return;
    const found = await disk.read();
    // A stop that came before the first load stays.
    if (stops > 0 || isLoaded) return;
    if (typeof found === 'string') {
      log.error({ path, found }, 'the stop latch cannot be read and counts as set');
      become(heldByGw(`The file of the stop latch cannot be read (${found}), which counts as stopped`, false));
      return;
    }
    isLoaded = true;
    isByPerson = found.latched;
    become({ ...found, saved: true, unsavedBecause: null, repeated: null });
  }

  function repeat(reason: string, by: string): void {
    const before: RepeatedStops = state.repeated ?? { count: 0, by: [], last: { reason, by, at: '' } };
    const isNew = !before.by.includes(by) && before.by.length < MOST_NAMED;
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
    /** Why a stop could not be kept now; null while it could. */
    trouble: (): KeepingTrouble | null => trouble,

    /** Reads what an earlier life left, and whether a stop could be kept. Never fails; see `trouble`. */
    load(): Promise<void> {
      loading ??= load().finally(() => {
        loading = null;
      });
      return loading;
    },

    /**
     * Holds when it returns; the promise is done when the disk has answered, and `saved` says what. Never fails. A stop
     * that comes while somebody's stop holds is counted in memory and writes nothing.
     */
    set(reasonGiven: string, byGiven: string): Promise<void> {
      const [reason, by] = [cut(reasonGiven), cut(byGiven)];
      if (state.latched && isByPerson && clearing === 0) {
        repeat(reason, by);
        return state.saved === 'pending' ? queue.then(() => {}) : Promise.resolve();
      }
      stops += 1;
      isByPerson = true;
      const since = clock.wall().toISOString();
      become({ latched: true, reason, by, since, saved: 'pending', unsavedBecause: null, repeated: null });
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
          // Nobody knows what of it is on the disk: what holds is put there again.
          again();
          throw error;
        }
        if (isLate) again();
        else if (stops === at) {
          [isLoaded, isByPerson] = [true, false];
          become({ ...released, saved: true, unsavedBecause: null, repeated: null });
        }
      });
      try {
        const { promise: late, reject } = Promise.withResolvers<never>();
        using _limit = clock.after(CLEAR_PATIENCE_MS, () => {
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

    /** Looks after the disk until disposed. */
    watch(): Disposable {
      let lookingSinceMs: number | null = null;
      let provedAtMs = clock.monotonicMs();
      async function look(): Promise<void> {
        if (state.saved === false && isByPerson) await inTurn(save);
        else if (trouble === null) await disk.look().catch(setTrouble);
        else if (clock.monotonicMs() - provedAtMs >= PROVE_MS) {
          provedAtMs = clock.monotonicMs();
          await disk.prove().then(() => setTrouble(null), setTrouble);
          if (trouble === null) await readAgain();
        }
      }
      return clock.every(LOOK_MS, () => {
        if (lookingSinceMs === null) {
          lookingSinceMs = clock.monotonicMs();
          void look().finally(() => {
            lookingSinceMs = null;
          });
        } else if (clock.monotonicMs() - lookingSinceMs >= HUNG_MS) {
          setTrouble(hung(path, 'so no order passes'));
        }
      });
    },
  };

  function again(): void {
    if (!state.latched || !isByPerson) return;
    become({ ...state, saved: 'pending' });
    void inTurn(save);
  }
}

function heldByGw(reason: string, saved: StopLatch['saved']): StopLatch {
  const kept: KeptLatch = { latched: true, reason: cut(reason), by: 'gw', since: null };
  return { ...kept, saved, unsavedBecause: null, repeated: null };
}

function cut(text: string): string {
  return text.slice(0, MOST_LETTERS);
}

function hung(path: string, so: string): GwError {
  return new GwError('FILE_UNWRITABLE', `The disk gives no answer about ${path}, ${so}.`, {
    remedy: 'Look at the disk of this machine (`dmesg`, `df`); when it cannot be mended, restart the machine.',
  });
}
