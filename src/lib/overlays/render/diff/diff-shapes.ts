import { type Markup, markup } from '../../../markup/index.ts';
import { arrowOf, type Outline } from '../figure/plot.ts';
import { unit } from '../lines.ts';

/** Old is dashed and orange, new is solid and blue: distinguishable in grey and with red-green colour blindness. */
export const OLD = '#a84300';
export const NEW = '#0a559c';
export const UNCHANGED = '#8a8f94';

/** Units of paper: a shorter arrow would merge with the markers at its ends. */
const MIN_ARROW = 9;
/** Radius of a point on paper. */
export const R = 7;

/** A feature on paper, in its old or new state. */
export interface Plotted {
  readonly x: number;
  readonly y: number;
  /** The further places of a MultiPoint. */
  readonly others: readonly { readonly x: number; readonly y: number }[];
  readonly isPoint: boolean;
  readonly isClosed: boolean;
  readonly outline: Outline | null;
}

/** Every place of a point on paper. */
export function placesOf({ x, y, others }: Plotted): readonly { readonly x: number; readonly y: number }[] {
  return [{ x, y }, ...others];
}

export function body(plotted: Plotted, side: 'old' | 'new'): Markup {
  const { isPoint, isClosed, outline: path } = plotted;
  const [color, dash] = side === 'old' ? [OLD, markup` stroke-dasharray="5 3.5"`] : [NEW, null];
  if (isPoint) {
    const circles = placesOf(plotted).map(({ x, y }) => {
      const at = markup`cx="${unit(x)}" cy="${unit(y)}" r="${R}"`;
      return side === 'old'
        ? markup`<circle ${at} fill="#fff" fill-opacity="0.7" stroke="#fff" stroke-width="4"/><circle ${at} fill="none" stroke="${color}" stroke-width="2" stroke-dasharray="3.4 2.2"/>`
        : markup`<circle ${at} fill="${color}" stroke="#fff" stroke-width="1.6"/>`;
    });
    return markup`${circles}`;
  }
  const d = path?.d ?? '';
  const fill = isClosed
    ? markup`fill="${color}" fill-opacity="${side === 'old' ? 0.05 : 0.13}" fill-rule="evenodd"`
    : markup`fill="none"`;
  // The old line is wider and below the new one, so that it shows where both coincide.
  const wide = isClosed ? 2.4 : side === 'old' ? 9 : 3.2;
  return markup`<path d="${d}" fill="none" stroke="#fff" stroke-width="${wide + (isClosed ? 2.6 : 1.8)}" stroke-opacity="0.85" stroke-linejoin="round"/><path d="${d}" ${fill} stroke="${color}" stroke-width="${wide}" stroke-linejoin="round"${dash}/>`;
}

/** An arrow from the old to the new position, edge to edge. */
export function moveArrow(from: Plotted, to: Plotted): Markup | null {
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const length = Math.hypot(dx, dy);
  const ends = [from, to].map(({ isPoint }) => (isPoint ? R + 1 : 0)) as [number, number];
  if (length - ends[0] - ends[1] < MIN_ARROW) return null;
  const [ux, uy] = [dx / length, dy / length];
  const [x0, y0] = [from.x + ux * ends[0], from.y + uy * ends[0]];
  const [x1, y1] = [to.x - ux * ends[1], to.y - uy * ends[1]];
  const at = (along: number, across: number) =>
    `${unit(x1 + ux * along - uy * across)} ${unit(y1 + uy * along + ux * across)}`;
  const shaft = `M${unit(x0)} ${unit(y0)}L${at(-6, 0)}`;
  const tip = `M${at(0, 0)}L${at(-8, 4.2)}L${at(-8, -4.2)}Z`;
  return markup`<path d="${shaft}${tip}" fill="#fff" stroke="#fff" stroke-width="4.5" stroke-linejoin="round"/><path d="${shaft}" stroke="#111" stroke-width="1.6" fill="none"/><path d="${tip}" fill="#111"/>`;
}

export function headings(
  turn: { readonly fromDeg: number | null; readonly toDeg: number | null },
  old: Plotted,
  now: Plotted,
): Markup {
  return markup`${turn.fromDeg === null ? null : heading(old, turn.fromDeg, 'old')}${turn.toDeg === null ? null : heading(now, turn.toDeg, 'new')}`;
}

export function heading(
  { x, y }: { readonly x: number; readonly y: number },
  deg: number,
  side: 'old' | 'new',
): Markup {
  const { x1, y1, angle } = arrowOf(x, y, deg, R + 3);
  const color = side === 'old' ? OLD : NEW;
  const at = (along: number, across: number) =>
    `${unit(x1 + Math.cos(angle) * along - Math.sin(angle) * across)} ${unit(y1 - Math.sin(angle) * along - Math.cos(angle) * across)}`;
  const start = `${unit(x + Math.cos(angle) * (R + 1))} ${unit(y - Math.sin(angle) * (R + 1))}`;
  const shaft = `M${start}L${at(-5, 0)}`;
  const tip = `M${at(0, 0)}L${at(-8, 4)}L${at(-8, -4)}Z`;
  const dash = side === 'old' ? markup` stroke-dasharray="3 2"` : null;
  const fill = side === 'old' ? '#fff' : color;
  return markup`<path d="${shaft}${tip}" stroke="#fff" stroke-width="4.5" fill="#fff" stroke-linejoin="round"/><path d="${shaft}" stroke="${color}" stroke-width="2" fill="none"${dash}/><path d="${tip}" fill="${fill}" stroke="${color}" stroke-width="1.2"/>`;
}

/** A plus for an added feature, a cross for a removed one. */
export function glyph(
  sign: 'added' | 'removed',
  { x, y, isPoint }: { x: number; y: number; isPoint: boolean },
): Markup {
  const q = isPoint ? R * 0.58 : R * 0.9;
  const [cx, cy] = [unit(x), unit(y)];
  if (sign === 'added') {
    const disc = isPoint
      ? null
      : markup`<circle cx="${cx}" cy="${cy}" r="${R + 2}" fill="${NEW}" stroke="#fff" stroke-width="1.6"/>`;
    return markup`${disc}<path d="M${unit(x - q)} ${cy}h${unit(2 * q)}M${cx} ${unit(y - q)}v${unit(2 * q)}" stroke="#fff" stroke-width="2.2"/>`;
  }
  const cross = `M${unit(x - q)} ${unit(y - q)}l${unit(2 * q)} ${unit(2 * q)}M${unit(x + q)} ${unit(y - q)}l${unit(-2 * q)} ${unit(2 * q)}`;
  const disc = isPoint
    ? null
    : markup`<circle cx="${cx}" cy="${cy}" r="${R + 3}" fill="#fff" stroke="${OLD}" stroke-width="1.6"/>`;
  return markup`${disc}<path d="${cross}" stroke="#fff" stroke-width="4.4"/><path d="${cross}" stroke="${OLD}" stroke-width="2.2"/>`;
}
