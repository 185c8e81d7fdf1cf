import type { Clock } from '../../lifecycle/index.ts';
import { isOpenRun, type MotionStatus, type MoveOutcome } from '../../motion/index.ts';
import type { Run } from '../../pages/index.ts';

/** The run that the pages show, and what people have to do with it. */
export interface RunView {
  /** What runs, otherwise what ran last; null: nothing yet. */
  now(motion: MotionStatus): Run | null;
  /** A person asks for the end of what runs now, or only of the run of this id: that it then stops is no failure. */
  endAsked(motion: MotionStatus, id?: string): void;
  /** A person has seen how this run ended. false: it is neither the last tour nor the last drive. */
  seen(motion: MotionStatus, id: string): boolean;
  /** Called when a person has seen an end. */
  subscribe(listener: () => void): Disposable;
}

/** Also says since when it drives to its present station, or since when it has ended. */
export function createRunView(clock: Pick<Clock, 'monotonicMs'>): RunView {
  let [key, sinceMs] = ['', 0];
  /** Of the runs that a person, or a stop, has ended, and whose end a person has seen. Only the last one is shown. */
  let [endedId, seenId] = ['', ''];
  const listeners = new Set<() => void>();

  function now(motion: MotionStatus): Run | null {
    const run = runOf(motion);
    const next = `${run?.id} ${run?.kind} ${run?.at} ${run?.state}`;
    if (next !== key) {
      [key, sinceMs] = [next, clock.monotonicMs()];
      if (run?.state === 'stopped' && motion.stop.latched) endedId = run.id;
    }
    if (run === null) return null;
    const isByPerson = run.state === 'stopped' && run.id === endedId;
    const failure = run.failure === null || isByPerson ? null : { ...run.failure, isSeen: run.id === seenId };
    return { ...run, failure, forMs: clock.monotonicMs() - sinceMs };
  }

  return {
    now,
    endAsked(motion, id) {
      const run = runOf(motion);
      const isOpen = run?.state === 'running' || run?.state === 'paused';
      if (isOpen && (id === undefined || id === run.id)) endedId = run.id;
    },
    seen(motion, id) {
      if (motion.tour?.id !== id && motion.drive?.id !== id) return false;
      seenId = id;
      for (const listener of listeners) listener();
      return true;
    },
    subscribe(listener) {
      const mine = () => listener();
      listeners.add(mine);
      return { [Symbol.dispose]: () => void listeners.delete(mine) };
    },
  };
}

type Shown = Omit<Run, 'forMs' | 'failure'> & { readonly failure: Omit<NonNullable<Run['failure']>, 'isSeen'> | null };

function runOf({ tour, drive, trial }: MotionStatus): Shown | null {
  const none = { stations: [], at: 0, failReason: null, although: [], failure: null };
  if (trial !== null) return { ...none, id: '', kind: 'trial', name: null, state: 'running' };
  const isLater = drive !== null && (tour === null || drive.state === 'running' || drive.id > tour.id);
  if (drive !== null && isLater && !isOpenRun(tour)) {
    const { id, kind, station, state, outcome, reason, although = [] } = drive;
    return {
      ...none,
      id,
      kind: kind === 'dock' ? 'dock' : 'drive',
      name: station,
      state,
      failReason: outcome?.failReason ?? null,
      although: [...although],
      failure: failureOf(state, outcome, reason),
    };
  }
  if (tour === null) return null;
  const { id, tour: name, stations, at, state, outcomes, reason, although = [] } = tour;
  // Of a station that it never set out for, the last outcome is that of the one before.
  const outcome = outcomes.length > at ? (outcomes.at(-1) ?? null) : null;
  return {
    id,
    kind: 'tour',
    name,
    stations: [...stations],
    at,
    state,
    failReason: outcome?.failReason ?? null,
    although: [...although],
    failure: failureOf(state, outcome, reason),
  };
}

/** Why a run did not reach its goal; null where it did, or has not ended. */
function failureOf(state: Run['state'], outcome: MoveOutcome | null, technical: string | null): Shown['failure'] {
  if (state !== 'failed' && state !== 'stopped') return null;
  const { arrival = null } = outcome ?? {};
  const isMissed = arrival?.verdict === 'elsewhere' && outcome?.state === 'failed';
  return {
    cause: isMissed ? 'missed' : causeOf(state, outcome),
    offM: isMissed && arrival.isAtPlace === false ? arrival.distanceM : null,
    offDeg: isMissed && arrival.isAtHeading === false ? arrival.turnDeg : null,
    technical,
  };
}

function causeOf(state: 'failed' | 'stopped', outcome: MoveOutcome | null): NonNullable<Shown['failure']>['cause'] {
  if (outcome === null) return state === 'stopped' ? 'cancelled' : 'refused';
  if (outcome.state === 'cancelled') return 'cancelled';
  if (outcome.state === 'failed' && outcome.failReason !== null) return 'given-up';
  return outcome.arrival === null ? 'unknown' : 'not-proven';
}
