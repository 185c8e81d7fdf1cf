/** A rectangle on paper. */
export interface Box {
  readonly x0: number;
  readonly y0: number;
  readonly x1: number;
  readonly y1: number;
}

/** A variant of a label, from long to short; the next one is tried where space is missing. */
interface Wording<T> {
  readonly width: number;
  readonly height: number;
  readonly content: T;
}

export interface LabelWish<T> {
  /** Position of the labelled feature. */
  readonly x: number;
  readonly y: number;
  /** Minimum distance of the label from it. */
  readonly clearance: number;
  /** The box of a zone, in which its label may be placed; null for other features. */
  readonly around: Box | null;
  /** Degrees, counter-clockwise: direction of a heading arrow, which the label avoids where possible. */
  readonly avoidDeg: number | null;
  readonly wordings: readonly Wording<T>[];
}

export interface PlacedLabel<T> {
  readonly box: Box;
  readonly content: T;
  /** The line from the feature to a label placed away from it; null otherwise. */
  readonly leader: { readonly x0: number; readonly y0: number; readonly x1: number; readonly y1: number } | null;
}

const CELL = 48;

export type Occupancy = ReturnType<typeof createOccupancy>;

/** Sides in cartographic order of preference: right, left, above, below, then the corners. Degrees, y up. */
const sides = [0, 180, 90, -90, 35, -35, 145, -145] as const;
/** Distances from the feature that are tried with a leader before a shorter variant. */
const rings = [18, 38] as const;

interface Attempt<T> {
  readonly placed: PlacedLabel<T>;
  readonly over: 'nothing' | 'lines';
}

/**
 * Places a label and occupies its box: close by with the longest variant, then farther out with a leader, then over a
 * line of the map, then with shorter variants. null when none fits; the caller reports the number of omitted labels.
 */
export function placeLabel<T>(wish: LabelWish<T>, occupancy: Occupancy): PlacedLabel<T> | null {
  for (const wording of wish.wordings) {
    for (const { placed, over } of attempts(wish, wording)) {
      if (!occupancy.isFree(placed.box, over) || !isClear(placed, occupancy)) continue;
      occupancy.add(placed.box);
      return placed;
    }
  }
  return null;
}

/** The occupied boxes of the sheet, in a grid of cells, so that thousands of labels stay fast. */
export function createOccupancy(width: number, height: number) {
  const solid = new Map<number, Box[]>();
  const soft = new Map<number, Box[]>();
  const columns = Math.ceil(width / CELL) + 2;
  const keysOf = function* ({ x0, y0, x1, y1 }: Box) {
    const clamp = (value: number, max: number) => Math.max(0, Math.min(max, Math.floor(value / CELL)));
    const rows = Math.ceil(height / CELL) + 1;
    for (let row = clamp(y0, rows); row <= clamp(y1, rows); row += 1) {
      for (let column = clamp(x0, columns - 1); column <= clamp(x1, columns - 1); column += 1)
        yield row * columns + column;
    }
  };
  const isFreeOf = (cells: ReadonlyMap<number, readonly Box[]>, box: Box) => {
    for (const key of keysOf(box)) {
      for (const other of cells.get(key) ?? []) {
        if (box.x0 < other.x1 && box.x1 > other.x0 && box.y0 < other.y1 && box.y1 > other.y0) return false;
      }
    }
    return true;
  };
  return {
    /** `soft`: a line of the map, which a label may cover where there is no better position. */
    add(box: Box, kind: 'solid' | 'soft' = 'solid'): void {
      const cells = kind === 'solid' ? solid : soft;
      for (const key of keysOf(box)) {
        const held = cells.get(key);
        if (held) held.push(box);
        else cells.set(key, [box]);
      }
    },
    isFree(box: Box, over: 'nothing' | 'lines'): boolean {
      if (box.x0 < 0 || box.y0 < 0 || box.x1 > width || box.y1 > height) return false;
      return isFreeOf(solid, box) && (over === 'lines' || isFreeOf(soft, box));
    },
  };
}

/** Whether the leader of a label crosses no occupied box. */
function isClear({ leader }: PlacedLabel<unknown>, occupancy: Occupancy): boolean {
  if (leader === null) return true;
  const { x0, y0, x1, y1 } = leader;
  const steps = Math.ceil(Math.hypot(x1 - x0, y1 - y0) / 5);
  for (let step = 1; step <= steps; step += 1) {
    const [x, y] = [x0 + (step / steps) * (x1 - x0), y0 + (step / steps) * (y1 - y0)];
    // Its own marker, at its start, is not an obstacle.
    if (step / steps > 0.3 && !occupancy.isFree({ x0: x - 1, y0: y - 1, x1: x + 1, y1: y + 1 }, 'lines')) return false;
  }
  return true;
}

function* attempts<T>(wish: LabelWish<T>, wording: Wording<T>): Generator<Attempt<T>> {
  const { around, avoidDeg } = wish;
  const upon = around && { box: centred(wish.x, wish.y, wording), content: wording.content, leader: null };
  if (upon) yield { placed: upon, over: 'nothing' };
  const free = sides.filter((side) => avoidDeg === null || turnOf(side, avoidDeg) >= 45);
  const towards = sides.filter((side) => !free.includes(side));
  for (const side of [...free, ...towards]) yield { placed: beside(wish, wording, side, 0), over: 'nothing' };
  if (around) for (const placed of outside(wish, wording, around)) yield { placed, over: 'nothing' };
  if (upon) yield { placed: upon, over: 'lines' };
  // A leader along the heading would look like a part of the arrow.
  for (const ring of rings) {
    for (const side of free) yield { placed: beside(wish, wording, side, ring), over: 'nothing' };
  }
  for (const side of [...free, ...towards]) yield { placed: beside(wish, wording, side, 0), over: 'lines' };
}

/** Degrees between two directions, 0 to 180. */
function turnOf(a: number, b: number): number {
  return Math.abs(((((a - b) % 360) + 540) % 360) - 180);
}

function beside<T>(wish: LabelWish<T>, wording: Wording<T>, side: number, ring: number): PlacedLabel<T> {
  const { content, width, height } = wording;
  const angle = (side * Math.PI) / 180;
  const [dx, dy] = [Math.cos(angle), -Math.sin(angle)];
  const reach = wish.clearance + ring;
  const [px, py] = [wish.x + dx * reach, wish.y + dy * reach];
  const left = Math.abs(dx) < 0.1 ? px - width / 2 : dx > 0 ? px : px - width;
  const top = Math.abs(dy) < 0.1 ? py - height / 2 : dy > 0 ? py : py - height;
  const inner = wish.clearance * 0.8;
  return {
    box: boxAt(left, top, wording),
    content,
    leader: ring === 0 ? null : { x0: wish.x + dx * inner, y0: wish.y + dy * inner, x1: px, y1: py },
  };
}

/** Along the four sides of a zone that is too small for its name. */
function* outside<T>(wish: LabelWish<T>, wording: Wording<T>, around: Box): Generator<PlacedLabel<T>> {
  const { content, width, height } = wording;
  const gap = 4;
  const middle = (around.y0 + around.y1) / 2 - height / 2;
  const places: readonly (readonly [number, number])[] = [
    [wish.x - width / 2, around.y0 - gap - height],
    [wish.x - width / 2, around.y1 + gap],
    [around.x1 + gap, middle],
    [around.x0 - gap - width, middle],
  ];
  for (const [left, top] of places) yield { box: boxAt(left, top, wording), content, leader: null };
}

function centred(x: number, y: number, size: { readonly width: number; readonly height: number }): Box {
  return boxAt(x - size.width / 2, y - size.height / 2, size);
}

function boxAt(left: number, top: number, { width, height }: { readonly width: number; readonly height: number }): Box {
  return { x0: left, y0: top, x1: left + width, y1: top + height };
}
