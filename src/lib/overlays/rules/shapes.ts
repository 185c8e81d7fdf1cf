import { quote } from '../../json/index.ts';
import { plural } from '../../text/index.ts';
import { extentOf } from '../frame.ts';
import { areaM2, type Bounds, boundsAround, isClosed, lengthM, partsOf } from '../geometry.ts';
import type { Feature, Place, Shape } from '../model.ts';
import type { Meeting } from './edges.ts';
import { createBudget, type RuleInput } from './input.ts';
import { type Relation, type RingFault, readOutline } from './rings.ts';
import { MIN_LANE_M, MIN_ZONE_M2 } from './table.ts';
import { listing, naming, namingAll, rounded, spot } from './wording.ts';

const MAX_RING_FAULTS = 3;

/** Invalid and unknown geometries, lanes of no length, and faulty outlines of zones. */
export function findShapeFaults({ overlays: { features, rawOf }, zones, steps, report }: RuleInput): void {
  const unknown = new Map<string, number[]>();
  const unclosed: number[] = [];
  const unfinished: number[] = [];
  const budget = createBudget(steps);
  for (const feature of features) {
    const { shape, index } = feature;
    if (shape.kind === 'broken') {
      report('broken-geometry', [index], () => `${naming(feature)} cannot be placed on the map: ${shape.problem}.`);
    } else if (shape.kind === 'other') {
      const what = unreadWords(shape.type, rawOf(feature).geometry);
      const alike = unknown.get(what);
      if (alike === undefined) unknown.set(what, [index]);
      else alike.push(index);
    } else if (shape.kind === 'lane') checkLane(feature, shape.lines);
  }
  for (const zone of zones) checkZone(zone, partsOf(zone.shape));
  for (const [what, alike] of unknown) {
    report('unknown-geometry', alike, () => {
      const have = plural(alike.length, 'feature has', 'features have');
      return `${have} ${what}: ${namingAll(features, alike)}.`;
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
      return `Not checked to the end whether ${zones} and which rings are holes: ${namingAll(features, unfinished)}.`;
    });
  }

  function checkLane(feature: Feature, lines: readonly (readonly Place[])[]): void {
    const shortest = lines.reduce((least, line) => Math.min(least, lengthM(line)), Number.POSITIVE_INFINITY);
    if (shortest >= MIN_LANE_M) return;
    report('lane-tiny', [feature.index], () => {
      const what = lines.length === 1 ? naming(feature) : `A line of ${naming(feature)}`;
      return `${what} is ${rounded(shortest, 6)} m long.`;
    });
  }

  function checkZone(feature: Feature, parts: ReturnType<typeof partsOf>): void {
    const { index } = feature;
    if (parts.some((rings) => rings.some((ring) => !isClosed(ring)))) unclosed.push(index);
    let meeting: Meeting | null = null;
    let isFinished = true;
    const faults: string[] = [];
    for (const [at, part] of parts.entries()) {
      const outline = readOutline(part, budget);
      if (outline.meeting === 'not-finished' || outline.faults === 'not-finished') {
        isFinished = false;
        continue;
      }
      if (meeting === null || outline.meeting?.how === 'crosses') meeting = outline.meeting ?? meeting;
      const polygon = parts.length === 1 ? '' : `polygon ${at + 1} of `;
      const whole =
        faults.length === 0 ? ` of ${polygon}${naming(feature)}` : parts.length === 1 ? '' : ` of polygon ${at + 1}`;
      for (const [nth, fault] of outline.faults.entries()) faults.push(faultWords(fault, nth === 0 ? whole : ''));
    }
    if (!isFinished) unfinished.push(index);
    if (faults.length > 0) {
      report('ring-no-hole', [index], () => `R${listing(faults.slice(0, MAX_RING_FAULTS), faults.length).slice(1)}.`);
    }
    const how = meeting?.how ?? null;
    const area = parts.reduce((least, part) => Math.min(least, areaM2(part[0] ?? [])), Number.POSITIVE_INFINITY);
    // The area of a self-crossing outline is meaningless, since its parts cancel out; a tiny zone often touches itself.
    const isTiny = how !== 'crosses' && area < MIN_ZONE_M2;
    if (isTiny) report('zone-tiny', [index], () => `${naming(feature)} measures ${rounded(area, 6)} m².`);
    else if (meeting !== null) {
      const rule = how === 'crosses' ? 'zone-crosses-itself' : 'zone-touches-itself';
      const place = spot(meeting.at);
      const [one, other] = meeting.rings;
      const what = ringWords(one === other ? one : Math.max(one, other), naming(feature));
      const which = one === other ? 'itself' : otherWords(Math.min(one, other));
      report(rule, [index], () => `${what} ${how} ${which} at ${place} m.`);
    }
  }
}

/** The geometry that a feature has, as far as a sentence needs it. */
function unreadWords(type: string | null, geometry: unknown): string {
  if (type !== null) return `the geometry ${quote(type)}, which gw neither renders nor checks`;
  if (geometry === null || geometry === undefined) return 'no geometry, so that gw knows no place to check';
  const what = typeof geometry === 'object' && !Array.isArray(geometry) ? 'without a type' : 'that is not an object';
  return `a geometry ${what}, which gw neither renders nor checks`;
}

const relationWords = {
  same: (other: string) => `equals ${other}`,
  around: (other: string) => `lies around ${other}`,
  beside: (other: string) => `lies beside ${other}`,
  inside: (other: string) => `lies inside ${other}`,
  overlaps: (other: string) => `overlaps ${other} partly`,
} as const satisfies Readonly<Record<Relation, (other: string) => string>>;

function faultWords({ ring, other, how }: RingFault, whole: string): string {
  return `ring ${ring + 1}${whole} ${relationWords[how](otherWords(other))}`;
}

function ringWords(ring: number, zone: string): string {
  return ring === 0 ? `The outline of ${zone}` : `Ring ${ring + 1} of ${zone}`;
}

function otherWords(ring: number): string {
  return ring === 0 ? 'its outline' : `ring ${ring + 1}`;
}

/** Features outside the picture of the map: with a place of a point, or a lane or a zone that is entirely outside. */
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

/** Each part of a geometry is judged as a feature of its own would be. */
function isOutside({ shape }: Feature, edges: Bounds): boolean {
  return linesOf(shape).some((line) => isLineOutside(line, edges));
}

/** The points, lines and outlines of a feature. */
function linesOf(shape: Shape): readonly (readonly Place[])[] {
  if (shape.kind === 'point') return shape.places === undefined ? [[shape.at]] : shape.places.map((at) => [at]);
  if (shape.kind === 'lane') return shape.lines;
  return shape.kind === 'zone' ? partsOf(shape).map(([outline = []]) => outline) : [];
}

function isLineOutside(line: readonly Place[], edges: Bounds): boolean {
  const [first] = line;
  if (first === undefined || isWithin(first, edges)) return false;
  const bounds = boundsAround(line);
  if (bounds === null) return false;
  const isBeside = bounds.maxXM < edges.minXM || bounds.minXM > edges.maxXM;
  return isBeside || bounds.maxYM < edges.minYM || bounds.minYM > edges.maxYM;
}

function isWithin(place: Place, { minXM, minYM, maxXM, maxYM }: Bounds): boolean {
  return place[0] >= minXM && place[0] <= maxXM && place[1] >= minYM && place[1] <= maxYM;
}
