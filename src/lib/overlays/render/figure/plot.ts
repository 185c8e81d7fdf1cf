import { type Markup, markup } from '../../../markup/index.ts';
import { placesOf } from '../../geometry.ts';
import type { Feature, Place } from '../../model.ts';
import { unit } from '../lines.ts';
import { dashOf, hatchId, MIN_RADIUS_WITH_NUMBER, marker, outlineOf, type SignStyle } from '../marks.ts';
import type { Box } from './labels.ts';
import type { Sheet } from './sheet.ts';

/** Units of paper. Corners nearer than this to the previous one are invisible. */
const MIN_STEP = 0.35;
/** Corners of one outline. Larger outlines are simplified, with a note on the sheet. */
const MAX_CORNERS = 20_000;

export interface Outline {
  /** Path data; empty without corners. */
  readonly d: string;
  /** The same, line by line or ring by ring. */
  readonly paths: readonly string[];
  /** The corners that were kept, on paper, ring by ring. */
  readonly rings: readonly (readonly (readonly [x: number, y: number])[])[];
  /** Visible corners were left out. */
  readonly isSimplified: boolean;
}

/** A lane or a zone as path data. Coinciding corners are rendered once: a ring may have a million. */
export function outline(rings: readonly (readonly Place[])[], isClosed: boolean, sheet: Sheet): Outline {
  const paths: string[] = [];
  let isSimplified = false;
  const kept: (readonly (readonly [number, number])[])[] = [];
  for (const ring of rings) {
    let corners: (readonly [number, number])[] = [];
    let [lastX, lastY] = [Number.NaN, Number.NaN];
    for (const [at, place] of ring.entries()) {
      const [x, y] = [unit(sheet.x(place[0])), unit(sheet.y(place[1]))];
      const isNear = Math.abs(x - lastX) < MIN_STEP && Math.abs(y - lastY) < MIN_STEP;
      if (isNear && at !== ring.length - 1) continue;
      corners.push([x, y]);
      [lastX, lastY] = [x, y];
    }
    if (corners.length > MAX_CORNERS) {
      const every = Math.ceil(corners.length / MAX_CORNERS);
      corners = corners.filter((_, at) => at % every === 0);
      isSimplified = true;
    }
    if (corners.length === 0) continue;
    paths.push(`M${corners.map(([x, y]) => `${x} ${y}`).join('L')}${isClosed ? 'Z' : ''}`);
    kept.push(corners);
  }
  return { d: paths.join(''), paths, rings: kept, isSimplified };
}

/** A feature on paper. */
export interface PlaceOnPaper {
  readonly x: number;
  readonly y: number;
  /** The further places of a MultiPoint. */
  readonly others: readonly { readonly x: number; readonly y: number }[];
  readonly outline: Outline | null;
}

/** Where a feature is on paper, and its outline; null when it is not on the sheet. */
export function placeOnPaper({ shape }: Feature, sheet: Sheet): PlaceOnPaper | null {
  if (shape.kind === 'point') {
    const [first, ...others] = placesOf(shape)
      .map(([xM, yM]) => ({ x: sheet.x(xM), y: sheet.y(yM) }))
      .filter(({ x, y }) => x >= 0 && y >= 0 && x <= sheet.width && y <= sheet.height);
    return first === undefined ? null : { ...first, others, outline: null };
  }
  if (shape.kind !== 'lane' && shape.kind !== 'zone') return null;
  const path = shape.kind === 'lane' ? outline(shape.lines, false, sheet) : outline(shape.rings, true, sheet);
  const place = shape.kind === 'lane' ? middleOf(path) : insideOf(path);
  return place && { x: place[0], y: place[1], others: [], outline: path };
}

/** `isClear`: further rings are holes. Otherwise every ring is filled, as the rules read it. */
export function zonePath({ d, paths }: Outline, style: SignStyle, isClear: boolean): Markup {
  const hatch = markup`fill="url(#${hatchId(style.sign)})"`;
  const filled = isClear ? null : markup`${paths.map((path) => markup`<path d="${path}" ${hatch}/>`)}`;
  return markup`${filled}<path d="${d}" ${hatch} fill-rule="evenodd" stroke="#fff" stroke-width="4.6" stroke-linejoin="round" stroke-opacity="0.85"/><path d="${d}" fill="${style.color}" fill-opacity="0.07" fill-rule="evenodd" stroke="${style.color}" stroke-width="2" stroke-linejoin="round"${dashOf(style, 2)}/>`;
}

export function lanePath({ d }: Outline, style: SignStyle): Markup {
  return markup`<path d="${d}" fill="none" stroke="#fff" stroke-width="6.4" stroke-linecap="round" stroke-linejoin="round" stroke-opacity="0.9"/><path d="${d}" fill="none" stroke="${style.color}" stroke-width="3.2" stroke-linejoin="round"${dashOf(style, 3.2)}/>`;
}

/** The upper right corner, for the badge of a finding. */
export function badgeCorner({ rings }: Outline): readonly [number, number] | null {
  let best: readonly [number, number] | null = null;
  for (const corner of rings[0] ?? []) {
    if (best === null || corner[0] - corner[1] > best[0] - best[1]) best = corner;
  }
  return best;
}

/**
 * A place inside a zone: the middle of its widest section along one of several horizontal lines. Linear in the corners,
 * and inside even where the centroid is not. The first corner where the zone has no inside.
 */
function insideOf({ rings }: Outline): readonly [number, number] | null {
  const outer = rings[0] ?? [];
  const first = outer[0];
  if (first === undefined) return null;
  const ys = outer.map(([, y]) => y);
  const [top, bottom] = [ys.reduce((a, b) => Math.min(a, b)), ys.reduce((a, b) => Math.max(a, b))];
  let best = { width: 0, x: first[0], y: first[1] };
  for (const part of [0.5, 0.42, 0.58, 0.3, 0.7]) {
    const y = top + part * (bottom - top) + 0.013;
    const crossings: number[] = [];
    for (const ring of rings) {
      let from = ring.at(-1);
      for (const to of ring) {
        if (from && from[1] > y !== to[1] > y) {
          crossings.push(from[0] + ((y - from[1]) / (to[1] - from[1])) * (to[0] - from[0]));
        }
        from = to;
      }
    }
    crossings.sort((a, b) => a - b);
    for (let at = 0; at + 1 < crossings.length; at += 2) {
      const [left, right] = [crossings[at] ?? 0, crossings[at + 1] ?? 0];
      // The middle line is preferred: another must be clearly wider.
      const width = (right - left) * (part === 0.5 ? 1.25 : 1);
      if (width > best.width) best = { width, x: (left + right) / 2, y };
    }
  }
  return [best.x, best.y];
}

/** The midpoint of a line, by its length on paper. */
function middleOf({ rings }: Outline): readonly [number, number] | null {
  const line = rings[0] ?? [];
  const lengths: number[] = [];
  for (let at = 1; at < line.length; at += 1) {
    const [from, to] = [line[at - 1], line[at]];
    lengths.push(from && to ? Math.hypot(to[0] - from[0], to[1] - from[1]) : 0);
  }
  let rest = lengths.reduce((a, b) => a + b, 0) / 2;
  for (const [at, length] of lengths.entries()) {
    const [from, to] = [line[at], line[at + 1]];
    if (from && to && rest <= length) {
      const part = length > 0 ? rest / length : 0;
      return [from[0] + part * (to[0] - from[0]), from[1] + part * (to[1] - from[1])];
    }
    rest -= length;
  }
  return line[0] ?? null;
}

/** Boxes along an outline that labels avoid; bounded for any length. */
export function* boxesAlong({ rings }: Outline, isClosed: boolean, sheet: Sheet): Generator<Box> {
  let budget = 400;
  for (const ring of rings) {
    let from = isClosed ? ring.at(-1) : undefined;
    for (const to of ring) {
      if (from) {
        const steps = Math.min(60, Math.max(1, Math.ceil(Math.hypot(to[0] - from[0], to[1] - from[1]) / 14)));
        for (let step = 0; step < steps; step += 1) {
          const [a, b] = [step / steps, (step + 1) / steps];
          const [xa, xb] = [from[0] + a * (to[0] - from[0]), from[0] + b * (to[0] - from[0])];
          const [ya, yb] = [from[1] + a * (to[1] - from[1]), from[1] + b * (to[1] - from[1])];
          const box = {
            x0: Math.min(xa, xb) - 2,
            y0: Math.min(ya, yb) - 2,
            x1: Math.max(xa, xb) + 2,
            y1: Math.max(ya, yb) + 2,
          };
          if (box.x1 < 0 || box.y1 < 0 || box.x0 > sheet.width || box.y0 > sheet.height) continue;
          if (budget-- <= 0) return;
          yield box;
        }
      }
      from = to;
    }
  }
}

/** Start and end of the heading arrow of a point. Degrees counter-clockwise, 0 along +x; y is up on the sheet. */
export function arrowOf(x: number, y: number, deg: number, r: number) {
  const angle = ((deg % 360) * Math.PI) / 180;
  const length = r + Math.max(9, r * 1.9);
  return { x0: x, y0: y, x1: x + Math.cos(angle) * length, y1: y - Math.sin(angle) * length, angle };
}

/** Heading arrows of one size, in three paths for any number. */
export function arrowPaths(arrows: readonly ReturnType<typeof arrowOf>[], r: number): Markup | null {
  if (arrows.length === 0) return null;
  const head = Math.max(5, r * 0.85);
  let shafts = '';
  let tips = '';
  for (const { x0, y0, x1, y1, angle } of arrows) {
    const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
    const at = (along: number, across: number) =>
      `${unit(x1 + cos * along - sin * across)} ${unit(y1 - sin * along - cos * across)}`;
    shafts += `M${unit(x0)} ${unit(y0)}L${at(-head * 0.7, 0)}`;
    tips += `M${at(0, 0)}L${at(-head, head * 0.55)}L${at(-head * 0.7, 0)}L${at(-head, -head * 0.55)}Z`;
  }
  const isLarge = r > 7;
  return markup`<path d="${shafts}${tips}" fill="#fff" stroke="#fff" stroke-width="${isLarge ? 5 : 3}" stroke-linejoin="round"/><path d="${shafts}" stroke="#111" stroke-width="${isLarge ? 2.2 : 1.3}" fill="none"/><path d="${tips}" fill="#111"/>`;
}

const badgeColors = { wrong: '#b00020', warning: '#111111' } as const;

/** A finding: a filled disc with a cross for 'wrong', an empty one with an exclamation mark for 'warning'. */
export function badge(kind: 'wrong' | 'warning', x: number, y: number, r = 6.5): Markup {
  const color = badgeColors[kind];
  const [cx, cy, q] = [unit(x), unit(y), r * 0.42];
  if (kind === 'wrong') {
    const cross = `M${unit(x - q)} ${unit(y - q)}L${unit(x + q)} ${unit(y + q)}M${unit(x + q)} ${unit(y - q)}L${unit(x - q)} ${unit(y + q)}`;
    return markup`<circle cx="${cx}" cy="${cy}" r="${r}" fill="${color}" stroke="#fff" stroke-width="1.5"/><path d="${cross}" stroke="#fff" stroke-width="1.8" stroke-linecap="round"/>`;
  }
  const bang = `M${cx} ${unit(y - r * 0.52)}V${unit(y + r * 0.12)}M${cx} ${unit(y + r * 0.5)}v0.01`;
  return markup`<circle cx="${cx}" cy="${cy}" r="${r}" fill="#fff" stroke="${color}" stroke-width="1.6"/><path d="${bang}" stroke="${color}" stroke-width="2" stroke-linecap="round"/>`;
}

/** The dimension line between a charger and its docking point, offset so that headings stay visible. */
export function measureLine(a: readonly [number, number], b: readonly [number, number], offset: number) {
  const [dx, dy] = [b[0] - a[0], b[1] - a[1]];
  const length = Math.hypot(dx, dy) || 1;
  const [nx, ny] = [(-dy / length) * offset, (dx / length) * offset];
  const [ux, uy] = [(dx / length) * 4, (dy / length) * 4];
  const [from, to] = [
    [a[0] + nx, a[1] + ny],
    [b[0] + nx, b[1] + ny],
  ] as const;
  const p = (x: number, y: number) => `${unit(x)} ${unit(y)}`;
  const over = 1.25;
  const help = `M${p(a[0], a[1])}L${p(a[0] + nx * over, a[1] + ny * over)}M${p(b[0], b[1])}L${p(b[0] + nx * over, b[1] + ny * over)}`;
  const tick = (x: number, y: number) =>
    `M${p(x - (ux + nx / offset) * 0.9, y - (uy + ny / offset) * 0.9)}L${p(x + (ux + nx / offset) * 0.9, y + (uy + ny / offset) * 0.9)}`;
  const line = `M${p(from[0], from[1])}L${p(to[0], to[1])}`;
  const shape = markup`<path d="${help}" stroke="#111" stroke-width="0.8" stroke-dasharray="2 2" fill="none"/><path d="${line}" stroke="#fff" stroke-width="4" fill="none"/><path d="${line}${tick(from[0], from[1])}${tick(to[0], to[1])}" stroke="#111" stroke-width="1.3" fill="none"/>`;
  const middle = [(from[0] + to[0]) / 2, (from[1] + to[1]) / 2] as const;
  const steps = Math.min(60, Math.ceil(length / 10));
  const boxes: Box[] = Array.from({ length: steps + 1 }, (_, at) => {
    const [x, y] = [from[0] + (at / steps) * (to[0] - from[0]), from[1] + (at / steps) * (to[1] - from[1])];
    return { x0: x - 4, y0: y - 4, x1: x + 4, y1: y + 4 };
  });
  const slope = (Math.atan2(dy, dx) * 180) / Math.PI;
  // Never upside down.
  const turn = slope > 90 ? slope - 180 : slope <= -90 ? slope + 180 : slope;
  const along = (text: string) =>
    markup`<text transform="translate(${p(middle[0], middle[1])}) rotate(${unit(turn)})" y="-5" font-size="11" font-weight="700" text-anchor="middle" paint-order="stroke" stroke="#fff" stroke-width="3">${text}</text>`;
  return { shape, middle, boxes, along };
}

/** One path for very many markers, which are indistinguishable anyway. */
export function markersPath(places: readonly (readonly [number, number])[], style: SignStyle, r: number): Markup {
  const d = places.map(([x, y]) => outlineOf(style, x, y, r)).join('');
  return markup`<path d="${d}" fill="${style.tint}" stroke="${style.color}" stroke-width="1"/>`;
}

export function pointMarker(feature: Feature, style: SignStyle, x: number, y: number, r: number): Markup {
  return marker(style, x, y, r, holdsNumber(feature, r) ? String(feature.code?.number) : null);
}

/** Digits that fit into the marker of a point. */
const MAX_DIGITS = 4;

/** Whether the number fits into the marker of a feature; otherwise its label shows it. */
export function holdsNumber({ kind, code }: Feature, r: number): boolean {
  if (kind !== 'point' || code === null || code.number === null) return false;
  return r >= MIN_RADIUS_WITH_NUMBER && String(code.number).length <= MAX_DIGITS;
}
