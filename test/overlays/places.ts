import type { Place } from '../../src/lib/overlays/model.ts';

/** The places of a line or a ring, written as `x,y x,y`. */
export function places(text: string): Place[] {
  return text.split(' ').map((place) => place.split(',').map(Number) as [number, number]);
}
