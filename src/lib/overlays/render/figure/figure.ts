import { type Markup, markup, type Part } from '../../../markup/index.ts';
import { plural } from '../../../text/index.ts';
import { onlyPlaceOf, partsOf } from '../../geometry.ts';
import type { ChargerPair, Feature, Inspection } from '../../model.ts';
import { isClear } from '../../rules/rings.ts';
import { figure, listed, oneLine, unit } from '../lines.ts';
import { hatches, type Sign, type SignStyle, signOrder, signs } from '../marks.ts';
import { kindWords, type LabelLines, labelsOf, lineHeight, signOf, sizeOf, tooltipOf } from '../wording.ts';
import { type Box, createOccupancy, type Occupancy, placeLabel } from './labels.ts';
import {
  arrowOf,
  arrowPaths,
  badge,
  badgeCorner,
  boxesAlong,
  holdsNumber,
  lanePath,
  markersPath,
  measureLine,
  type Outline,
  placeOnPaper,
  pointMarker,
  zonePath,
} from './plot.ts';
import { layOut, type Sheet } from './sheet.ts';
import { background, margins, surround } from './surround.ts';

/** Above this number of features the sheet shows shapes without labels, tooltips and links, which would be illegible. */
const MAX_LABELLED = 4000;
const MAX_EDGE_MARKS = 12;
const MAX_LISTED = 8;

/** The map as a picture: inner markup of an `<svg>` of this size, with notes. */
export interface Figure {
  readonly content: Markup;
  readonly width: number;
  readonly height: number;
  /** The features with an anchor, `#m12`. */
  readonly shapes: ReadonlySet<number>;
  /** Sentences on features that are missing on the sheet or simplified. */
  readonly notes: readonly string[];
  /** The signs that the legend explains. */
  readonly shown: {
    readonly signs: readonly Sign[];
    readonly arrow: boolean;
    readonly pair: boolean;
    readonly wrong: boolean;
    readonly warning: boolean;
    readonly edge: boolean;
  };
}

interface Item {
  readonly feature: Feature;
  readonly style: SignStyle;
  /** Anchor of its label, on paper. */
  readonly x: number;
  readonly y: number;
  readonly others: readonly { readonly x: number; readonly y: number }[];
  readonly outline: Outline | null;
  readonly flaw: 'wrong' | 'warning' | null;
}

/** Renders the selected features over the picture of the map. Those in `rows` link to their row on the page, `#d12`. */
export function renderFigure(inspection: Inspection, image: Uint8Array | null, rows: ReadonlySet<number>): Figure {
  const { selected, frame, codeBook, overlays } = inspection;
  const sheet = layOut(
    { features: selected, frame, isPart: selected.length < overlays.features.length },
    { longSide: 980, shortSide: 690 },
  );
  const beyond = new Set(sheet.beyond);
  const flaws = flawsOf(inspection);
  const items: Item[] = [];
  const notRendered: Feature[] = [];
  for (const feature of selected) {
    if (beyond.has(feature)) continue;
    const item = itemOf(feature, sheet, signs[signOf(feature, codeBook)], flaws.get(feature.index) ?? null);
    if (item) items.push(item);
    else notRendered.push(feature);
  }
  const kinds = (kind: Feature['kind']) => items.filter(({ feature }) => feature.kind === kind);
  const [zones, lanes, points] = [
    kinds('zone').sort((a, b) => extentOf(b) - extentOf(a)),
    kinds('lane'),
    kinds('point'),
  ];
  const r = radiusFor(points.length, sheet);
  const isLabelled = items.length <= MAX_LABELLED;
  const pairs = isLabelled ? pairsOn(inspection.pairs, points) : [];
  const occupancy = createOccupancy(sheet.width, sheet.height);
  const letters = isLabelled
    ? letter({ zones, lanes, points, pairs, sheet, occupancy, r }, inspection)
    : { labels: [], omitted: 0 };
  const { under, over } = surround(sheet);
  const edge = isLabelled ? edgeMarks(sheet.beyond.slice(0, MAX_EDGE_MARKS), sheet) : [];
  const width = Math.max(sheet.width + margins.left + margins.right, 560);
  const wrapItem = (item: Item, content: Part) => (isLabelled ? wrapped(item, content, inspection, rows) : content);
  const content = markup`<defs>${hatches()}<clipPath id="gw-sheet"><rect width="${unit(sheet.width)}" height="${unit(sheet.height)}"/></clipPath></defs><g transform="translate(${unit(margins.left + (width - sheet.width - margins.left - margins.right) / 2)} ${margins.top})"><g clip-path="url(#gw-sheet)">${background(sheet, image, frame?.width ?? null)}${under}${zones.map((item) => wrapItem(item, item.outline && zonePath(item.outline, item.style, hasClearInside(item.feature))))}${lanes.map((item) => wrapItem(item, item.outline && lanePath(item.outline, item.style)))}${pairs.map(({ line }) => line.shape)}${
    isLabelled
      ? [
          arrowPaths(
            points.flatMap((item) => {
              const deg = item.feature.yaw?.deg;
              return deg == null ? [] : placesOf(item).map(({ x, y }) => arrowOf(x, y, deg, r));
            }),
            r,
          ),
          ...points.map((item) =>
            wrapItem(
              item,
              placesOf(item).map(({ x, y }) => pointMarker(item.feature, item.style, x, y, r)),
            ),
          ),
        ]
      : signOrder.map((sign) =>
          markersPath(
            points
              .filter(({ style }) => style.sign === sign)
              .flatMap((item) => placesOf(item).map(({ x, y }) => [x, y] as const)),
            signs[sign],
            r,
          ),
        )
  }${isLabelled ? badges(items, r) : null}${letters.labels}</g>${over}${edge}</g>`;
  return {
    content,
    width,
    height: sheet.height + margins.top + margins.bottom,
    shapes: new Set(isLabelled ? items.map(({ feature }) => feature.index) : []),
    notes: notesOf({ sheet, notRendered, items, omitted: letters.omitted, isLabelled, image, inspection }),
    shown: {
      signs: signOrder.filter((sign) => items.some(({ style }) => style.sign === sign)),
      arrow: isLabelled && points.some(({ feature }) => feature.yaw?.deg != null),
      pair: pairs.length > 0,
      wrong: isLabelled && items.some(({ flaw }) => flaw === 'wrong'),
      warning: isLabelled && items.some(({ flaw }) => flaw === 'warning'),
      edge: edge.length > 0,
    },
  };
}

/** The worst finding, wrong or warning, of every feature. */
function flawsOf({ findings }: Inspection): ReadonlyMap<number, 'wrong' | 'warning'> {
  const flaws = new Map<number, 'wrong' | 'warning'>();
  for (const { severity, features } of findings) {
    if (severity !== 'wrong' && severity !== 'warning') continue;
    for (const index of features) if (severity === 'wrong' || !flaws.has(index)) flaws.set(index, severity);
  }
  return flaws;
}

function itemOf(feature: Feature, sheet: Sheet, style: SignStyle, flaw: Item['flaw']): Item | null {
  const place = placeOnPaper(feature, sheet);
  return place && { feature, style, flaw, ...place };
}

function hasClearInside({ shape }: Feature): boolean {
  return shape.kind !== 'zone' || partsOf(shape).every(isClear);
}

/** The places of a point on paper. */
function placesOf(item: Item): readonly { readonly x: number; readonly y: number }[] {
  return item.others.length === 0 ? [item] : [item, ...item.others];
}

function extentOf({ outline: path }: Item): number {
  const box = path && boxAround(path);
  return box ? (box.x1 - box.x0) * (box.y1 - box.y0) : 0;
}

export function boxAround({ rings }: Outline): Box {
  let box = { x0: Infinity, y0: Infinity, x1: -Infinity, y1: -Infinity };
  for (const [x, y] of rings[0] ?? []) {
    box = { x0: Math.min(box.x0, x), y0: Math.min(box.y0, y), x1: Math.max(box.x1, x), y1: Math.max(box.y1, y) };
  }
  return box;
}

/** Radius of the markers, smaller where there are many. */
function radiusFor(points: number, { width, height }: Sheet): number {
  const spacing = Math.sqrt((width * height) / Math.max(1, points));
  return Math.max(2.5, Math.min(11, spacing * 0.16));
}

function pairsOn(pairs: readonly ChargerPair[], points: readonly Item[]) {
  const byIndex = new Map(points.map((item) => [item.feature.index, item]));
  return pairs.flatMap((pair) => {
    const [charger, dock] = [pair.charger, pair.dockingPoint].map((index) =>
      index === null ? undefined : byIndex.get(index),
    );
    if (!charger || !dock || pair.distanceM === null) return [];
    const line = measureLine([charger.x, charger.y], [dock.x, dock.y], 26);
    return [{ line, text: `${figure(pair.distanceM, 3)} m` }];
  });
}

interface Lettering {
  readonly zones: readonly Item[];
  readonly lanes: readonly Item[];
  readonly points: readonly Item[];
  readonly pairs: ReturnType<typeof pairsOn>;
  readonly sheet: Sheet;
  readonly occupancy: Occupancy;
  readonly r: number;
}

/** Occupies markers and outlines, then places the labels, the most important first. */
function letter({ zones, lanes, points, pairs, sheet, occupancy, r }: Lettering, { codeBook }: Inspection) {
  for (const item of points) {
    const deg = item.feature.yaw?.deg;
    for (const { x, y } of placesOf(item)) {
      occupancy.add(square(x, y, r + 1));
      if (deg != null) for (const box of alongArrow(x, y, deg, r)) occupancy.add(box);
    }
  }
  for (const { outline: lane } of lanes)
    if (lane) for (const box of boxesAlong(lane, false, sheet)) occupancy.add(box, 'soft');
  for (const { outline: zone } of zones)
    if (zone) for (const box of boxesAlong(zone, true, sheet)) occupancy.add(box, 'soft');
  for (const item of [...points, ...zones, ...lanes]) {
    const place = badgeAt(item, r);
    if (place) occupancy.add(square(place.x, place.y, place.r));
  }
  const labels: Markup[] = [];
  let omitted = 0;
  for (const { line } of pairs) for (const box of line.boxes) occupancy.add(box);
  for (const { line, text } of pairs) {
    const lines: LabelLines = [[{ text, size: 11.5, color: '#111111', isBold: true }]];
    const [x, y] = line.middle;
    const placed = placeLabel(
      { x, y, clearance: 6, around: null, avoidDeg: null, wordings: [{ ...sizeOf(lines), content: lines }] },
      occupancy,
    );
    // A distance that does not fit beside its line is written along it, so it is never omitted.
    labels.push(placed ? renderLabel(placed.box, placed.content, placed.leader) : line.along(text));
  }
  const order = [
    ...points.filter(({ feature }) => feature.name !== null),
    ...zones,
    ...lanes,
    ...points.filter(({ feature }) => feature.name === null),
  ];
  for (const { feature, x, y, outline: path } of order) {
    const isPoint = feature.kind === 'point';
    const placed = placeLabel(
      {
        x,
        y,
        clearance: isPoint ? r + 3 : feature.kind === 'lane' ? 7 : 2,
        around: feature.kind === 'zone' && path ? boxAround(path) : null,
        avoidDeg: isPoint ? (feature.yaw?.deg ?? null) : null,
        wordings: labelsOf(feature, codeBook, holdsNumber(feature, r)).map((lines) => ({
          ...sizeOf(lines),
          content: lines,
        })),
      },
      occupancy,
    );
    if (placed) labels.push(renderLabel(placed.box, placed.content, placed.leader));
    else omitted += 1;
  }
  return { labels, omitted };
}

function alongArrow(x: number, y: number, deg: number, r: number): Box[] {
  const { x1, y1 } = arrowOf(x, y, deg, r);
  return [0.5, 0.75, 1].map((part) => {
    const [px, py] = [x + part * (x1 - x), y + part * (y1 - y)];
    return square(px, py, 4);
  });
}

function square(x: number, y: number, half: number): Box {
  return { x0: x - half, y0: y - half, x1: x + half, y1: y + half };
}

export function renderLabel(
  box: Box,
  lines: LabelLines,
  leader: { x0: number; y0: number; x1: number; y1: number } | null,
): Markup {
  let top = box.y0 + 1;
  const rows = lines.map((line) => {
    const height = lineHeight(line);
    const baseline = top + height * 0.8;
    top += height;
    const spans = line.map(
      ({ text, size, color, isBold, isName = false }) =>
        markup`<tspan font-size="${size}" fill="${color}"${isBold ? markup` font-weight="700"` : null}${isName ? markup` unicode-bidi="plaintext"` : null}>${text}</tspan>`,
    );
    return markup`<text x="${unit(box.x0 + 2)}" y="${unit(baseline)}" xml:space="preserve">${spans}</text>`;
  });
  const line =
    leader &&
    markup`<path d="M${unit(leader.x0)} ${unit(leader.y0)}L${unit(leader.x1)} ${unit(leader.y1)}" stroke="#333" stroke-width="0.8"/>`;
  return markup`${line}<g paint-order="stroke" stroke="#fff" stroke-width="3.2" stroke-linejoin="round">${rows}</g>`;
}

/** A feature with its tooltip, its anchor and, on a page, a link to its row. */
function wrapped({ feature }: Item, content: Part, { codeBook }: Inspection, rows: ReadonlySet<number>): Markup {
  const inner = markup`<title>${tooltipOf(feature, codeBook)}</title>${content}`;
  return rows.has(feature.index)
    ? markup`<a id="m${feature.index}" href="#d${feature.index}">${inner}</a>`
    : markup`<g id="m${feature.index}">${inner}</g>`;
}

/** Position and size of the badge of a feature; null when it has none. */
function badgeAt({ flaw, outline: path, x, y }: Item, r: number) {
  if (flaw === null) return null;
  const corner = path && badgeCorner(path);
  if (corner) return { flaw, x: corner[0] - 2, y: corner[1] + 2, r: 6.5 };
  return { flaw, x: x + r * 1.15, y: y - r * 1.15, r: Math.min(6.5, Math.max(3.5, r * 0.6)) };
}

function badges(items: readonly Item[], r: number): Markup[] {
  return items.flatMap((item) => {
    const place = badgeAt(item, r);
    return place ? [badge(place.flaw, place.x, place.y, place.r)] : [];
  });
}

/** Arrows at the neatline for features beyond it. */
function edgeMarks(beyond: readonly Feature[], sheet: Sheet): Markup[] {
  return beyond.flatMap((feature) => {
    const { shape } = feature;
    const place =
      shape.kind === 'point'
        ? shape.at
        : shape.kind === 'lane'
          ? shape.lines[0]?.[0]
          : shape.kind === 'zone'
            ? shape.rings[0]?.[0]
            : undefined;
    if (place === undefined) return [];
    const [px, py] = [sheet.x(place[0]), sheet.y(place[1])];
    const [x, y] = [Math.max(10, Math.min(sheet.width - 10, px)), Math.max(10, Math.min(sheet.height - 10, py))];
    const turn = (Math.atan2(py - y, px - x) * 180) / Math.PI;
    const isRight = x > sheet.width - 60;
    return [
      markup`<g><title>#${feature.index} is beyond the sheet</title><path d="M8 0L-6 -7V7Z" transform="translate(${unit(x)} ${unit(y)}) rotate(${unit(turn)})" fill="#111" stroke="#fff" stroke-width="1.5"/><text x="${unit(isRight ? x - 12 : x + 12)}" y="${unit(y + 4)}" font-size="10.5" font-weight="700" text-anchor="${isRight ? 'end' : 'start'}" paint-order="stroke" stroke="#fff" stroke-width="3">#${feature.index}</text></g>`,
    ];
  });
}

interface NoteInput {
  readonly sheet: Sheet;
  readonly notRendered: readonly Feature[];
  readonly items: readonly Item[];
  readonly omitted: number;
  readonly isLabelled: boolean;
  readonly image: Uint8Array | null;
  readonly inspection: Inspection;
}

function notesOf({ sheet, notRendered, items, omitted, isLabelled, image, inspection }: NoteInput): string[] {
  const notes: string[] = [];
  const { frame, selected, overlays } = inspection;
  if (frame === null) notes.push('Rendered without the map picture: the source has no valid grid.');
  else if (sheet.picture === null || image === null) notes.push('Rendered without the map picture: there is none.');
  if (selected.length < overlays.features.length) {
    notes.push(
      `Filtered: ${selected.length} of ${overlays.features.length} features; the others are not on the sheet.`,
    );
  }
  if (sheet.beyond.length > 0)
    notes.push(
      `Beyond the sheet: ${listed(
        sheet.beyond.map((feature) => placeWords(feature)),
        MAX_LISTED,
      )}.`,
    );
  if (notRendered.length > 0)
    notes.push(
      `Not rendered: ${listed(
        notRendered.map((feature) => notRenderedText(feature)),
        MAX_LISTED,
      )}.`,
    );
  const simplified = items.filter(({ outline: path }) => path?.isSimplified);
  if (simplified.length > 0)
    notes.push(
      `Simplified outlines: ${listed(
        simplified.map(({ feature }) => `#${feature.index}`),
        MAX_LISTED,
      )}.`,
    );
  if (!isLabelled)
    notes.push(`${items.length} features are too many for labels, headings and badges; use a filter to show them.`);
  if (omitted > 0)
    notes.push(`${plural(omitted, 'label')} omitted for lack of space; every feature is listed by its #.`);
  return notes;
}

function placeWords({ index, shape }: Feature): string {
  const place = onlyPlaceOf(shape);
  return place === null ? `#${index}` : `#${index} at (${figure(place[0], 2)}, ${figure(place[1], 2)}) m`;
}

function notRenderedText({ index, shape, kind }: Feature): string {
  if (shape.kind === 'broken') return `#${index} (${kindWords[kind].toLowerCase()}, ${oneLine(shape.problem, 80)})`;
  if (shape.kind === 'other') return `#${index} (${shape.type === null ? 'no geometry' : oneLine(shape.type, 30)})`;
  return `#${index} (coordinates out of range)`;
}
