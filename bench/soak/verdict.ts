// What a soak proves, and what it does not. Pure, so that each line can be put before the state that would make it lie.
import { type Sample, trendOfFloors } from '../figures.ts';

export interface Soak {
  /** From the first client to the last, in milliseconds. */
  readonly lastedMs: number;
  /** As asked for, in milliseconds. */
  readonly wantedMs: number;
  /** Resident memory of the gateway in MB, about one value a second. */
  readonly rss: readonly Sample[];
  /** The most that the kernel ever saw, in MB; null when the process was gone before it could be asked. */
  readonly peakRssMb: number | null;
  /** One a minute, from a second address. */
  readonly stops: readonly { readonly ms: number; readonly ok: boolean; readonly what: string }[];
  /** Answers of /api/health, one asked for each second. */
  readonly health: readonly HealthLook[];
  /** The process that was started, as it was at the end. */
  readonly isOver: boolean;
  readonly ended: { readonly code: number | null; readonly signal: string | null; readonly tookMs: number };
  readonly faults: { readonly switched: number; readonly failed: number };
  /** By kind of client: what they did, and what failed. */
  readonly clients: Readonly<Record<string, { readonly did: Readonly<Record<string, number>> }>>;
}

/** null: no whole answer within the time that was given. */
type HealthLook = {
  readonly upForMs: number;
  readonly services: readonly { readonly name: string; readonly status: string; readonly restarts: number }[];
} | null;

export interface Line {
  readonly name: string;
  readonly value: string;
  readonly target: string;
  readonly holds: boolean;
}

const bounds = {
  rssMb: 300,
  /** Project decision: 15 MB in a quarter of an hour is as much as the floors of the collector wander by themselves. */
  rssMbPerHour: 60,
  stopMs: 1_000,
  endMs: 5_000,
} as const;

const WINDOW_MS = 30_000;
/**
 * Not counted as growth: caches fill, the compiler works, and memory that a burst once took is not given back, so that the
 * floor rises in steps, each rarer than the one before.
 */
const WARM_UP_PART = 0.5;
const MINUTE_MS = 60_000;

/** What each kind of client must have done at least once, or the run proves nothing about it. */
const proofs: Readonly<Record<string, readonly string[]>> = {
  browser: ['event read'],
  'slow reader': ['sip'],
  'greedy poller': ['GET 200'],
  'signed-in person': ['signed in', 'stop cleared', 'stopped'],
  'tour starter': ['GET 200'],
  uploader: ['upload broken off'],
  hoarder: ['connections held'],
  'wrong password': ['POST 401'],
};

/** Whether the gateway held, line by line. What could not be decided does not hold. */
export function judgeSoak(soak: Soak): readonly Line[] {
  return [
    timeLine(soak),
    ...rssLines(soak),
    restartLine(soak),
    processLine(soak),
    stopLine(soak),
    ...workLines(soak),
    endLine(soak),
  ];
}

function timeLine({ lastedMs, wantedMs }: Soak): Line {
  return {
    name: 'ran for',
    value: `${(lastedMs / MINUTE_MS).toFixed(1)} min`,
    target: `${(wantedMs / MINUTE_MS).toFixed(1)} min`,
    holds: lastedMs >= wantedMs * 0.99,
  };
}

function rssLines({ rss, peakRssMb }: Soak): Line[] {
  const seen = Math.max(peakRssMb ?? 0, ...rss.map(({ value }) => value));
  const bound: Line = {
    name: 'peak RSS',
    value: rss.length === 0 ? 'not measured' : `${seen.toFixed(0)} MB${peakRssMb === null ? ' (sampled only)' : ''}`,
    target: `at most ${bounds.rssMb} MB`,
    holds: rss.length > 0 && seen <= bounds.rssMb,
  };
  const [first] = rss;
  const last = rss.at(-1);
  const warmMs = first && last ? first.atMs + WARM_UP_PART * (last.atMs - first.atMs) : 0;
  const trend = trendOfFloors(
    rss.filter(({ atMs }) => atMs >= warmMs),
    WINDOW_MS,
  );
  const target = `at most ${bounds.rssMbPerHour} MB an hour, by the floors of ${WINDOW_MS / 1000} s after ${WARM_UP_PART * 100} % of the time`;
  if (trend === null)
    return [bound, { name: 'RSS level', value: 'not decided', target: `${target}; too short`, holds: false }];
  const { perHour, errorPerHour, points } = trend;
  const value = `${perHour.toFixed(0)} ± ${errorPerHour.toFixed(0)} MB/h`;
  // A line through values that wander more than the bound says nothing about it.
  const isClear = errorPerHour <= bounds.rssMbPerHour;
  return [
    bound,
    {
      name: 'RSS level',
      value: isClear ? value : `not decided: ${value}`,
      target: `${target} (${points} of them)`,
      holds: isClear && perHour <= bounds.rssMbPerHour,
    },
  ];
}

function restartLine({ health }: Soak): Line {
  const answers = health.filter((look) => look !== null);
  const restarts = new Map<string, number>();
  for (const { services } of answers) {
    for (const { name, restarts: count } of services) restarts.set(name, Math.max(restarts.get(name) ?? 0, count));
  }
  const restarted = [...restarts].filter(([, count]) => count > 0).map(([name, count]) => `${name} ${count} ×`);
  const notRunning = (answers.at(-1)?.services ?? [])
    .filter(({ status }) => status !== 'running')
    .map(({ name }) => name);
  const unasked = health.length - answers.length;
  const what = [
    restarted.length > 0 ? restarted.join(', ') : 'none',
    ...(notRunning.length > 0 ? [`not running at the end: ${notRunning.join(', ')}`] : []),
    ...(unasked > 0 ? [`${unasked} of ${health.length} looks unanswered`] : []),
  ];
  return {
    name: 'restarts of services',
    value: restarts.size === 0 ? 'not checked' : what.join('; '),
    target: 'none',
    holds: restarts.size > 0 && restarted.length === 0 && notRunning.length === 0 && health.at(-1) !== null,
  };
}

function processLine({ health, isOver }: Soak): Line {
  const ups = health.filter((look) => look !== null).map(({ upForMs }) => upForMs);
  const isOneLife = ups.every((up, index) => up >= (ups[index - 1] ?? 0));
  const value = isOver ? 'ended by itself' : ups.length < 2 ? 'not checked' : isOneLife ? 'one' : 'began anew';
  return { name: 'life of the process', value, target: 'one, to the end', holds: value === 'one' };
}

function stopLine({ stops, lastedMs }: Soak): Line {
  const late = stops.filter(({ ok, ms }) => !ok || ms > bounds.stopMs);
  const wanted = Math.floor(lastedMs / MINUTE_MS);
  const longest = Math.max(...stops.map(({ ms }) => ms));
  const why = late.map(({ ok, ms, what }) => (ok ? `${ms.toFixed(0)} ms` : what));
  return {
    name: 'stops, one a minute',
    value:
      stops.length === 0
        ? 'none asked for'
        : `${stops.length - late.length} of ${stops.length}, longest ${longest.toFixed(0)} ms${why.length > 0 ? ` (${why.join(', ')})` : ''}`,
    target: `all within ${bounds.stopMs} ms, at least ${wanted}`,
    holds: stops.length > 0 && stops.length >= wanted && late.length === 0,
  };
}

function workLines({ clients, faults }: Soak): Line[] {
  const idle = Object.entries(proofs).flatMap(([kind, deeds]) =>
    deeds.filter((deed) => !((clients[kind]?.did[deed] ?? 0) > 0)).map((deed) => `${kind}: ${deed}`),
  );
  const tours =
    (clients['signed-in person']?.did['tour started'] ?? 0) + (clients['tour starter']?.did['tour started'] ?? 0);
  if (tours === 0) idle.push('tour started');
  return [
    {
      name: 'clients did their work',
      value: idle.length === 0 ? `all; ${tours} tours` : `never: ${idle.join(', ')}`,
      target: 'each kind, each deed',
      holds: idle.length === 0,
    },
    {
      name: 'faults switched',
      value: `${faults.switched} kinds${faults.failed > 0 ? `, ${faults.failed} times it failed` : ''}`,
      target: 'some',
      holds: faults.switched > 0,
    },
  ];
}

function endLine({ ended: { code, signal, tookMs }, isOver }: Soak): Line {
  return {
    name: 'end in order',
    value: `${signal ?? `exit ${code}`} after ${tookMs.toFixed(0)} ms`,
    target: `exit 0 within ${bounds.endMs} ms`,
    holds: !isOver && code === 0 && tookMs <= bounds.endMs,
  };
}
