/** Up to here even the worst order costs the spatial index no more than a few seconds, and the usual ones nothing. */
const FEW = 100_000;

/**
 * Numbers from 0 to `count` - 1; many of them in an order that has nothing to do with how somebody drew. The spatial
 * index sorts what it is given and takes quadratic time over certain orders, combs and rows with an outlier among them;
 * over this one it does not. The order is the same every time.
 */
export function scatter(count: number): Uint32Array {
  const order = new Uint32Array(count);
  if (count <= FEW) return order.map((_, nth) => nth);
  let state = 1;
  for (let last = 0; last < count; last += 1) {
    // A linear congruential generator (Numerical Recipes); its high bits are the good ones.
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    const other = Math.floor((state / 2 ** 32) * (last + 1));
    order[last] = order[other] ?? 0;
    order[other] = last;
  }
  return order;
}
