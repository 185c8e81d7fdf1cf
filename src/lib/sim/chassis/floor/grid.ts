/** Values of a cell of the occupancy grid. */
export const FREE = 0;
export const WALL = 1;
export const UNKNOWN = 2;

/** An occupancy grid. Row 0 is the lowest y, column 0 the lowest x; lengths in metres. */
export interface Grid {
  readonly width: number;
  readonly height: number;
  /** Metres per cell. */
  readonly resolutionM: number;
  /** Lower left corner of the lower left cell. */
  readonly originXM: number;
  readonly originYM: number;
  readonly cells: Uint8Array;
}

export interface Point {
  readonly xM: number;
  readonly yM: number;
}

export function createGrid(size: Omit<Grid, 'cells'>, fill: number): Grid {
  return { ...size, cells: new Uint8Array(size.width * size.height).fill(fill) };
}

/** Index of the cell that holds the point; -1 off the grid. */
export function cellIndex(grid: Grid, { xM, yM }: Point): number {
  const column = Math.floor((xM - grid.originXM) / grid.resolutionM);
  const row = Math.floor((yM - grid.originYM) / grid.resolutionM);
  if (!(column >= 0 && row >= 0 && column < grid.width && row < grid.height)) return -1;
  return row * grid.width + column;
}

export function cellCentre(grid: Grid, index: number): Point {
  return {
    xM: grid.originXM + ((index % grid.width) + 0.5) * grid.resolutionM,
    yM: grid.originYM + (Math.floor(index / grid.width) + 0.5) * grid.resolutionM,
  };
}

/** Sets every cell whose centre lies in the rectangle. */
export function fillRect(grid: Grid, from: readonly [number, number], to: readonly [number, number], value: number) {
  const column = (xM: number) => Math.round((xM - grid.originXM) / grid.resolutionM);
  const row = (yM: number) => Math.round((yM - grid.originYM) / grid.resolutionM);
  for (let y = Math.max(0, row(from[1])); y < Math.min(grid.height, row(to[1])); y += 1) {
    const start = y * grid.width;
    grid.cells.fill(value, start + Math.max(0, column(from[0])), start + Math.min(grid.width, column(to[0])));
  }
}

/** Cells nearer than `radiusM` to anything that is not free: 1 is blocked, 0 is passable for the robot's centre. */
export function inflate(grid: Grid, radiusM: number): Uint8Array {
  const blocked = new Uint8Array(grid.cells.length);
  const reach = Math.ceil(radiusM / grid.resolutionM);
  const offsets: [number, number][] = [];
  for (let dy = -reach; dy <= reach; dy += 1) {
    for (let dx = -reach; dx <= reach; dx += 1) {
      if (Math.hypot(dx, dy) * grid.resolutionM <= radiusM) offsets.push([dx, dy]);
    }
  }
  for (let index = 0; index < grid.cells.length; index += 1) {
    if (grid.cells[index] === FREE) continue;
    const column = index % grid.width;
    const row = (index - column) / grid.width;
    if (!touchesFree(grid, column, row)) {
      blocked[index] = 1;
      continue;
    }
    for (const [dx, dy] of offsets) {
      const x = column + dx;
      const y = row + dy;
      if (x >= 0 && y >= 0 && x < grid.width && y < grid.height) blocked[y * grid.width + x] = 1;
    }
  }
  return blocked;
}

/** Whether the cell borders on free floor; only these cells need inflating. */
function touchesFree(grid: Grid, column: number, row: number): boolean {
  for (let y = Math.max(0, row - 1); y <= Math.min(grid.height - 1, row + 1); y += 1) {
    for (let x = Math.max(0, column - 1); x <= Math.min(grid.width - 1, column + 1); x += 1) {
      if (grid.cells[y * grid.width + x] === FREE) return true;
    }
  }
  return false;
}

/** Marks every cell inside the polygon as wall: a no-go zone for the planner. */
export function blockPolygon(grid: Grid, ring: readonly Point[]): void {
  for (let index = 0; index < grid.cells.length; index += 1) {
    if (grid.cells[index] === FREE && isInside(cellCentre(grid, index), ring)) grid.cells[index] = WALL;
  }
}

/** Marks the cells along a line as wall: a virtual wall for the planner. */
export function blockLine(grid: Grid, from: Point, to: Point): void {
  const length = Math.hypot(to.xM - from.xM, to.yM - from.yM);
  const extent = (grid.width + grid.height) * grid.resolutionM;
  if (!(length < 10 * extent)) return;
  const steps = Math.max(1, Math.ceil(length / (grid.resolutionM / 2)));
  for (let step = 0; step <= steps; step += 1) {
    const part = step / steps;
    const index = cellIndex(grid, {
      xM: from.xM + part * (to.xM - from.xM),
      yM: from.yM + part * (to.yM - from.yM),
    });
    if (index >= 0) grid.cells[index] = WALL;
  }
}

function isInside(point: Point, ring: readonly Point[]): boolean {
  let inside = false;
  for (let i = 0, j = ring.length - 1; i < ring.length; j = i, i += 1) {
    const a = ring[i];
    const b = ring[j];
    if (!a || !b || a.yM > point.yM === b.yM > point.yM) continue;
    if (point.xM < ((b.xM - a.xM) * (point.yM - a.yM)) / (b.yM - a.yM) + a.xM) inside = !inside;
  }
  return inside;
}
