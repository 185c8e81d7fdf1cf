import { GwError } from '../../error/index.ts';
import { type Clock, type Log, orAfter } from '../../lifecycle/index.ts';
import type { Site } from '../../site/index.ts';
import type { Admission } from '../admission.ts';
import type { DriveRun, Motion, MoveOutcome, Order, RunOptions, TourRun } from '../model.ts';
import { planDrive, runDrive } from './drive-run.ts';
import { createKeepAlive, KEEP_ALIVE_MS, type KeepAlive } from './keep-alive.ts';
import type { ActivityKind, Occupancy } from './occupancy.ts';
import { type DrivenTour, driveTour, isOpenRun } from './tour-run.ts';
import { planTour } from './tours.ts';

export interface RunsOptions {
  readonly site: Site;
  readonly admission: Admission;
  readonly occupancy: Occupancy;
  /** Sends an order of a run; it passes the gate again before that. */
  follow(order: Order, signal: AbortSignal, although: readonly number[]): Promise<MoveOutcome>;
  /** A paused tour ends after this time. */
  readonly pauseMs: number;
  readonly clock: Clock;
  readonly log: Log;
  readonly onChange: () => void;
}

type RunsOfMotion = Pick<
  Motion,
  'startTour' | 'pauseTour' | 'resumeTour' | 'startDrive' | 'refusalOfUnattended' | 'keepAlive' | 'endTour' | 'endDrive'
>;
/** The last tour and the last drive since the start of the service; null: none. */
export interface Runs extends RunsOfMotion {
  readonly tour: TourRun | null;
  readonly drive: DriveRun | null;
}

/** How long the caller that ends a run waits for the chassis; cancelling continues afterwards. */
const END_RUN_WAIT_MS = 2_000;
const WAIT = { remedy: 'Wait for its end, or stop it: `gw motion stop`.' };

/** Tours and single drives: runs that a person or a client starts, and that continue in the background. */
export function createRuns(options: RunsOptions): Runs {
  const { site, admission, occupancy, clock, log } = options;
  let tour: TourRun | null = null;
  let driven: DrivenTour | null = null;
  let drive: DriveRun | null = null;
  let count = 0;
  /** The running tour or drive, where a client supervises it; null from its end on. */
  let supervised: { readonly id: string; readonly alive: KeepAlive } | null = null;

  function tourIs(run: TourRun): void {
    tour = run;
    options.onChange();
  }
  function driveIs(run: DriveRun): void {
    drive = run;
    options.onChange();
  }

  async function execute(
    order: Order,
    signal: AbortSignal,
    although: readonly number[],
    isUnattended = false,
  ): Promise<MoveOutcome> {
    admission.pass([order], although, isUnattended);
    return options.follow(order, signal, although);
  }

  function newId(): string {
    count += 1;
    return `${clock.wall().toISOString()}-${count}`;
  }

  /** Ends the activity that was just begun when its client is gone; disposed with its end. */
  function supervise(id: string, { keepAlive = false }: RunOptions): Disposable | null {
    const activity = occupancy.current;
    if (!keepAlive || activity === null) return null;
    const alive = createKeepAlive(clock, () => {
      log.warn({ id }, 'the client of the run is gone; the run is ended');
      const why = `no keepalive of the command that ordered it for ${KEEP_ALIVE_MS / 1_000} s`;
      activity.ending.abort(new GwError('INTERRUPTED', why));
    });
    const mine = { id, alive };
    supervised = mine;
    return {
      [Symbol.dispose]() {
        alive[Symbol.dispose]();
        if (supervised === mine) supervised = null;
      },
    };
  }

  async function end(kind: ActivityKind, run: TourRun | DriveRun | null, by: string, id?: string): Promise<void> {
    const activity = occupancy.current;
    if (!isOpenRun(run) || activity?.kind !== kind || (id !== undefined && id !== run?.id)) return;
    log.warn({ by, kind }, 'the run is ended');
    activity.ending.abort(new GwError('INTERRUPTED', `ended by ${by}`));
    await orAfter(clock, END_RUN_WAIT_MS, activity.done);
  }

  return {
    get tour() {
      return tour;
    },
    get drive() {
      return drive;
    },

    async startTour(name, run = {}) {
      const legs = planTour(site, name);
      const { although = [] } = run;
      // All legs before the first order, so that a tour does not fail half way for a reason known at its start.
      admission.admit(
        legs.map(({ order }) => order),
        although,
      );
      admission.logPassed(although);
      const begun: TourRun = {
        id: newId(),
        although,
        ...(run.by && { by: run.by }),
        tour: name,
        stations: legs.map(({ station }) => station),
        state: 'running',
        at: 0,
        outcomes: [],
        reason: null,
      };
      tourIs(begun);
      const about = {
        kind: 'tour',
        // Every leg of a tour is a move.
        judgeFacts: admission.factsOf('move'),
        busy: () => new GwError('TOUR_RUNNING', `Tour '${name}' is ${tour?.state}.`),
        isPaused: () => tour?.state === 'paused',
      } as const;
      const ended = occupancy.occupy(about, undefined, (signal) => {
        driven = driveTour(begun, legs, { execute, onChange: tourIs, signal, clock, pauseMs: options.pauseMs });
        return driven.ended;
      });
      const supervision = supervise(begun.id, run);
      void ended
        .then(({ state, reason }) => log.info({ tour: name, state, reason }, 'the tour has ended'))
        .finally(() => supervision?.[Symbol.dispose]());
      return begun;
    },

    async pauseTour(by, id) {
      if (driven === null || tour === null || !isOpenRun(tour) || (id !== undefined && id !== tour.id)) {
        throw new GwError('TOUR_NOT_RUNNING', 'No tour is running.');
      }
      log.warn({ by, tour: tour.tour }, 'the tour is paused');
      await orAfter(clock, END_RUN_WAIT_MS, driven.pause(by));
      return tour;
    },

    async resumeTour(name, { although = [] } = {}) {
      if (driven === null || tour?.state !== 'paused' || tour.tour !== name) {
        throw new GwError('TOUR_NOT_PAUSED', `Tour '${name}' is not paused.`);
      }
      const ahead = planTour(site, name).slice(tour.at);
      admission.pass(
        ahead.map(({ order }) => order),
        although,
      );
      admission.logPassed(although);
      return driven.resume(although);
    },

    async startDrive(target, run = {}) {
      const order = planDrive(site, target);
      const { although = [], by } = run;
      const isUnattended = by === 'itself';
      admission.admit([order], although, isUnattended);
      admission.logPassed(although);
      const station = 'station' in target ? target.station : null;
      const kind = station === null ? 'dock' : 'move';
      const begun: DriveRun = {
        ...{ id: newId(), kind, although, station, state: 'running', outcome: null, reason: null },
        ...(by && { by }),
      };
      driveIs(begun);
      const about = {
        kind: 'drive',
        judgeFacts: admission.factsOf(kind),
        busy: () => new GwError('MOTION_REFUSED', `A drive to ${station ?? 'the dock'} is running.`, WAIT),
        isPaused: () => false,
      } as const;
      const ended = occupancy.occupy(about, undefined, async (signal) => {
        driveIs(
          await runDrive(begun, order, { signal, execute: () => execute(order, signal, although, isUnattended) }),
        );
      });
      const supervision = supervise(begun.id, run);
      void ended
        .then(() => log.info({ station, state: drive?.state, reason: drive?.reason }, 'the drive has ended'))
        .finally(() => supervision?.[Symbol.dispose]());
      return begun;
    },

    refusalOfUnattended: (target) => admission.unattended(planDrive(site, target)),

    keepAlive(id) {
      if (supervised?.id !== id) return false;
      supervised.alive.renew();
      return true;
    },

    async endTour(by, id) {
      await end('tour', tour, by, id);
      return tour;
    },

    async endDrive(by, id) {
      await end('drive', drive, by, id);
      return drive;
    },
  };
}
