import type { ChassisClient, ChassisIdentity, CurrentMap } from '../../chassis/index.ts';
import { mapWritesOf } from '../../chassis/map-writes.ts';
import { GwError } from '../../error/index.ts';
import type { Clock } from '../../lifecycle/index.ts';
import { firstOf } from '../../lifecycle/index.ts';
import { type LiveMaps, readLiveMaps, reasonOf } from '../live-maps.ts';
import type { MapArchive } from '../model.ts';
import { defaultPace, deliveryOf, withGrace } from '../restore/checked-write.ts';
import { assertSameChassis } from '../restore/restore.ts';
import type { TopicAccess } from '../running/map-announcements.ts';
import { checkRunningMap, type RunningMap } from '../running/running-map.ts';
import { assertStill, type Stillness, type StillnessCheck } from '../stillness.ts';
import { assertContainsAll, compareMaps, type MapComparison } from './restart-comparison.ts';

export interface RestartOptions {
  readonly client: ChassisClient;
  /** Must contain every map of the chassis in its current state. */
  readonly archive: MapArchive;
  /** Topic stream that announces the running map, which is compared with the stored one afterwards. */
  readonly topics: TopicAccess;
  readonly checkStillness: StillnessCheck;
  readonly isConfirmedStill: boolean;
  /** Timeout until the chassis answers again. */
  readonly withinMs: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly onProgress: (text: string) => void;
  readonly pace?: RestartPace | undefined;
}

/** Intervals and timeouts. Project decisions; tests pass shorter ones. */
export interface RestartPace {
  readonly pollMs: number;
  /** Timeout of the response to the order; a chassis that restarts at once never answers. */
  readonly answerMs: number;
  /** Time until a restart must show on a chassis that keeps answering. */
  readonly showsWithinMs: number;
  /** Time until /map/info must announce the current map. */
  readonly announceMs: number;
  /** Time for missing maps to appear after the chassis answers again. */
  readonly settleMs: number;
}

const defaultRestartPace: RestartPace = {
  pollMs: 500,
  answerMs: 10_000,
  showsWithinMs: 30_000,
  settleMs: 5_000,
  announceMs: 5_000,
};

/** Evidence of a restart. */
type RestartSign =
  /** `start_time` of the boot progress changed. */
  | 'start-time'
  /** It reported that it is starting. */
  | 'starting'
  /** It did not answer for some time. */
  | 'silence';

export interface RestartRun {
  readonly before: LiveMaps;
  readonly stillness: Stillness;
  /** 'lost': no response to the order, which can be caused by the restart. */
  readonly order: 'accepted' | 'lost';
  readonly orderError: string | null;
  readonly signs: readonly RestartSign[];
  /** Whether the signs confirm a restart. Silence with an unchanged `start_time` does not. */
  readonly restarted: boolean;
  readonly end: 'back' | 'not-back' | 'interrupted';
  /** Last error while the chassis was not back; null when it is. */
  readonly why: string | null;
  readonly tookMs: number;
  /** null when it is not back. */
  readonly after: {
    readonly identity: ChassisIdentity;
    readonly current: CurrentMap | null;
    readonly maps: readonly MapComparison[];
    /** Whether the same map is current as before. */
    readonly sameCurrent: boolean;
    /** Comparison of running and stored map. */
    readonly running: RunningMap;
  } | null;
}

/**
 * Restarts the software of the robot, waits until it answers again and compares the maps with those before. Before the
 * order it throws ARCHIVE_FOREIGN, BACKUP_OUTDATED, CHASSIS_MOVING, CHASSIS_REFUSED and the errors of the client. After
 * it there is always a result; Ctrl-C ends the waiting, not the restart.
 */
export async function restartChassis(options: RestartOptions): Promise<RestartRun> {
  const { client, archive, clock, signal, onProgress } = options;
  const pace = options.pace ?? defaultRestartPace;
  const { serial } = await client.identity(signal);
  assertSameChassis(archive, serial, () => 'Take one of this chassis with `gw map backup`, then restart with it.');
  const before = await readLiveMaps(client, { signal, onProgress });
  assertContainsAll(archive, before);
  const stillness = await options.checkStillness(signal, onProgress);
  assertStill(stillness, options.isConfirmedStill);
  const startedAt = await startTimeOf(client, signal);

  const began = clock.monotonicMs();
  onProgress('restarting the robot');
  const { order, orderError } = await orderRestart(options, pace);
  const watch = await waitUntilBack(options, pace, startedAt);
  const { signs, restarted } = watch;
  const base = { before, stillness, order, orderError, signs, restarted };
  if (watch.end !== 'back') {
    return { ...base, end: watch.end, why: watch.why, tookMs: clock.monotonicMs() - began, after: null };
  }
  const compared = await compareAfter(options, pace, before);
  return { ...base, ...compared, tookMs: clock.monotonicMs() - began };
}

async function startTimeOf(client: ChassisClient, signal: AbortSignal): Promise<number | null> {
  try {
    return (await client.bootProgress(signal)).startTimeS;
  } catch (error) {
    if (signal.aborted) throw error;
    return null;
  }
}

/** Throws when the chassis did not accept the order. */
async function orderRestart(
  { client, clock, signal }: RestartOptions,
  pace: RestartPace,
): Promise<Pick<RestartRun, 'order' | 'orderError'>> {
  const late = new AbortController();
  using _limit = clock.after(pace.answerMs, () =>
    late.abort(new GwError('INTERRUPTED', `The chassis did not answer within ${pace.answerMs / 1000} s.`)),
  );
  signal.throwIfAborted();
  try {
    await withGrace({ signal, clock, pace: defaultPace }, async (grace) => {
      await mapWritesOf(client).restartService(firstOf(grace, late.signal));
    });
    return { order: 'accepted', orderError: null };
  } catch (error) {
    if (!(error instanceof GwError)) throw error;
    const status = error.details?.status;
    // A server that shuts down during its response may return 500.
    const isLost = deliveryOf(error) === 'lost' || (typeof status === 'number' && status >= 500);
    if (!isLost) throw error;
    return { order: 'lost', orderError: reasonOf(error) };
  }
}

type Watch = Pick<RestartRun, 'signs' | 'restarted' | 'end' | 'why'>;

async function waitUntilBack(
  { client, clock, signal, withinMs, onProgress }: RestartOptions,
  pace: RestartPace,
  startedAt: number | null,
): Promise<Watch> {
  const began = clock.monotonicMs();
  const signs = new Set<RestartSign>();
  let isSameStart = false;
  let why: string | null = null;
  const hasRestarted = () => signs.has('start-time') || signs.has('starting') || (signs.has('silence') && !isSameStart);
  const ended = (end: Watch['end']): Watch => {
    return { signs: [...signs], restarted: hasRestarted(), end, why: end === 'back' ? null : why };
  };

  /** Boot progress for display; throws when the chassis does not answer. */
  async function poll(): Promise<string> {
    const { progress, step, startTimeS } = await client.bootProgress(signal);
    if (startedAt !== null && startTimeS !== null) {
      isSameStart = startTimeS === startedAt;
      if (!isSameStart) signs.add('start-time');
    }
    await client.identity(signal);
    await client.listMaps(signal);
    return `${Math.round(progress * 100)} %${step === null ? '' : `, ${step}`}`;
  }

  for (;;) {
    const passedMs = clock.monotonicMs() - began;
    const since = `${Math.round(passedMs / 1000)} s`;
    try {
      signal.throwIfAborted();
      const state = await poll();
      why = null;
      if (hasRestarted() || passedMs >= pace.showsWithinMs) return ended('back');
      onProgress(`waiting for the restart: ${state} (${since})`);
    } catch (error) {
      if (signal.aborted) return ended('interrupted');
      if (!(error instanceof GwError) || error.code === 'INTERNAL') throw error;
      if (error.code === 'CHASSIS_BOOTING') signs.add('starting');
      if (error.code === 'CHASSIS_NOT_CONNECTED') signs.add('silence');
      why = reasonOf(error);
      onProgress(`${why} (${since})`);
    }
    if (clock.monotonicMs() - began >= withinMs) {
      return ended(why === null ? 'back' : 'not-back');
    }
    await clock.sleep(pace.pollMs, signal).catch(() => {});
  }
}

/** Compares the maps, repeatedly for `settleMs`, since maps may appear after the first response. */
async function compareAfter(
  { client, clock, signal, onProgress, topics }: RestartOptions,
  pace: RestartPace,
  before: LiveMaps,
): Promise<Pick<RestartRun, 'end' | 'why' | 'after'>> {
  const began = clock.monotonicMs();
  for (;;) {
    const isLate = clock.monotonicMs() - began >= pace.settleMs;
    try {
      onProgress('comparing the maps with those before');
      const now = await readLiveMaps(client, { images: false, signal });
      const maps = compareMaps(before, now);
      const sameCurrent = now.currentProblem === null && isSameCurrent(before.current, now.current);
      const isSuccess = sameCurrent && maps.every(({ status }) => status === 'unchanged');
      if (isSuccess || isLate) {
        onProgress('comparing the running map with the stored one');
        const { announceMs } = pace;
        // After a restart every announcement is new.
        const running = await checkRunningMap({ client, access: topics, watched: null, announceMs, signal });
        const after = { identity: now.identity, current: now.current, maps, sameCurrent, running };
        return { end: 'back', why: null, after };
      }
    } catch (error) {
      if (signal.aborted) return { end: 'interrupted', why: 'the maps were not compared', after: null };
      if (!(error instanceof GwError) || error.code === 'INTERNAL') throw error;
      if (isLate) return { end: 'not-back', why: `its maps cannot be read: ${reasonOf(error)}`, after: null };
    }
    await clock.sleep(pace.pollMs, signal).catch(() => {});
  }
}

function isSameCurrent(a: CurrentMap | null, b: CurrentMap | null): boolean {
  if (a === null || b === null) return a === b;
  return a.uid !== null || b.uid !== null ? a.uid === b.uid : a.id === b.id;
}
