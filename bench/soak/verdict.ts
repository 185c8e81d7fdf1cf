// Verdict of a soak. Pure, so that tests can check each line against the states that must fail it.
import { type Sample, trendOfFloors } from '../figures.ts';

export interface Soak {
  /** From the first client to the last, in milliseconds. */
  readonly lastedMs: number;
  /** Requested duration in milliseconds. */
  readonly wantedMs: number;
  /** Resident memory of the gateway in MB, about one value per second. */
  readonly rss: readonly Sample[];
  /** Peak resident memory in MB according to the kernel; null when the process ended before it was read. */
  readonly peakRssMb: number | null;
  /** One per minute, from a second address. */
  readonly stops: readonly { readonly ms: number; readonly ok: boolean; readonly what: string }[];
  /** Answers of /api/health, one per second. */
  readonly health: readonly HealthCheck[];
  /** Whether the process ended before the end of the soak. */
  readonly isOver: boolean;
  readonly ended: { readonly code: number | null; readonly signal: string | null; readonly tookMs: number };
  readonly faults: { readonly switched: number; readonly failed: number };
  /** Counted actions by kind of client. */
  readonly clients: Readonly<Record<string, { readonly did: Readonly<Record<string, number>> }>>;
}

/** null: no complete answer within the timeout. */
type HealthCheck = {
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
  /** Project decision: the minima vary by up to 15 MB in a quarter of an hour without growth. */
  rssMbPerHour: 60,
  stopMs: 1_000,
  endMs: 5_000,
} as const;

const WINDOW_MS = 30_000;
/**
 * Part of the time that is not counted as growth: caches fill, code is compiled, and memory of a burst is not returned,
 * so the minimum rises in ever rarer steps.
 */
const WARM_UP_PART = 0.5;
const MINUTE_MS = 60_000;

/** Actions that each kind of client must have done at least once. */
const requiredActions: Readonly<Record<string, readonly string[]>> = {
  browser: ['event read'],
  'slow reader': ['sip'],
  'greedy poller': ['GET 200'],
  'signed-in person': ['signed in', 'stop cleared', 'stopped'],
  'tour starter': ['GET 200'],
  uploader: ['upload broken off'],
  hoarder: ['connections held'],
  'wrong password': ['POST 401'],
  'byte flooder': ['connections flooded'],
  'route reader': ['routes read'],
  'stop flooder': ['stops flooded'],
};

/** The verdict, line by line. An undecided line does not hold. */
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
  // With a standard error above the bound the growth is not decided.
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
  const unanswered = health.length - answers.length;
  const what = [
    restarted.length > 0 ? restarted.join(', ') : 'none',
    ...(notRunning.length > 0 ? [`not running at the end: ${notRunning.join(', ')}`] : []),
    ...(unanswered > 0 ? [`${unanswered} of ${health.length} health checks unanswered`] : []),
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
  const isOneProcess = ups.every((up, index) => up >= (ups[index - 1] ?? 0));
  const value = isOver ? 'ended by itself' : ups.length < 2 ? 'not checked' : isOneProcess ? 'one' : 'restarted';
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
        ? 'none requested'
        : `${stops.length - late.length} of ${stops.length}, longest ${longest.toFixed(0)} ms${why.length > 0 ? ` (${why.join(', ')})` : ''}`,
    target: `all within ${bounds.stopMs} ms, at least ${wanted}`,
    holds: stops.length > 0 && stops.length >= wanted && late.length === 0,
  };
}

function workLines({ clients, faults }: Soak): Line[] {
  const idle = Object.entries(requiredActions).flatMap(([kind, actions]) =>
    actions.filter((action) => !((clients[kind]?.did[action] ?? 0) > 0)).map((action) => `${kind}: ${action}`),
  );
  const tours =
    (clients['signed-in person']?.did['tour started'] ?? 0) + (clients['tour starter']?.did['tour started'] ?? 0);
  if (tours === 0) idle.push('tour started');
  return [
    {
      name: 'clients did their work',
      value: idle.length === 0 ? `all; ${tours} tours` : `never: ${idle.join(', ')}`,
      target: 'each kind, each action',
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
