import { plural } from '../../text/index.ts';
import { extentOf } from '../frame.ts';
import { type Bounds, boundsOf } from '../geometry.ts';
import type { Feature, Place } from '../model.ts';
import type { RuleInput } from './input.ts';
import { namingAll, rounded } from './wording.ts';

/** Features outside the picture of the map: points, and lanes and zones that are entirely outside. */
export function findPictureFaults({ overlays: { features }, frame, report }: RuleInput): void {
  const edges = extentOf(frame);
  if (edges === null) {
    if (!features.some(({ shape: { kind } }) => kind === 'point' || kind === 'lane' || kind === 'zone')) return;
    report('picture-not-checked', [], () =>
      frame === null
        ? 'Not checked whether the features lie within the picture: the map has no valid grid.'
        : 'Not checked whether the features lie within the picture: its size is unknown.',
    );
    return;
  }
  const outside: number[] = [];
  for (const feature of features) {
    if (isOutside(feature, edges)) outside.push(feature.index);
  }
  if (outside.length === 0) return;
  report('outside-picture', outside, () => {
    const { minXM, minYM, maxXM, maxYM } = edges;
    const lie = plural(outside.length, 'feature lies', 'features lie');
    const span = (from: number, to: number) => `${rounded(from, 2)} to ${rounded(to, 2)} m`;
    const picture = `x ${span(minXM, maxXM)}, y ${span(minYM, maxYM)}`;
    return `${lie} outside the picture of the map (${picture}): ${namingAll(features, outside)}.`;
  });
}

function isOutside({ shape }: Feature, edges: Bounds): boolean {
  if (shape.kind === 'point') return !isWithin(shape.at, edges);
  const first = shape.kind === 'lane' ? shape.line[0] : shape.kind === 'zone' ? shape.rings[0]?.[0] : undefined;
  if (first === undefined || isWithin(first, edges)) return false;
  const bounds = boundsOf(shape);
  if (bounds === null) return false;
  const isBeside = bounds.maxXM < edges.minXM || bounds.minXM > edges.maxXM;
  return isBeside || bounds.maxYM < edges.minYM || bounds.minYM > edges.maxYM;
}

function isWithin(place: Place, { minXM, minYM, maxXM, maxYM }: Bounds): boolean {
  return place[0] >= minXM && place[0] <= maxXM && place[1] >= minYM && place[1] <= maxYM;
}
