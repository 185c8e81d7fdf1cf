/** The label of a pin. Lengths in pixels of the screen. */
export interface Label {
  readonly id: string;
  /** The tip of the pin. */
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  /** It is shown whatever else is there: the chosen station, and the one that the robot drives to. */
  readonly isNeeded: boolean;
}

export interface Box {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** From the tip of a pin to the top of its head, and half of its width. */
const PIN_HEIGHT = 36;
const PIN_HALF = 14;
const GAP = 3;

/**
 * Where labels are shown so that none overlaps another one or the pin of another one, by their ids: those that are needed first, then the
 * others in their order as far as there is space within the frame and beside what is `covered`. A label stands above its pin, or
 * else below or beside it. A needed one for which none of that is free goes up as far as it must, past other labels alone.
 */
export function declutter(
  labels: readonly Label[],
  frame: Box,
  covered: readonly Box[] = [],
): ReadonlyMap<string, Box> {
  const placed = new Map<string, Box>();
  const [texts, heads]: [Box[], Box[]] = [[], []];
  const isFreeOf = (others: readonly Box[], box: Box) => !others.some((other) => overlaps(box, other));
  function place({ id, x, y }: Label, box: Box): void {
    placed.set(id, box);
    texts.push(box);
    heads.push(headAt(x, y));
  }
  for (const label of labels.filter(({ isNeeded }) => isNeeded)) {
    const places = placesOf(label);
    const isGood = (box: Box) => isFreeOf(texts, box) && isFreeOf(heads, box) && isWithin(box, frame);
    place(label, places.find(isGood) ?? above(places[0], (box) => isFreeOf(texts, box)));
  }
  for (const label of labels) {
    const head = headAt(label.x, label.y);
    if (label.isNeeded || !overlaps(head, frame) || !isFreeOf(texts, head)) continue;
    const box = placesOf(label).find(
      (one) => isWithin(one, frame) && [texts, heads, covered].every((others) => isFreeOf(others, one)),
    );
    if (box !== undefined) place(label, box);
  }
  return placed;
}

export function overlaps(one: Box, other: Box): boolean {
  return one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;
}

const isWithin = (box: Box, frame: Box) =>
  box.left >= frame.left && box.right <= frame.right && box.top >= frame.top && box.bottom <= frame.bottom;

const headAt = (x: number, y: number): Box => ({
  left: x - PIN_HALF,
  top: y - PIN_HEIGHT,
  right: x + PIN_HALF,
  bottom: y,
});

function placesOf({ x, y, width, height }: Label): readonly [Box, ...Box[]] {
  const at = (left: number, top: number): Box => ({ left, top, right: left + width, bottom: top + height });
  const beside = y - PIN_HEIGHT + PIN_HALF - height / 2;
  return [
    at(x - width / 2, y - PIN_HEIGHT - GAP - height),
    at(x - width / 2, y + GAP),
    at(x + PIN_HALF + GAP, beside),
    at(x - PIN_HALF - GAP - width, beside),
  ];
}

/** There are few needed ones, so a free place is not far. */
function above(first: Box, isFree: (box: Box) => boolean): Box {
  for (let by = 0; ; by += first.bottom - first.top) {
    const box = { ...first, top: first.top - by, bottom: first.bottom - by };
    if (isFree(box)) return box;
  }
}
