import { join } from 'node:path';
import { asGwError } from '../error/index.ts';
import { type Clock, type Log, orAfter, type Service } from '../lifecycle/index.ts';
import { type DriveRun, isOpenRun, type Motion, type TourRun } from '../motion/index.ts';
import type { DeliveryList, ListedDelivery } from '../pages/index.ts';
import { type Site, titleOf } from '../site/index.ts';
import { appendLines, readDays } from './day-files.ts';
import { type DayLine, listOf } from './day-lines.ts';

const DAY_LIST_FOLDER = 'deliveries';
/** What could not be written is tried again after this time; so many lines wait at most. Project decisions. */
const RETRY_MS = 2_000;
const MAX_WAITING = 1_000;
const HUNG_MS = 3_000;
const MAX_REASON = 300;

/** What the robot drove, for the manager: each tour and drive, when, where to, who ordered it, and how it ended. */
export interface DayList extends Service {
  /** Those that began at this time or later, the newest first; at most `limit`. Throws FILE_UNREADABLE. */
  list(since: Date, limit: number): Promise<DeliveryList>;
}

interface Options {
  readonly site: Pick<Site, 'stateDir' | 'stations' | 'tours'> & { readonly chassis: Pick<Site['chassis'], 'serial'> };
  readonly motion: Pick<Motion, 'runs' | 'subscribe'>;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * A line when a run begins and one when it ends, so that one whose gateway ended is in the list, and is said not to be known.
 * Times are of the wall clock, with its zone, for people alone.
 */
export function createDayList({ site, motion, clock, log }: Options): DayList {
  const { serial } = site.chassis;
  const dir = join(site.stateDir, DAY_LIST_FOLDER);
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
  let waiting: DayLine[] = [];
  let lost = 0;
  let trouble: string | null = null;
  let writing: Promise<void> | null = null;
  let watching: DisposableStack | null = null;
  /** Runs that have begun here, by their ids, and those that have ended. */
  const seen = new Map<string, 'begun' | 'ended'>();

  function follow(): void {
    const { tour, drive } = motion.runs();
    for (const run of [tour, drive]) {
      if (run === null) continue;
      if (!seen.has(run.id)) add(run, 'begun');
      if (!isOpenRun(run) && seen.get(run.id) === 'begun') add(run, 'ended');
    }
    // The newest tour and drive are the only ones that may still change.
    for (const id of seen.keys()) if (id !== tour?.id && id !== drive?.id) seen.delete(id);
  }

  function add(run: TourRun | DriveRun, what: DayLine['what']): void {
    seen.set(run.id, what);
    const about = { format: 'gw/delivery/1', serial, id: run.id, at: clock.wall().toISOString(), timeZone } as const;
    if (waiting.length >= MAX_WAITING) lost += 1;
    else if (what === 'begun') waiting.push({ ...about, what, ...goalOf(run, site), by: run.by ?? null });
    else if (!isOpenRun(run)) {
      const result = run.state === 'succeeded' || run.state === 'failed' ? run.state : 'stopped';
      waiting.push({ ...about, what, result, reason: run.reason?.slice(0, MAX_REASON) ?? null });
    }
    void write();
  }

  /** Resolves when what waits is on the disk, or could not be written. */
  function write(): Promise<void> {
    if (waiting.length > 0) writing ??= writeAll();
    return writing ?? Promise.resolve();
  }

  async function writeAll(): Promise<void> {
    try {
      while (waiting.length > 0) {
        const lines = [...waiting];
        const leftOut = await appendLines(dir, lines);
        if (leftOut > 0) log.error({ dir, leftOut }, 'the list of deliveries of this day is full');
        lost += leftOut;
        waiting = waiting.slice(lines.length);
        trouble = null;
      }
    } catch (error) {
      const { message } = asGwError(error);
      if (trouble !== message) log.error({ dir, error: message }, 'the list of deliveries cannot be written');
      trouble = message;
    } finally {
      writing = null;
    }
  }

  return {
    name: 'day-list',
    async start() {
      watching = new DisposableStack();
      watching.use(motion.subscribe(follow));
      watching.use(clock.every(RETRY_MS, () => void write()));
      follow();
    },
    async stop() {
      watching?.dispose();
      watching = null;
      follow();
      await orAfter(clock, HUNG_MS, write());
    },
    async list(since, limit) {
      const { lines, unreadable, full } = await readDays(dir, serial, since.toISOString().slice(0, 10));
      const { tour, drive } = motion.runs();
      const open = [tour, drive].filter((run) => run !== null && isOpenRun(run)).map((run) => run?.id);
      const all = listOf([...lines, ...waiting], (id) => open.includes(id)).filter(
        ({ begunAt }) => Date.parse(begunAt) >= since.getTime(),
      );
      return {
        timeZone,
        deliveries: all.slice(0, limit),
        more: Math.max(0, all.length - limit),
        unreadable,
        // Of a day that was full before this start nothing else is known.
        lost: Math.max(lost, full),
        trouble,
      };
    },
    describe: () => trouble ?? 'recording',
  };
}

/** With the title of that time. */
function goalOf(
  run: TourRun | DriveRun,
  { stations, tours }: Pick<Site, 'stations' | 'tours'>,
): Pick<ListedDelivery, 'kind' | 'name' | 'title'> {
  if ('tour' in run) return { kind: 'tour', name: run.tour, ...titleOf(tours[run.tour]) };
  const { station } = run;
  return {
    kind: run.kind === 'dock' ? 'dock' : 'drive',
    name: station,
    ...(station !== null && titleOf(stations[station])),
  };
}
