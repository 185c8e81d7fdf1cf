import type { Clock } from '../../lifecycle/index.ts';
import {
  type DriveRun,
  isOpenRun,
  type Motion,
  type MotionStatus,
  type MoveOutcome,
  type TourRun,
} from '../../motion/index.ts';
import type { Run } from '../../pages/index.ts';
import { type Site, titleOf } from '../../site/index.ts';
import type { OperatorOptions } from '../model.ts';
import { createFailedDrive, type FailedDrive, type RunAsShown } from './failed-drive.ts';

/** The run that the pages show, and what people have to do with it. */
export interface RunView {
  /** What runs, otherwise what ran last; null: nothing yet. */
  now(motion: MotionStatus): Run | null;
  /** The last run that failed and that no person has seen. */
  failed: FailedDrive['now'];
  /** Stations that it was ordered to, the last one first. */
  recent(): readonly string[];
  /** Learns of runs that begin and end: called with every change, so that none is missed. */
  follow(runs: ReturnType<Motion['runs']>): void;
  /** A person asks for the end of what runs now, or only of the run of this id: that it then stops is no failure. */
  endAsked(motion: MotionStatus, id?: string): void;
}

/** Project decision: what a person finds again without reading a list. */
const MAX_RECENT = 4;

/** Also says since when it drives to its present station, or since when it has ended. */
export function createRunView(
  clock: Pick<Clock, 'monotonicMs'>,
  failedDrive: FailedDrive,
  site: Named = { stations: {}, tours: {} },
): RunView {
  let [key, sinceMs] = ['', 0];
  /** The last run that a person, or a stop, has ended. */
  let endedId = '';
  const ended = { tour: '', drive: '' };
  let [lastDrive, recent]: [string, readonly string[]] = ['', []];

  function follow({ tour, drive, stop }: ReturnType<Motion['runs']>): void {
    if (drive !== null && drive.id !== lastDrive) {
      const { station } = drive;
      lastDrive = drive.id;
      if (station !== null) recent = [station, ...recent.filter((one) => one !== station)].slice(0, MAX_RECENT);
    }
    for (const [kind, run] of [
      ['tour', tour && ofTour(tour, site)] as const,
      ['drive', drive && ofDrive(drive, site)] as const,
    ]) {
      if (run === null) continue;
      if (run.state === 'running' || run.state === 'paused') {
        ended[kind] = '';
        failedDrive.runs(run);
      } else if (ended[kind] !== run.id) {
        ended[kind] = run.id;
        if (run.state === 'stopped' && stop.latched) endedId = run.id;
        failedDrive.ended(withoutOwnEnd(run));
      }
    }
  }

  /** What a person ended did not fail; what only should have ended then may drive on. */
  function withoutOwnEnd<R extends RunAsShown>(run: R): R {
    return run.state === 'stopped' && run.id === endedId ? { ...run, failure: null } : run;
  }

  return {
    now(motion) {
      follow(motion);
      const run = runOf(motion, site);
      const next = `${run?.id} ${run?.kind} ${run?.at} ${run?.state}`;
      if (next !== key) [key, sinceMs] = [next, clock.monotonicMs()];
      return run === null ? null : { ...withoutOwnEnd(run), forMs: clock.monotonicMs() - sinceMs };
    },
    failed: failedDrive.now,
    recent: () => recent,
    follow,
    endAsked(motion, id) {
      const run = runOf(motion, site);
      const isOpen = run?.state === 'running' || run?.state === 'paused';
      if (isOpen && (id === undefined || id === run.id)) endedId = run.id;
    },
  };
}

/** Runs and failures outlive an application: the server may be started again while the robot drives. */
export function createRuns({ site, clock, log }: Pick<OperatorOptions, 'site' | 'clock' | 'log'>) {
  const failedDrive = createFailedDrive({ stateDir: site.stateDir, serial: site.chassis.serial, clock, log });
  return { failedDrive, runs: createRunView(clock, failedDrive, site) };
}

/** Where a run takes the titles from. */
type Named = Pick<Site, 'stations' | 'tours'>;

const none = { stations: [], at: 0, failReason: null, although: [], failure: null };

function runOf({ tour, drive, trial }: MotionStatus, site: Named): RunAsShown | null {
  if (trial !== null) return { ...none, id: '', kind: 'trial', name: null, state: 'running' };
  const isLater = drive !== null && (tour === null || drive.state === 'running' || drive.id > tour.id);
  if (drive !== null && isLater && !isOpenRun(tour)) return ofDrive(drive, site);
  return tour && ofTour(tour, site);
}

function ofDrive({ id, kind, station, state, outcome, reason, although = [] }: DriveRun, site: Named): RunAsShown {
  return {
    ...none,
    id,
    kind: kind === 'dock' ? 'dock' : 'drive',
    name: station,
    ...(station !== null && titleOf(own(site.stations, station))),
    state,
    failReason: outcome?.failReason ?? null,
    although: [...although],
    failure: failureOf(state, outcome, reason),
  };
}

function ofTour(run: TourRun, site: Named): RunAsShown {
  const { id, tour: name, stations, at, state, outcomes, reason, although = [] } = run;
  // Of a station that it never set out for, the last outcome is that of the one before.
  const outcome = outcomes.length > at ? (outcomes.at(-1) ?? null) : null;
  return {
    id,
    kind: 'tour',
    name,
    ...titleOf(own(site.tours, name)),
    stations: [...stations],
    ...(stations.some((key) => own(site.stations, key)?.title !== undefined) && {
      stationTitles: stations.map((key) => own(site.stations, key)?.title ?? key),
    }),
    at,
    state,
    failReason: outcome?.failReason ?? null,
    although: [...although],
    failure: failureOf(state, outcome, reason),
  };
}

const own = <T>(entries: Readonly<Record<string, T>>, key: string): T | undefined =>
  Object.hasOwn(entries, key) ? entries[key] : undefined;

/** Why a run did not reach its goal; null where it did, or has not ended. */
function failureOf(state: Run['state'], outcome: MoveOutcome | null, technical: string | null): Run['failure'] {
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

function causeOf(state: 'failed' | 'stopped', outcome: MoveOutcome | null): NonNullable<Run['failure']>['cause'] {
  if (outcome === null) return state === 'stopped' ? 'cancelled' : 'refused';
  if (outcome.state === 'cancelled') return 'cancelled';
  if (outcome.state === 'failed' && outcome.failReason !== null) return 'given-up';
  return outcome.arrival === null ? 'unknown' : 'not-proven';
}
