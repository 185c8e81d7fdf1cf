/** Fewer second differences than this estimate nothing. Project decision. */
const MIN_DIFFERENCES = 5;

/**
 * Noise of a series (standard deviation), from its second differences: a steady drive or turn cancels out of them, so
 * it is known of a moving robot too. Null where there are too few.
 */
export function jitterOf(values: readonly number[]): number | null {
  const count = Math.max(0, values.length - 2);
  if (count < MIN_DIFFERENCES) return null;
  // Judged with every pose: numbers of one type are sorted several times as fast.
  const differences = new Float64Array(count);
  for (let at = 0; at < count; at += 1) {
    differences[at] = Math.abs((values[at] ?? 0) - 2 * (values[at + 1] ?? 0) + (values[at + 2] ?? 0));
  }
  differences.sort();
  // The median, since braking and one relocalisation are not noise; scaled as for a normal distribution.
  const median = differences[Math.floor(differences.length / 2)] ?? 0;
  return (1.4826 * median) / Math.sqrt(6);
}
