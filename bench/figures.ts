// What the instruments compute. No clock and no chance of its own, so that tests can hold it against known answers.

/**
 * The smallest of the values that at least `percent` of them do not exceed (nearest rank); null of no values, so that
 * what was not measured is never a small number. Throws RangeError for a percentage outside (0, 100].
 */
export function percentile(values: readonly number[], percent: number): number | null {
  if (!(percent > 0 && percent <= 100)) throw new RangeError(`no percentage: ${percent}`);
  if (values.length === 0) return null;
  const sorted = values.toSorted((a, b) => a - b);
  // 7/100·100 is 7.000…001 in floating point: without the margin a rank too high would be taken at times.
  const rank = Math.max(1, Math.ceil((percent / 100) * sorted.length - 1e-9));
  return sorted[rank - 1] as number;
}

export interface Sample {
  /** Milliseconds on any one clock. */
  readonly atMs: number;
  readonly value: number;
}

export interface Trend {
  /** Growth of the value in an hour. */
  readonly perHour: number;
  /** Standard error of that growth, from how far the values lie off the line. */
  readonly errorPerHour: number;
  /** Values that the line was laid through, after thinning. */
  readonly points: number;
}

const HOUR_MS = 3_600_000;

/**
 * The straight line with the least squares through the floors of equal windows: a collector of garbage makes memory a
 * saw, and only the low ends of its teeth say whether anything is kept. Null with fewer than five windows, which
 * decides nothing.
 */
export function trendOfFloors(samples: readonly Sample[], windowMs: number): Trend | null {
  const floors = floorsOf(samples, windowMs);
  const count = floors.length;
  if (count < LEAST_POINTS) return null;
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

const LEAST_POINTS = 5;

/** The lowest value of each whole window, with when it was seen. */
function floorsOf(samples: readonly Sample[], windowMs: number): Sample[] {
  const [first] = samples;
  const last = samples.at(-1);
  if (first === undefined || last === undefined) return [];
  const floors = new Map<number, Sample>();
  // The last window is mostly half a one, and its floor would be one of fewer values.
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

/** Random numbers in [0, 1) that a printed seed brings back (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Lines of a table: the first column to the left, the others to the right. */
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
