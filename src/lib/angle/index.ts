/**
 * Angles. Inside gw an angle is in degrees and has a branded type, so that a plain number does not type-check as
 * one; radians exist only on the wire. The conversions are in convert.ts, which only the chassis codec may import.
 */
declare const unit: unique symbol;

/** An angle in degrees, counter-clockwise, 0 along +x. */
export type Degrees = number & { readonly [unit]: 'degrees' };
/** An angle in radians, as some fields of the chassis carry it. */
export type Radians = number & { readonly [unit]: 'radians' };

/** Brands a number as degrees. Throws RangeError when it is not a finite number. */
export function degrees(value: number): Degrees {
  return finite(value, 'degrees') as Degrees;
}

/** Brands a number as radians. Throws RangeError when it is not a finite number. */
export function radians(value: number): Radians {
  return finite(value, 'radians') as Radians;
}

/** The same direction in (-180, 180]. Exact: the remainder of a division by 360 rounds nothing. */
export function normalizeDegrees(angle: Degrees): Degrees {
  const rest = angle % 360;
  if (rest > 180) return (rest - 360) as Degrees;
  if (rest <= -180) return (rest + 360) as Degrees;
  // -0 would be sent as "-0" by some encoders and is misleading in output.
  return (rest + 0) as Degrees;
}

/** Shortest turn from `from` to `to`, in (-180, 180]. */
export function turnBetween(from: Degrees, to: Degrees): Degrees {
  return normalizeDegrees(degrees(normalizeDegrees(to) - normalizeDegrees(from)));
}

/**
 * Parses the degrees of an overlay feature, given as a number or as a string ('90', ' -82.5 ').
 * Returns undefined when it is neither; the caller keeps the original and reports it.
 * @source specification, 'Angles': overlays carry degrees, usually as strings
 */
export function parseDegrees(input: unknown): Degrees | undefined {
  if (typeof input === 'number') return Number.isFinite(input) ? (input as Degrees) : undefined;
  if (typeof input !== 'string' || !/^\s*[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?\s*$/i.test(input)) return undefined;
  const value = Number(input);
  return Number.isFinite(value) ? (value as Degrees) : undefined;
}

function finite(value: number, unitName: string): number {
  if (typeof value !== 'number' || !Number.isFinite(value)) {
    throw new RangeError(`an angle in ${unitName} must be a finite number, found ${String(value)}`);
  }
  return value;
}
