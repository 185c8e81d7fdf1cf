// Statistics of the benchmarks, without clock and randomness, so that tests can compare them with known results.

/**
 * Percentile by nearest rank; null without values, so that a missing measurement is never a small number. Throws
 * RangeError for a percentage outside (0, 100].
 */
export function percentile(values: readonly number[], percent: number): number | null {
  if (!(percent > 0 && percent <= 100)) throw new RangeError(`percentage outside (0, 100]: ${percent}`);
  if (values.length === 0) return null;
  const sorted = values.toSorted((a, b) => a - b);
  // 7/100·100 is 7.000…001 in floating point: without the margin the rank is sometimes too high.
  const rank = Math.max(1, Math.ceil((percent / 100) * sorted.length - 1e-9));
  return sorted[rank - 1] as number;
}

export interface Sample {
  /** Milliseconds of one clock. */
  readonly atMs: number;
  readonly value: number;
}

export interface Trend {
  /** Growth per hour. */
  readonly perHour: number;
  /** Standard error of the growth, from the residuals. */
  readonly errorPerHour: number;
  /** Number of fitted values. */
  readonly points: number;
}

const HOUR_MS = 3_600_000;

/**
 * Least-squares line through the minima of equal windows: garbage collection makes memory a sawtooth, and only its
 * minima show retained memory. Null (not decided) with fewer than five windows.
 */
export function trendOfFloors(samples: readonly Sample[], windowMs: number): Trend | null {
  const floors = floorsOf(samples, windowMs);
  const count = floors.length;
  if (count < MIN_POINTS) return null;
  const meanAt = mean(floors.map(({ atMs }) => atMs));
  const meanValue = mean(floors.map(({ value }) => value));
  let spread = 0;
  let together = 0;
  for (const { atMs, value } of floors) {
    spread += (atMs - meanAt) ** 2;
    together += (atMs - meanAt) * (value - meanValue);
  }
  const slope = together / spread;
  const off = floors.reduce((sum, { atMs, value }) => sum + (value - meanValue - slope * (atMs - meanAt)) ** 2, 0);
  return {
    perHour: slope * HOUR_MS,
    errorPerHour: Math.sqrt(off / (count - 2) / spread) * HOUR_MS,
    points: count,
  };
}

const MIN_POINTS = 5;

/** The minimum of each complete window, with its time. */
function floorsOf(samples: readonly Sample[], windowMs: number): Sample[] {
  const [first] = samples;
  const last = samples.at(-1);
  if (first === undefined || last === undefined) return [];
  const floors = new Map<number, Sample>();
  // The last window is usually incomplete, so its minimum would be of fewer values.
  const whole = Math.floor((last.atMs - first.atMs) / windowMs);
  for (const sample of samples) {
    const window = Math.floor((sample.atMs - first.atMs) / windowMs);
    const lowest = floors.get(window);
    if (window < whole && (lowest === undefined || sample.value < lowest.value)) floors.set(window, sample);
  }
  return [...floors.values()];
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Random numbers in [0, 1), reproducible by the seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Lines of a table: first column left-aligned, the others right-aligned. */
export function tableLines(header: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const all = [header, ...rows];
  const widths = header.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  return all.map((row) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  ')
      .trimEnd(),
  );
}
