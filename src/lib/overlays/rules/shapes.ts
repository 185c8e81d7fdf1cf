import { quote } from '../../json/index.ts';
import { plural } from '../../text/index.ts';
import { extentOf } from '../frame.ts';
import { areaM2, type Bounds, boundsOf, isClosed, partsOf } from '../geometry.ts';
import type { Feature, Place } from '../model.ts';
import { findMeeting } from './edges.ts';
import { createBudget, type RuleInput } from './input.ts';
import { MIN_ZONE_M2 } from './table.ts';
import { naming, namingAll, rounded, spot } from './wording.ts';

/** Invalid and unknown geometries, and faulty outlines of zones. */
export function findShapeFaults({ overlays: { features }, zones, steps, report }: RuleInput): void {
  const unknown = new Map<string | null, number[]>();
  const unclosed: number[] = [];
  const unfinished: number[] = [];
  const budget = createBudget(steps);
  for (const feature of features) {
    const { shape, index } = feature;
    if (shape.kind === 'broken') {
      report('broken-geometry', [index], () => `${naming(feature)} cannot be placed on the map: ${shape.problem}.`);
    } else if (shape.kind === 'other') {
      const alike = unknown.get(shape.type);
      if (alike === undefined) unknown.set(shape.type, [index]);
      else alike.push(index);
    }
  }
  for (const zone of zones) checkZone(zone, partsOf(zone.shape));
  for (const [type, alike] of unknown) {
    report('unknown-geometry', alike, () => {
      const have = plural(alike.length, 'feature has', 'features have');
      const geometry = type === null ? 'no geometry' : `the geometry ${quote(type)}`;
      return `${have} ${geometry}, which gw neither renders nor checks: ${namingAll(features, alike)}.`;
    });
  }
  if (unclosed.length > 0) {
    report('ring-not-closed', unclosed, () => {
      const outlines = plural(unclosed.length, 'zone outline is', 'zone outlines are');
      return `${outlines} not closed: ${namingAll(features, unclosed)}.`;
    });
  }
  if (unfinished.length > 0) {
    report('not-finished', unfinished, () => {
      const zones = plural(unfinished.length, 'zone crosses itself', 'zones cross themselves');
      return `Not checked to the end whether ${zones}: ${namingAll(features, unfinished)}.`;
    });
  }

  function checkZone(feature: Feature, parts: ReturnType<typeof partsOf>): void {
    const { index } = feature;
    if (parts.some((rings) => rings.some((ring) => !isClosed(ring)))) unclosed.push(index);
    let meeting: ReturnType<typeof findMeeting> = null;
    for (const part of parts) {
      const found = findMeeting(part, budget);
      if (meeting === null || found === 'not-finished') meeting = found;
      else if (found?.how === 'crosses' && meeting !== 'not-finished') meeting = found;
    }
    if (meeting === 'not-finished') unfinished.push(index);
    const how = meeting === null || meeting === 'not-finished' ? null : meeting.how;
    const area = parts.reduce((least, part) => Math.min(least, areaM2(part[0] ?? [])), Number.POSITIVE_INFINITY);
    // The area of a self-crossing outline is meaningless, since its parts cancel out; a tiny zone often touches itself.
    const isTiny = how !== 'crosses' && area < MIN_ZONE_M2;
    if (isTiny) report('zone-tiny', [index], () => `${naming(feature)} measures ${rounded(area, 6)} m².`);
    else if (meeting !== null && meeting !== 'not-finished') {
      const rule = how === 'crosses' ? 'zone-crosses-itself' : 'zone-touches-itself';
      const place = spot(meeting.at);
      report(rule, [index], () => `The outline of ${naming(feature)} ${how} itself at ${place} m.`);
    }
  }
}

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
