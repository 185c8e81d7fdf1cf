/** Fewer second differences than this estimate nothing. Project decision. */
const MIN_DIFFERENCES = 5;

/**
 * Noise of a series (standard deviation), from its second differences: a steady drive or turn cancels out of them, so
 * it is known of a moving robot too. Null where there are too few.
 */
export function jitterOf(values: readonly number[]): number | null {
  const differences: number[] = [];
  for (let at = 2; at < values.length; at += 1) {
    const [a, b, c] = [values[at - 2] ?? 0, values[at - 1] ?? 0, values[at] ?? 0];
    differences.push(Math.abs(a - 2 * b + c));
  }
  if (differences.length < MIN_DIFFERENCES) return null;
  differences.sort((a, b) => a - b);
  // The median, since braking and one relocalisation are not noise; scaled as for a normal distribution.
  const median = differences[Math.floor(differences.length / 2)] ?? 0;
  return (1.4826 * median) / Math.sqrt(6);
}
