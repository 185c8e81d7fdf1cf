import { type Markup, markup } from '../../../markup/index.ts';
import { plural } from '../../../text/index.ts';
import { changeWords, indexChange } from '../../diff/diff-wording.ts';
import type { Feature, MapFrame, Overlays } from '../../model.ts';
import type { ChangedFeature, FeatureRef, OverlaysDiff } from '../../schemas.ts';
import { boxAround, renderLabel } from '../figure/figure.ts';
import { createOccupancy, type Occupancy, placeLabel } from '../figure/labels.ts';
import { arrowOf, boxesAlong, outline, placeOnPaper } from '../figure/plot.ts';
import { layOut, type Sheet } from '../figure/sheet.ts';
import { background, margins, surround } from '../figure/surround.ts';
import { isolated, listed, nameText, oneLine, unit } from '../lines.ts';
import { type LabelLines, namesOf, sizeOf } from '../wording.ts';
import { body, glyph, headings, moveArrow, NEW, OLD, type Plotted, placesOf, R, UNCHANGED } from './diff-shapes.ts';

/** The compared overlays, with the picture of the map and its frame. */
export interface DiffSubject {
  readonly diff: OverlaysDiff;
  readonly from: Overlays;
  readonly to: Overlays;
  readonly frame: MapFrame | null;
  readonly image: Uint8Array | null;
}

type ChangeSign = 'changed' | 'added' | 'removed';

export interface DiffFigure {
  readonly content: Markup;
  readonly width: number;
  readonly height: number;
  readonly notes: readonly string[];
  /** Keys of the items on the sheet: `c3`, `a3`, `r3` for changed, added, removed; the anchor is `m-` and the key. */
  readonly keys: ReadonlySet<string>;
  /** The signs that the legend explains. */
  readonly shown: {
    readonly signs: readonly ChangeSign[];
    readonly moved: boolean;
    readonly turned: boolean;
    readonly unchanged: boolean;
  };
}

/** Above the first limit shapes have no labels; above the second, unchanged features are left out. */
const MAX_LABELLED = 400;
const MAX_UNCHANGED = 20_000;
const MAX_LISTED = 12;
interface Item {
  readonly sign: ChangeSign;
  /** c, a or r with the index of the feature. */
  readonly key: string;
  readonly label: string;
  readonly name: string | null;
  readonly id: string | null;
  readonly words: string;
  readonly old: Plotted | null;
  readonly new: Plotted | null;
  readonly turn: { readonly fromDeg: number | null; readonly toDeg: number | null } | null;
  readonly isMoved: boolean;
}

/** Renders the differences over the picture of the map, with unchanged features faint behind them. */
export function renderDiffFigure(subject: DiffSubject, { isLinked }: { readonly isLinked: boolean }): DiffFigure {
  const { diff, from, to, frame, image } = subject;
  const before = new Map(from.features.map((feature) => [feature.index, feature]));
  const after = new Map(to.features.map((feature) => [feature.index, feature]));
  const involved = [...diff.changed.flatMap((it) => [before.get(it.from.index), after.get(it.to.index)])];
  involved.push(...diff.removed.map(({ index }) => before.get(index)));
  involved.push(...diff.added.map(({ index }) => after.get(index)));
  const features = involved.filter((feature) => feature !== undefined);
  const sheet = layOut(
    { features: features.length > 0 ? features : to.features, frame, isPart: features.length > 0 },
    { longSide: 1140, shortSide: 800 },
  );
  const beyond = new Set(sheet.beyond);
  const plot = (feature: Feature | undefined) =>
    feature === undefined || beyond.has(feature) ? null : plotted(feature, sheet);

  const all: Item[] = [
    ...diff.changed.map((change) =>
      changedItem(change, plot(before.get(change.from.index)), plot(after.get(change.to.index))),
    ),
    ...diff.removed.map((ref) => oneSided('removed', ref, plot(before.get(ref.index)))),
    ...diff.added.map((ref) => oneSided('added', ref, plot(after.get(ref.index)))),
  ];
  const items = all.filter((item) => item.old !== null || item.new !== null);
  const unchanged = unchangedFeatures(diff, to);
  const isLabelled = items.length <= MAX_LABELLED;
  const occupancy = createOccupancy(sheet.width, sheet.height);
  const letters = isLabelled ? letter(items, sheet, occupancy) : { labels: [], omitted: 0 };
  const { under, over } = surround(sheet);
  const width = Math.max(sheet.width + margins.left + margins.right, 560);
  const left = unit(margins.left + (width - sheet.width - margins.left - margins.right) / 2);
  const shapes = isLabelled ? items.map((item) => wrapped(item, isLinked)) : inBulk(items);
  const content = markup`<defs><clipPath id="gw-sheet"><rect width="${unit(sheet.width)}" height="${unit(sheet.height)}"/></clipPath></defs><g transform="translate(${left} ${margins.top})"><g clip-path="url(#gw-sheet)">${background(sheet, image, frame?.width ?? null)}${under}${unchanged.length <= MAX_UNCHANGED ? unchangedPaths(unchanged, sheet) : null}${shapes}${letters.labels}</g>${over}</g>`;
  return {
    content,
    width,
    height: sheet.height + margins.top + margins.bottom,
    notes: notesOf(subject, { sheet, all, items, unchanged: unchanged.length, omitted: letters.omitted, isLabelled }),
    keys: new Set(isLabelled ? items.map(({ key }) => key) : []),
    shown: {
      signs: (['changed', 'added', 'removed'] as const).filter((sign) => items.some((item) => item.sign === sign)),
      moved: isLabelled && items.some(({ isMoved }) => isMoved),
      turned: isLabelled && items.some(({ turn }) => turn !== null),
      unchanged: unchanged.length > 0 && unchanged.length <= MAX_UNCHANGED,
    },
  };
}

function changedItem(change: ChangedFeature, old: Plotted | null, now: Plotted | null): Item {
  const turn = change.turns.find(({ field }) => field === 'yaw');
  return {
    sign: 'changed',
    key: `c${change.to.index}`,
    label: indexChange(change.from.index, change.to.index),
    name: change.to.name ?? change.from.name,
    id: change.to.id ?? change.from.id,
    words: changeWords(change),
    // An unchanged geometry is rendered once.
    old: change.shape === null ? null : old,
    new: now,
    turn: turn === undefined || turn.turnedDeg === 0 ? null : { fromDeg: turn.fromDeg, toDeg: turn.toDeg },
    // No arrow for a zone of which only some corners moved.
    isMoved: change.shape?.isMovedAsWhole === true,
  };
}

function oneSided(sign: 'added' | 'removed', { index, name, id }: FeatureRef, at: Plotted | null): Item {
  const common = { sign, label: `#${index}`, name, id, words: sign, turn: null, isMoved: false };
  return sign === 'removed'
    ? { ...common, key: `r${index}`, old: at, new: null }
    : { ...common, key: `a${index}`, old: null, new: at };
}

function plotted(feature: Feature, sheet: Sheet): Plotted | null {
  const place = placeOnPaper(feature, sheet);
  const { kind } = feature.shape;
  return place && { ...place, isPoint: kind === 'point', isClosed: kind === 'zone' };
}

function unchangedFeatures(diff: OverlaysDiff, to: Overlays): Feature[] {
  const touched = new Set([...diff.changed.map((change) => change.to.index), ...diff.added.map(({ index }) => index)]);
  return to.features.filter(({ index }) => !touched.has(index));
}

/** Unchanged features, in three paths for any number. */
function unchangedPaths(features: readonly Feature[], sheet: Sheet): Markup {
  const parts = { zone: '', lane: '', point: '' };
  for (const feature of features) {
    const { kind } = feature.shape;
    if (kind === 'point') {
      const place = plotted(feature, sheet);
      for (const { x, y } of place ? placesOf(place) : []) parts.point += `M${unit(x - 2.5)} ${unit(y)}h5m-2.5 -2.5v5`;
    } else if (kind === 'zone') parts.zone += outline(feature.shape.rings, true, sheet).d;
    else if (kind === 'lane') parts.lane += outline(feature.shape.lines, false, sheet).d;
  }
  return markup`<path d="${parts.zone}" fill="none" stroke="${UNCHANGED}" stroke-width="1"/><path d="${parts.lane}" fill="none" stroke="${UNCHANGED}" stroke-width="1.6"/><path d="${parts.point}" fill="none" stroke="${UNCHANGED}" stroke-width="1.2"/>`;
}

/** Very many differences in few paths, without anchors. */
function inBulk(items: readonly Item[]): Markup {
  const r = 3;
  const of = (side: 'old' | 'new') => {
    const parts = { line: '', area: '', point: '' };
    for (const item of items) {
      const place = item[side];
      if (place === null) continue;
      if (place.isPoint) {
        for (const { x, y } of placesOf(place)) parts.point += `M${unit(x - r)} ${unit(y)}a${r} ${r} 0 1 1 0 .1Z`;
      } else parts[place.isClosed ? 'area' : 'line'] += place.outline?.d ?? '';
    }
    const isOld = side === 'old';
    const stroke = (dash: string) =>
      markup`stroke="${isOld ? OLD : NEW}"${isOld ? markup` stroke-dasharray="${dash}"` : null}`;
    return markup`<path d="${parts.area}" fill="none" ${stroke('4 3')} stroke-width="1.6"/><path d="${parts.line}" fill="none" ${stroke('4 3')} stroke-width="${isOld ? 5 : 2}"/><path d="${parts.point}" fill="${isOld ? 'none' : NEW}" ${stroke('2 1.2')} stroke-width="1"/>`;
  };
  return markup`${of('old')}${of('new')}`;
}

function wrapped(item: Item, isLinked: boolean): Markup {
  const name = item.name === null ? '' : ` ${isolated(nameText(item.name))}`;
  const id = item.id === null ? '' : ` (${isolated(oneLine(item.id, 60))})`;
  const inner = markup`<title>${item.label}${name}${id}: ${oneLine(item.words, 200)}</title>${shapeOf(item)}`;
  return isLinked
    ? markup`<a id="m-${item.key}" href="#${item.key}">${inner}</a>`
    : markup`<g id="m-${item.key}">${inner}</g>`;
}

function shapeOf({ sign, old, new: now, turn, isMoved }: Item): Markup {
  return markup`${old && body(old, 'old')}${now && body(now, 'new')}${old && now && isMoved ? moveArrow(old, now) : null}${turn && now?.isPoint ? headings(turn, old ?? now, now) : null}${old && sign === 'removed' ? glyph('removed', old) : null}${now && sign === 'added' ? glyph('added', now) : null}`;
}

function letter(items: readonly Item[], sheet: Sheet, occupancy: Occupancy) {
  for (const item of items) occupyItem(item, sheet, occupancy);
  const labels: Markup[] = [];
  let omitted = 0;
  for (const item of items) {
    const at = item.new ?? item.old;
    if (at === null) continue;
    const wordings = labelsOf(item).map((lines) => ({ ...sizeOf(lines), content: lines }));
    const clearance = at.isPoint ? R + 4 : item.sign === 'changed' ? 7 : R + 6;
    const around = at.isClosed && at.outline ? boxAround(at.outline) : null;
    const placed = placeLabel(
      { x: at.x, y: at.y, clearance, around, avoidDeg: item.turn?.toDeg ?? null, wordings },
      occupancy,
    );
    if (placed) labels.push(renderLabel(placed.box, placed.content, placed.leader));
    else omitted += 1;
  }
  return { labels, omitted };
}

/** Occupies markers, signs and arrows, and outlines as soft. */
function occupyItem({ sign, old, new: now, turn, isMoved }: Item, sheet: Sheet, occupancy: Occupancy): void {
  for (const place of [old, now]) {
    if (place === null) continue;
    if (place.isPoint || sign !== 'changed') occupySquare(place.x, place.y, R + (place.isPoint ? 1 : 3), occupancy);
    if (place.outline) for (const box of boxesAlong(place.outline, place.isClosed, sheet)) occupancy.add(box, 'soft');
  }
  if (old && now && isMoved) occupyLine(old.x, old.y, now.x, now.y, occupancy);
  if (turn === null || !now?.isPoint) return;
  for (const { at, deg } of [
    { at: old ?? now, deg: turn.fromDeg },
    { at: now, deg: turn.toDeg },
  ]) {
    if (deg === null) continue;
    const { x1, y1 } = arrowOf(at.x, at.y, deg, R + 3);
    occupyLine(at.x, at.y, x1, y1, occupancy);
  }
}

function occupyLine(x0: number, y0: number, x1: number, y1: number, occupancy: Occupancy): void {
  const steps = Math.min(80, Math.ceil(Math.hypot(x1 - x0, y1 - y0) / 8));
  for (let step = 0; step <= steps; step += 1) {
    occupySquare(x0 + (step / steps) * (x1 - x0), y0 + (step / steps) * (y1 - y0), 4, occupancy);
  }
}

function occupySquare(x: number, y: number, half: number, occupancy: Occupancy): void {
  occupancy.add({ x0: x - half, y0: y - half, x1: x + half, y1: y + half });
}

function labelsOf({ sign, label, name, words }: Item): readonly LabelLines[] {
  const color = sign === 'removed' ? OLD : NEW;
  const what = { text: oneLine(words, 70), size: 10.5, color, isBold: true };
  const brief = { text: oneLine(words, 24), size: 10.5, color, isBold: true };
  const bare: LabelLines = [[{ text: label, size: 9.5, color, isBold: true }]];
  if (name === null) {
    const number = { text: label, size: 11, color: '#555555', isBold: true };
    return [[[number], [what]], [[number], [brief]], [[number]], bare];
  }
  const [whole, cut] = namesOf(name, label);
  const heads = cut === null ? [whole] : [whole, cut];
  return [...heads.map((head) => [...head, [what]]), ...heads.map((head) => [...head, [brief]]), ...heads, bare];
}

interface NoteInput {
  readonly sheet: Sheet;
  readonly all: readonly Item[];
  readonly items: readonly Item[];
  readonly unchanged: number;
  readonly omitted: number;
  readonly isLabelled: boolean;
}

function notesOf(
  { diff, frame, image, to }: DiffSubject,
  { sheet, all, items, unchanged, omitted, isLabelled }: NoteInput,
): string[] {
  const notes: string[] = [];
  if (frame === null) notes.push('Rendered without the map picture: the sources have no valid grid.');
  else if (sheet.picture === null || image === null) notes.push('Rendered without the map picture: there is none.');
  if (all.length > 0) notes.push('The sheet shows the part of the map with differences.');
  const notRendered = all.filter((item) => item.old === null && item.new === null).map(({ label }) => label);
  if (notRendered.length > 0)
    notes.push(`Not on the sheet, without a place or too far out: ${listed(notRendered, MAX_LISTED)}.`);
  if (diff.reordered.length > 0) notes.push('A changed order of the features is not rendered: see the list.');
  if (unchanged > MAX_UNCHANGED)
    notes.push(`The ${unchanged} of ${to.features.length} unchanged features are left out.`);
  if (!isLabelled) notes.push(`${items.length} differences are too many for labels.`);
  if (omitted > 0)
    notes.push(`${plural(omitted, 'label')} omitted for lack of space; every difference is listed by its #.`);
  return notes;
}
