import { asGwError } from '../error/index.ts';
import { type Clock, type Log, longestAgeMs, orAfter } from '../lifecycle/index.ts';
import type { Cause, IncidentBody, IncidentHead, IncidentList, KeptMap, KeptPose, Scene } from '../pages/index.ts';
import { causesBetween, type Sight } from './causes.ts';
import { INCIDENT_FORMAT } from './incident-file.ts';
import { createMapList } from './map-list.ts';
import { createRing } from './ring.ts';
import type { IncidentStore } from './store.ts';

/** Project decisions: what is kept of the time around an incident. */
const BEFORE_MS = 60_000;
const AFTER_MS = 10_000;
/** Causes one after the other are one incident, up to this time after the first. */
const MAX_AFTER_MS = 60_000;
/** Changes within this time are one scene. */
const GATHER_MS = 250;
/** What changes with time alone, such as a value that is too old or a disk that fills, is looked for as often. */
const LOOK_MS = 1_000;
const MIN_POSE_MS = 90;
/** Once while it is being recorded: whoever switches a stopped robot off keeps what led to it. Not at once, since the stop itself is being written then. */
const FIRST_SAVE_MS = 1_000;
const MAX_CAUSES = 32;
const END_WITHIN_MS = 500;
/** As many of this start have an age; more than a store keeps. */
const MAX_AGED = 1_000;

/** In bytes as they are written. */
const bounds = { poses: 200_000, scenes: 400_000, log: 400_000 } as const;
/** Of texts and lists of others in a scene. */
const MAX_TEXT = 300;
const MAX_ITEMS = 64;

export type LogEntry = IncidentBody['log'][number];

/** With its own map; null: not known. */
type InMap<T> = Omit<T, 'map'> & { readonly map: KeptMap | null };
export type ObservedPose = InMap<KeptPose>;
export interface Places {
  readonly stations: readonly InMap<IncidentBody['stations'][number]>[];
  readonly dock: InMap<NonNullable<IncidentBody['dock']>> | null;
}

export interface RecorderOptions {
  readonly store: IncidentStore;
  readonly clock: Clock;
  readonly log: Log;
  /** What names the robot. */
  readonly about: Pick<IncidentHead, 'serial' | 'site' | 'version' | 'timeZone'>;
  /** The places of all its maps. */
  readonly places: () => Places;
  /** The present state, as the pages may show it. */
  readonly look: () => Sight;
  /** The newest current pose, `atMs` by the monotonic clock, with the map that the chassis uses at this moment; null: none. */
  readonly pose: () => ObservedPose | null;
  /** Log events since then, `atMs` by the monotonic clock, oldest first, as the pages may show them. */
  readonly logSince: (ms: number) => readonly LogEntry[];
  /** Called after every change of what is looked at, but for what changes with time alone. */
  readonly subscribe: (listener: () => void) => Disposable;
  /** Called after every pose, at least. */
  readonly followPose: (listener: () => void) => Disposable;
}

/** Remembers the last minute, and keeps it when something happens. */
export interface IncidentRecorder extends AsyncDisposable {
  list(): Promise<IncidentList>;
}

interface Pending {
  /** null until it is first written. */
  id: number | null;
  readonly firstMs: number;
  readonly at: string;
  readonly causes: Cause[];
  moreCauses: number;
  endMs: number;
}

export function createIncidentRecorder(options: RecorderOptions): IncidentRecorder {
  const { store, clock, log, about, places, look, pose, logSince, subscribe, followPose } = options;
  const beganMs = clock.monotonicMs();
  const poses = createRing<ObservedPose>(bounds.poses);
  const scenes = createRing<{ readonly atMs: number; readonly json: string }>(bounds.scenes);
  let sight = look();
  let sightMs = beganMs;
  let shown = '';
  let pending: Pending | null = null;
  let soon: Disposable | undefined;
  let due: Disposable | undefined;
  let writing: Promise<void> = Promise.resolve();
  let notKept: IncidentList['notKept'] = null;
  /** By id: the monotonic clock at the first cause, for what happened since the start. */
  const happenedAtMs = new Map<number, number>();

  function posed(): void {
    const newest = pose();
    if (newest !== null && newest.atMs - (poses.newest()?.atMs ?? Number.NEGATIVE_INFINITY) >= MIN_POSE_MS) {
      poses.push(newest, jsonBytes({ ...newest, map: 0 }));
    }
  }

  function changed(): void {
    soon ??= clock.after(GATHER_MS, observe);
  }

  function observe(): void {
    soon?.[Symbol.dispose]();
    soon = undefined;
    const nowMs = clock.monotonicMs();
    const [before, after] = [sight, look()];
    keep(after.scene, nowMs);
    const causes = causesBetween(before, after, nowMs - sightMs, nowMs);
    [sight, sightMs] = [after, nowMs];
    if (causes.length > 0) happened(causes, nowMs);
    forget(nowMs);
  }

  function keep(scene: Sight['scene'], atMs: number): void {
    const json = JSON.stringify(scene, shortened);
    if (json === shown) return;
    shown = json;
    scenes.push({ atMs, json }, Buffer.byteLength(json));
  }

  function forget(nowMs: number): void {
    const fromMs = (pending?.firstMs ?? nowMs) - BEFORE_MS;
    poses.forgetBefore(fromMs);
    // The scene that held then is older than that moment.
    scenes.forgetBefore(fromMs, 1);
  }

  function happened(causes: readonly Cause[], nowMs: number): void {
    if (pending === null) {
      pending = {
        id: null,
        firstMs: nowMs,
        at: clock.wall().toISOString(),
        causes: [],
        moreCauses: 0,
        endMs: 0,
      };
      due = clock.after(FIRST_SAVE_MS, save);
    }
    for (const cause of causes) {
      if (pending.causes.length < MAX_CAUSES) pending.causes.push({ ...cause, atMs: nowMs - pending.firstMs });
      else pending.moreCauses += 1;
    }
    pending.endMs = Math.min(nowMs + AFTER_MS, pending.firstMs + MAX_AFTER_MS);
  }

  /** Writes what there is; again at the end, which later causes may move. */
  function save(): void {
    if (pending === null) return;
    const nowMs = clock.monotonicMs();
    const isComplete = nowMs >= pending.endMs;
    write(pending, nowMs, isComplete);
    if (isComplete) pending = null;
    else due = clock.after(pending.endMs - nowMs, save);
  }

  function write(incident: Pending, nowMs: number, isComplete: boolean): void {
    const { firstMs, at, moreCauses } = incident;
    const fromMs = Math.max(beganMs, firstMs - BEFORE_MS);
    const since = (ms: number) => Math.round(ms - firstMs);
    const entries = createRing<LogEntry>(bounds.log);
    for (const entry of logSince(fromMs)) entries.push({ ...entry, atMs: since(entry.atMs) }, jsonBytes(entry));
    const head: Omit<IncidentHead, 'id'> = {
      format: INCIDENT_FORMAT,
      serial: about.serial,
      site: about.site,
      version: about.version,
      at,
      timeZone: about.timeZone,
      causes: incident.causes.map((cause) => ({ ...cause, atMs: Math.round(cause.atMs) })),
      moreCauses,
      fromMs: since(fromMs),
      toMs: since(nowMs),
      isComplete,
    };
    const { maps, indexOf } = createMapList();
    const framed = <T extends { readonly map: KeptMap | null }>(one: T) => ({ ...one, map: indexOf(one.map) });
    const { stations, dock } = places();
    const body: IncidentBody = {
      maps,
      stations: stations.map(framed),
      dock: dock && framed(dock),
      poses: poses.all().map((one) => ({ ...framed(one), atMs: since(one.atMs) })),
      scenes: scenes.all().map(({ atMs, json }) => ({
        atMs: since(Math.max(atMs, fromMs)),
        ...(JSON.parse(json) as Omit<Scene, 'atMs'>),
      })),
      log: entries.all().slice(),
      leftOut: { poses: poses.leftOut(), scenes: scenes.leftOut(), log: entries.leftOut() },
    };
    writing = writing
      .then(async () => {
        incident.id ??= await store.takeId();
        happenedAtMs.set(incident.id, firstMs);
        const [oldest] = happenedAtMs.keys();
        if (happenedAtMs.size > MAX_AGED && oldest !== undefined) happenedAtMs.delete(oldest);
        await store.save({ ...head, id: incident.id }, body);
      })
      .then(
        () => {
          if (isComplete)
            log.warn({ incident: incident.id, causes: head.causes.map(({ code }) => code) }, 'incident kept');
        },
        (error: unknown) => {
          const reason = asGwError(error).message;
          if (isComplete) notKept = { count: (notKept?.count ?? 0) + 1, reason };
          log.error({ incident: incident.id, error: reason }, 'incident not kept');
        },
      );
  }

  keep(sight.scene, beganMs);
  using subscriptions = new DisposableStack();
  subscriptions.use(followPose(posed));
  subscriptions.use(subscribe(changed));
  subscriptions.use(clock.every(LOOK_MS, changed));
  const changes = subscriptions.move();
  return {
    list: async () => ({
      incidents: [...(await store.heads())].map((head) => {
        const atMs = happenedAtMs.get(head.id);
        return { ...head, ageMs: atMs === undefined ? null : longestAgeMs(clock, { atMs, at: head.at }) };
      }),
      recording: pending?.id ?? null,
      unreadable: store.unreadable(),
      folderProblem: store.folderProblem(),
      notKept,
    }),
    async [Symbol.asyncDispose]() {
      changes[Symbol.dispose]();
      soon?.[Symbol.dispose]();
      due?.[Symbol.dispose]();
      // What led to the end of the gateway may be the most interesting of it.
      if (pending !== null) write(pending, clock.monotonicMs(), false);
      pending = null;
      // A disk that does not answer must not keep the gateway from ending.
      await orAfter(clock, END_WITHIN_MS, writing);
    },
  };
}

const jsonBytes = (value: object) => Buffer.byteLength(JSON.stringify(value));

function shortened(_key: string, value: unknown): unknown {
  if (typeof value === 'string' && value.length > MAX_TEXT) return value.slice(0, MAX_TEXT);
  if (Array.isArray(value) && value.length > MAX_ITEMS) return value.slice(0, MAX_ITEMS);
  return value;
}
