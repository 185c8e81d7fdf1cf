import type { LiveValues } from '../chassis/index.ts';
import { GwError } from '../error/index.ts';
import { type DriveRun, isOpenRun, type TourRun } from '../motion/index.ts';
import { titleOf } from '../site/index.ts';
import { type Countdown, createCountdown, firstNumber } from './countdown.ts';
import type { Delivery, DeliveryOptions, DeliveryView, HoldCause, Plan } from './model.ts';
import { isAt, isMovedFrom, placesOfRest } from './place.ts';
import { troubleIn } from './trouble.ts';

/** Project decision: what staff keep in mind, and one look at the tablet shows. */
const MAX_QUEUE = 8;
const LOOK_MS = 500;

/**
 * What follows an arrival, in memory alone: a restart of the gateway forgets it. It has no way to the robot but the public
 * orders of motion, so each start passes the gate. What begins by itself is held from the start of the service, and from
 * every stop, fault, failed or ended run on, until a person says so. All of this is a project decision.
 */
export function createDelivery({ site, link, motion, clock, log }: DeliveryOptions): Delivery {
  const settings = site.delivery;
  const begins = settings?.nextAfterSeconds ?? settings?.return ?? settings?.idle;
  const hasAutomatic = begins !== undefined;
  const listeners = new Set<() => void>();
  const restarted = { cause: 'restart', reason: 'The gateway has restarted.' } as const;
  let watching: DisposableStack | null = null;
  let arrival: { readonly id: string; readonly station: string; readonly sinceMs: number } | null = null;
  let queue: DeliveryView['queue'] = [];
  let hold: DeliveryView['hold'] = hasAutomatic ? restarted : null;
  let isAfterRestart = true;
  let count = firstNumber(clock);
  /** Why what is due does not begin. */
  let waitsFor: string | null = null;
  /** Since the last end of a run, or the last word of a person. */
  let idleSinceMs = clock.monotonicMs();
  /** The newest runs, as they were seen last. */
  const seen = new Map<'tour' | 'drive', string>();
  let mapSeen: string | null = null;
  /** What is being started, so that its run is recognised; and the run that has begun by itself. */
  let starting: Plan | 'person' | null = null;
  let own: { readonly countdownId: string; readonly runId: string; readonly plan: Plan } | null = null;
  const countdown: Countdown = createCountdown(clock, (settings?.countdownSeconds ?? 0) * 1_000);

  const titled = <T extends { readonly station: string | null }>(one: T) => ({
    ...one,
    ...(one.station !== null && titleOf(site.stations[one.station])),
  });

  function changed(): void {
    for (const listener of [...listeners]) listener();
  }

  function holdFor(cause: HoldCause, reason: string): void {
    countdown.end();
    if (!hasAutomatic || hold !== null) return;
    hold = { cause, reason };
    log.warn({ cause, reason }, 'nothing begins by itself until a person says so');
  }

  /** Learns of runs that begin and end. */
  function follow(kind: 'tour' | 'drive', run: TourRun | DriveRun | null): void {
    if (run === null) return;
    const before = seen.get(kind);
    const now = mark(run);
    if (before === now) return;
    seen.set(kind, now);
    if (before?.startsWith(`${run.id} `) !== true) {
      [arrival, isAfterRestart] = [null, false];
      const countdownId = countdown.view()?.id ?? '';
      own = starting === null || starting === 'person' ? null : { countdownId, runId: run.id, plan: starting };
      countdown.end();
    }
    if (isOpenRun(run)) return;
    idleSinceMs = clock.monotonicMs();
    if (run.state === 'succeeded') arrived(run);
    else holdFor(run.state === 'failed' ? 'failed' : 'ended', run.reason ?? `The last run has ${run.state}.`);
  }

  /** A drive to a station that a page has ordered, or the queue: a command is of a technician, and a return brings nothing. */
  function arrived(run: TourRun | DriveRun): void {
    if (settings === undefined || !('kind' in run) || run.station === null) return;
    const isReturn = own?.runId === run.id && own.plan.kind !== 'next';
    if (run.by !== 'command' && !isReturn) arrival = { id: run.id, station: run.station, sinceMs: clock.monotonicMs() };
  }

  /** What would begin by itself now, with nothing against it; null: nothing. */
  function planned(): Plan | null {
    waitsFor = null;
    if (settings === undefined || hold !== null) return null;
    const { tour, drive } = motion.runs();
    if (isOpenRun(tour) || drive?.state === 'running') return null;
    const status = motion.status();
    const snapshot = link.snapshot();
    const at = placesOfRest(site, status, snapshot);
    // Not from a place that a person has pushed it to, nor to where it is.
    if (at.length === 0 || (arrival !== null && !isAt(at, arrival.station))) return null;
    const plan = due(snapshot.values.battery);
    if (plan === null || isAt(at, 'station' in plan.target ? plan.target.station : null)) return null;
    waitsFor = motion.refusalOfUnattended(plan.target)?.message ?? null;
    return waitsFor === null ? plan : null;
  }

  function due(battery: LiveValues['battery']): Plan | null {
    const nowMs = clock.monotonicMs();
    const [next] = queue;
    if (arrival !== null) {
      const forMs = nowMs - arrival.sinceMs;
      const nextAfterS = settings?.nextAfterSeconds;
      if (next !== undefined) {
        if (nextAfterS === undefined || forMs < nextAfterS * 1_000) return null;
        return { kind: 'next', target: { station: next.station }, entryId: next.id };
      }
      const back = settings?.return;
      if (back === undefined || forMs < back.afterMinutes * 60_000) return null;
      const target = back.station === undefined ? ({ dock: true } as const) : { station: back.station };
      return { kind: 'return', target, entryId: null };
    }
    const idle = settings?.idle;
    if (idle === undefined || queue.length > 0 || site.dock === undefined) return null;
    const { afterMinutes, belowPercent } = idle;
    const isLate = afterMinutes !== undefined && nowMs - idleSinceMs >= afterMinutes * 60_000;
    const isKnown = battery.status === 'received' && !battery.stale && battery.value.orPercent === undefined;
    const isLow = isKnown && belowPercent !== undefined && battery.value.percent < belowPercent;
    return isLate || isLow ? { kind: 'idle', target: { dock: true }, entryId: null } : null;
  }

  function look(): void {
    if (watching === null) return;
    const before = JSON.stringify([arrival?.id, queue, countdown.view()?.id, hold, waitsFor, isAfterRestart]);
    const runs = motion.runs();
    follow('tour', runs.tour);
    follow('drive', runs.drive);
    if (runs.stop.latched) [queue, arrival] = [[], null];
    if (arrival !== null && isMovedFrom(arrival.station, site, motion.status(), link.snapshot())) {
      arrival = null;
      holdFor('gate', 'The robot was moved from where it had arrived.');
    }
    if (hasAutomatic) {
      judgeTrouble();
      const plan = starting === null ? planned() : null;
      if (countdown.look(plan) && plan !== null) void begin(plan);
    }
    if (before !== JSON.stringify([arrival?.id, queue, countdown.view()?.id, hold, waitsFor, isAfterRestart]))
      changed();
  }

  function judgeTrouble(): void {
    const snapshot = link.snapshot();
    const trouble = troubleIn(motion.status(), snapshot);
    if (trouble !== null) holdFor(trouble.cause, trouble.reason);
    const { map } = snapshot.values;
    if (map.status !== 'received') return;
    const now = `${map.value.uid} ${map.value.mapVersion}`;
    if (mapSeen !== null && mapSeen !== now) holdFor('map', 'The map of the robot has changed.');
    mapSeen = now;
  }

  async function begin(plan: Plan): Promise<void> {
    log.warn({ audit: true, ...plan }, 'a drive begins by itself, as announced');
    try {
      await ordered(plan, () => motion.startDrive(plan.target, { by: 'itself' }));
    } catch (error) {
      holdFor('refused', error instanceof Error ? error.message : 'It was refused.');
      changed();
    }
  }

  /** One order at a time; the station leaves the queue with the run that it began. */
  async function ordered(what: Plan | 'person', start: () => Promise<DriveRun>, entryId?: string): Promise<DriveRun> {
    starting = what;
    let under: Promise<DriveRun>;
    try {
      // The run begins, and is followed, within this call.
      under = start();
    } finally {
      starting = null;
    }
    const run = await under;
    const entry = what === 'person' ? entryId : what.entryId;
    queue = queue.filter(({ id }) => id !== entry);
    look();
    changed();
    return run;
  }

  function refuseStopped(): void {
    const { latched, by } = motion.runs().stop;
    if (latched) throw new GwError('MOTION_STOPPED', `A stop is latched${by === null ? '' : ` by ${by}`}.`);
  }

  return {
    name: 'delivery',

    async start() {
      watching = new DisposableStack();
      const { tour, drive } = motion.runs();
      // What has ended before is no arrival.
      if (tour !== null) seen.set('tour', mark(tour));
      if (drive !== null) seen.set('drive', mark(drive));
      [hold, isAfterRestart] = [hasAutomatic ? restarted : null, true];
      if (settings === undefined) return;
      watching.use(motion.subscribe(look));
      watching.use(link.subscribe(look, ['link', 'planning', 'wheels', 'positioning', 'alerts', 'map', 'standing']));
      watching.use(clock.every(LOOK_MS, look));
      look();
    },

    async stop() {
      countdown.end();
      watching?.dispose();
      watching = null;
      [arrival, queue, own] = [null, [], null];
    },

    view() {
      if (settings === undefined) return null;
      const { tour, drive } = motion.runs();
      const shown = countdown.view();
      const isOpen = isOpenRun(tour) || drive?.state === 'running' || arrival !== null || queue.length > 0;
      return {
        arrival:
          arrival && titled({ id: arrival.id, station: arrival.station, forMs: clock.monotonicMs() - arrival.sinceMs }),
        queue: queue.map(titled),
        isOpen: isOpen && !motion.runs().stop.latched,
        countdown: shown && titled(shown),
        hold,
        waitsFor,
        isAfterRestart,
      };
    },

    async proceed({ arrival: over, next }, by) {
      refuseStopped();
      look();
      const [first] = queue;
      const isSeen = over === (arrival?.id ?? null) && next === (first?.id ?? null);
      if (!isSeen || (arrival === null && first === undefined)) return 'outdated';
      if (first !== undefined) {
        return ordered('person', () => motion.startDrive({ station: first.station }, { by }), first.id);
      }
      arrival = null;
      idleSinceMs = clock.monotonicMs();
      look();
      changed();
      return null;
    },

    enqueue(station) {
      refuseStopped();
      look();
      if (!Object.hasOwn(site.stations, station)) {
        throw new GwError('STATION_UNKNOWN', `The site file names no station '${station}'.`);
      }
      if (this.view()?.isOpen !== true) throw new GwError('QUEUE_CLOSED', 'Nothing runs, and no arrival waits.');
      const last = queue.at(-1);
      // A second touch of the same finger.
      if (last?.station === station) return last;
      if (queue.length >= MAX_QUEUE) throw new GwError('QUEUE_FULL', `The queue has ${MAX_QUEUE} stations.`);
      count += 1;
      const entry = { id: `q${count}`, station };
      [queue, isAfterRestart] = [[...queue, entry], false];
      look();
      changed();
      return entry;
    },

    remove(id) {
      const left = queue.filter((entry) => entry.id !== id);
      const isRemoved = left.length < queue.length;
      queue = left;
      idleSinceMs = clock.monotonicMs();
      look();
      if (isRemoved) changed();
      return isRemoved;
    },

    shown(id) {
      // First: after a pause of this process the countdown begins anew.
      look();
      countdown.shown(id);
    },

    async endCountdown(by, id) {
      const shown = countdown.view();
      const drive = motion.runs().drive;
      const isBegun = own !== null && own.runId === drive?.id && drive.state === 'running';
      const isMeant = (one: string | undefined) => one !== undefined && (id === undefined || id === one);
      holdFor('person', `ended by ${by}`);
      const isEnded = isMeant(shown?.id) || (isBegun && isMeant(own?.countdownId));
      if (isBegun && isMeant(own?.countdownId)) await motion.endDrive(by, own?.runId);
      changed();
      return isEnded;
    },

    release() {
      refuseStopped();
      look();
      const trouble = hasAutomatic ? troubleIn(motion.status(), link.snapshot()) : null;
      if (trouble !== null) throw new GwError('MOTION_REFUSED', trouble.reason);
      [hold, isAfterRestart] = [null, false];
      idleSinceMs = clock.monotonicMs();
      look();
      changed();
    },

    describe: () => (settings === undefined ? 'not set up' : `${queue.length} in the queue`),

    subscribe(listener) {
      const mine = () => listener();
      listeners.add(mine);
      return { [Symbol.dispose]: () => void listeners.delete(mine) };
    },
  };
}

const mark = (run: TourRun | DriveRun) => `${run.id} ${isOpenRun(run) ? 'open' : run.state}`;
