import type { ChassisClient, ChassisIdentity, CurrentMap } from '../chassis/index.ts';
import { mapWritesOf } from '../chassis/map-writes.ts';
import { GwError } from '../error/index.ts';
import type { Clock } from '../lifecycle/index.ts';
import { firstOf } from '../lifecycle/index.ts';
import { fateOf, usualPace, withGrace } from './checked-write.ts';
import { type LiveMaps, readLiveMaps, reasonOf } from './live-maps.ts';
import type { TopicAccess } from './map-announcements.ts';
import type { MapArchive } from './model.ts';
import { assertHoldsAll, compareMaps, type MapFate } from './restart-comparison.ts';
import { assertSameChassis } from './restore.ts';
import { checkRunningMap, type RunningMap } from './running-map.ts';
import { assertStill, type LookForStillness, type Stillness } from './stillness.ts';

export interface RestartOptions {
  readonly client: ChassisClient;
  /** Must hold every map that is on the chassis now, as it is now. */
  readonly archive: MapArchive;
  /** Where the running map is announced: it is compared with what is stored afterwards. */
  readonly topics: TopicAccess;
  readonly lookForStillness: LookForStillness;
  readonly personSeesItStand: boolean;
  /** How long the chassis may take until it answers again. */
  readonly withinMs: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly onProgress: (text: string) => void;
  readonly pace?: RestartPace | undefined;
}

/** Decisions of ours, in milliseconds. Tests pass shorter ones. */
export interface RestartPace {
  readonly pollMs: number;
  /** So long an answer to the order may take: a chassis that restarts at once never answers. */
  readonly answerMs: number;
  /** So long a chassis that goes on answering as before may take until a restart shows. */
  readonly showsWithinMs: number;
  /** So long /map/info may take until it announces the map in use. */
  readonly announceMs: number;
  /** So long maps that are missing may come up after the chassis answers again. */
  readonly settleMs: number;
}

const usualRestartPace: RestartPace = {
  pollMs: 500,
  answerMs: 10_000,
  showsWithinMs: 30_000,
  settleMs: 5_000,
  announceMs: 5_000,
};

/** By what a restart showed. */
type RestartSign =
  /** `start_time` of the boot progress is another one. */
  | 'start-time'
  /** It answered that it is starting. */
  | 'starting'
  /** It did not answer for a while. */
  | 'silence';

export interface RestartRun {
  readonly before: LiveMaps;
  readonly stillness: Stillness;
  /** 'lost': the answer to the order never came, as it may be with a restart. */
  readonly order: 'accepted' | 'lost';
  readonly said: string | null;
  readonly signs: readonly RestartSign[];
  /** Whether the signs prove a restart. Silence alone does not, when `start_time` stayed the same. */
  readonly restarted: boolean;
  readonly end: 'back' | 'not-back' | 'interrupted';
  /** Why the chassis was not back, as it last showed; null when it is. */
  readonly why: string | null;
  readonly tookMs: number;
  /** null when it is not back. */
  readonly after: {
    readonly identity: ChassisIdentity;
    readonly current: CurrentMap | null;
    readonly maps: readonly MapFate[];
    /** The map in use is the one that was. */
    readonly sameCurrent: boolean;
    /** What the robot drives by, beside what is stored. */
    readonly running: RunningMap;
  } | null;
}

/**
 * Restarts the software of the robot, waits until it answers again and compares the maps with those of before. Until
 * the order it throws what stands in the way: ARCHIVE_FOREIGN, BACKUP_OUTDATED, CHASSIS_MOVING, CHASSIS_REFUSED and as
 * the client does. After it there is always a result, also after Ctrl-C, which ends the waiting and not the restart.
 */
export async function restartChassis(options: RestartOptions): Promise<RestartRun> {
  const { client, archive, clock, signal, onProgress } = options;
  const pace = options.pace ?? usualRestartPace;
  const { serial } = await client.identity(signal);
  assertSameChassis(archive, serial);
  const before = await readLiveMaps(client, { signal, onProgress });
  assertHoldsAll(archive, before);
  onProgress('listening whether the robot stands still');
  const stillness = await options.lookForStillness(signal);
  assertStill(stillness, options.personSeesItStand);
  const startedAt = await startTimeOf(client, signal);

  const began = clock.monotonicMs();
  onProgress('restarting the robot');
  const { order, said } = await orderRestart(options, pace);
  const watch = await waitUntilBack(options, pace, startedAt);
  const { signs, restarted } = watch;
  const base = { before, stillness, order, said, signs, restarted };
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

/** Throws when the chassis surely did not take the order. */
async function orderRestart(
  { client, clock, signal }: RestartOptions,
  pace: RestartPace,
): Promise<Pick<RestartRun, 'order' | 'said'>> {
  const late = new AbortController();
  using _limit = clock.after(pace.answerMs, () =>
    late.abort(new GwError('INTERRUPTED', `The chassis did not answer within ${pace.answerMs / 1000} s.`)),
  );
  signal.throwIfAborted();
  try {
    await withGrace({ signal, clock, pace: usualPace }, async (grace) => {
      await mapWritesOf(client).restartService(firstOf(grace, late.signal));
    });
    return { order: 'accepted', said: null };
  } catch (error) {
    if (!(error instanceof GwError)) throw error;
    const status = error.details?.status;
    // A server that goes down in the middle of its answer may say 500.
    const isLost = fateOf(error) === 'lost' || (typeof status === 'number' && status >= 500);
    if (!isLost) throw error;
    return { order: 'lost', said: reasonOf(error) };
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
  let sameStart = false;
  let why: string | null = null;
  const restarted = () => signs.has('start-time') || signs.has('starting') || (signs.has('silence') && !sameStart);
  const ended = (end: Watch['end']): Watch => {
    return { signs: [...signs], restarted: restarted(), end, why: end === 'back' ? null : why };
  };

  /** How far it is; throws when it does not answer. */
  async function look(): Promise<string> {
    const { progress, step, startTimeS } = await client.bootProgress(signal);
    if (startedAt !== null && startTimeS !== null) {
      sameStart = startTimeS === startedAt;
      if (!sameStart) signs.add('start-time');
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
      const how = await look();
      why = null;
      if (restarted() || passedMs >= pace.showsWithinMs) return ended('back');
      onProgress(`waiting for the restart to show: ${how} (${since})`);
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

/** Maps may come up after the first answer: what is missing is looked for again before it is called lost. */
async function compareAfter(
  { client, clock, signal, onProgress, topics }: RestartOptions,
  pace: RestartPace,
  before: LiveMaps,
): Promise<Pick<RestartRun, 'end' | 'why' | 'after'>> {
  const began = clock.monotonicMs();
  for (;;) {
    const isLate = clock.monotonicMs() - began >= pace.settleMs;
    try {
      onProgress('comparing the maps with those of before');
      const now = await readLiveMaps(client, { images: false, signal });
      const maps = compareMaps(before, now);
      const sameCurrent = isSameCurrent(before.current, now.current);
      const isWell = sameCurrent && maps.every(({ fate }) => fate === 'there');
      if (isWell || isLate) {
        onProgress('comparing the running map with the stored one');
        const { announceMs } = pace;
        // Everything that is announced after a restart was announced since.
        const running = await checkRunningMap({ client, access: topics, watched: null, announceMs, signal });
        const after = { identity: now.identity, current: now.current, maps, sameCurrent, running };
        return { end: 'back', why: null, after };
      }
    } catch (error) {
      if (signal.aborted) return { end: 'interrupted', why: 'the maps were not compared', after: null };
      if (!(error instanceof GwError) || error.code === 'INTERNAL') throw error;
      if (isLate) return { end: 'not-back', why: `its maps could not be read: ${reasonOf(error)}`, after: null };
    }
    await clock.sleep(pace.pollMs, signal).catch(() => {});
  }
}

function isSameCurrent(a: CurrentMap | null, b: CurrentMap | null): boolean {
  if (a === null || b === null) return a === b;
  return a.uid !== null || b.uid !== null ? a.uid === b.uid : a.id === b.id;
}
