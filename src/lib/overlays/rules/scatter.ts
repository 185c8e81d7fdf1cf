/** Up to this count even the worst order costs the spatial index a few seconds only, and usual ones nothing. */
const MAX_UNSHUFFLED = 100_000;

/**
 * The numbers from 0 to `count` - 1, shuffled where there are many. The spatial index takes quadratic time to sort certain
 * input orders, such as combs and rows with an outlier; a shuffled order avoids that. Deterministic.
 */
export function scatter(count: number): Uint32Array {
  const order = new Uint32Array(count);
  if (count <= MAX_UNSHUFFLED) return order.map((_, nth) => nth);
  let state = 1;
  for (let last = 0; last < count; last += 1) {
    // A linear congruential generator (Numerical Recipes); its high bits are the usable ones.
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    const other = Math.floor((state / 2 ** 32) * (last + 1));
    order[last] = order[other] ?? 0;
    order[other] = last;
  }
  return order;
}
