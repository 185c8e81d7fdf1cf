interface Pin {
  readonly id: string;
  readonly xM: number;
  readonly yM: number;
}

/** Unit vectors of the arrow keys, in metres of the map: y up. */
const directions: Readonly<Record<string, readonly [number, number]>> = {
  ArrowRight: [1, 0],
  ArrowLeft: [-1, 0],
  ArrowUp: [0, 1],
  ArrowDown: [0, -1],
};

/**
 * The pin that an arrow key leads to: the nearest within the quarter in its direction, or else the nearest on that side. Home and End
 * are the first and the last of the list. null: there is none, or it is another key.
 */
export function nextPin(pins: readonly Pin[], from: string, key: string): string | null {
  if (key === 'Home') return pins[0]?.id ?? null;
  if (key === 'End') return pins.at(-1)?.id ?? null;
  const direction = directions[key];
  const here = pins.find(({ id }) => id === from);
  if (direction === undefined || here === undefined) return null;
  const others = pins
    .filter(({ id }) => id !== from)
    .map(({ id, xM, yM }) => {
      const along = (xM - here.xM) * direction[0] + (yM - here.yM) * direction[1];
      const across = Math.abs((xM - here.xM) * direction[1] + (yM - here.yM) * direction[0]);
      return { id, along, isAhead: along >= across, distance: Math.hypot(along, across) };
    })
    .filter(({ along }) => along > 0)
    .sort((a, b) => Number(b.isAhead) - Number(a.isAhead) || a.distance - b.distance);
  return others[0]?.id ?? null;
}
