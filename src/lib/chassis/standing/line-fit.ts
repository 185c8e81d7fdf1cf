/**
 * A straight line through samples by least squares, extended one sample at a time towards the past. Values are relative
 * to the newest sample, which keeps the sums exact enough at any place of a map.
 */
export function createLineFit() {
  let n = 0;
  let [t1, t2, v1, v2, tv] = [0, 0, 0, 0, 0];

  return {
    add(seconds: number, value: number): void {
      n += 1;
      t1 += seconds;
      t2 += seconds * seconds;
      v1 += value;
      v2 += value * value;
      tv += seconds * value;
    },
    /** Change per second, the mean, and the sum of squared distances from the line. Meaningless below two samples. */
    read(): { readonly slope: number; readonly squares: number; readonly timeSquares: number } {
      const timeSquares = t2 - (t1 * t1) / n;
      const together = tv - (t1 * v1) / n;
      const slope = timeSquares > 0 ? together / timeSquares : 0;
      // Rounding can leave a sum of squares just below zero.
      const squares = Math.max(0, v2 - (v1 * v1) / n - slope * together);
      return { slope, squares, timeSquares };
    },
  };
}
