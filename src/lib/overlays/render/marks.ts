import type { Mark } from '../../evidence/index.ts';
import { type Markup, markup } from '../../markup/index.ts';
import { unit } from './lines.ts';

/** A mark, or 'none' for a feature without a number of its kind. */
export type Sign = Mark | 'none';

export interface SignStyle {
  readonly sign: Sign;
  /** The mark, or 'no number'. */
  readonly word: string;
  /** Abbreviation of the word. */
  readonly letter: string;
  readonly description: string;
  readonly color: string;
  readonly tint: string;
  /** `stroke-dasharray` of a line of width 1; null for a solid line. */
  readonly dash: readonly number[] | null;
  readonly shape: 'disc' | 'square' | 'triangle' | 'ring' | 'dot';
}

/**
 * Every mark has a letter, a shape, a line pattern and a hatch besides its colour, so that the sheet is readable in grey
 * and with red-green colour blindness. Colours after Okabe and Ito, darkened to a contrast of 5 : 1 against white.
 */
export const signs: Readonly<Record<Sign, SignStyle>> = {
  BELEGT: {
    sign: 'BELEGT',
    word: 'BELEGT',
    letter: 'B',
    description: 'verified on this device; simulator results are labelled',
    color: '#00634a',
    tint: '#00634a',
    dash: null,
    shape: 'disc',
  },
  HINWEIS: {
    sign: 'HINWEIS',
    word: 'HINWEIS',
    letter: 'H',
    description: 'vendor information, not measured',
    color: '#0a559c',
    tint: '#e3eefa',
    dash: [7, 2],
    shape: 'square',
  },
  VORSICHT: {
    sign: 'VORSICHT',
    word: 'VORSICHT',
    letter: 'V',
    description: 'assumed, no evidence',
    color: '#a84300',
    tint: '#fdeee0',
    dash: [6, 2, 1, 2],
    shape: 'triangle',
  },
  OFFEN: {
    sign: 'OFFEN',
    word: 'OFFEN',
    letter: 'O',
    description: 'meaning of the number unknown',
    color: '#333333',
    tint: '#ffffff',
    dash: [1, 1.6],
    shape: 'ring',
  },
  none: {
    sign: 'none',
    word: 'no number',
    letter: '–',
    description: 'the feature has no number of its kind',
    color: '#5c5c5c',
    tint: '#ffffff',
    dash: [3, 3],
    shape: 'dot',
  },
};

export const signOrder: readonly Sign[] = ['BELEGT', 'HINWEIS', 'VORSICHT', 'OFFEN', 'none'];

/** `stroke-dasharray` for a line of this width; null for a solid one. */
export function dashOf({ dash }: SignStyle, width: number): Markup | null {
  return dash && markup` stroke-dasharray="${dash.map((part) => unit(part * width)).join(' ')}"`;
}

/** Units of paper: a number in a smaller marker is illegible. */
export const MIN_RADIUS_WITH_NUMBER = 7;

/** The marker of a point, with its number where it fits. */
export function marker(style: SignStyle, x: number, y: number, r: number, number: string | null): Markup {
  const cx = unit(x);
  const outline = markup`fill="${style.tint}" stroke="${style.color}" stroke-width="${unit(Math.max(1, r / 6))}"`;
  const halo = r >= 6 ? markup`<path d="${outlineOf(style, x, y, r + 2)}" fill="#fff"/>` : null;
  const body =
    style.shape === 'ring'
      ? markup`<path d="${outlineOf(style, x, y, r)}" ${outline}${dashOf(style, Math.max(1.4, r / 5))}/>`
      : markup`<path d="${outlineOf(style, x, y, r)}" ${outline}/>`;
  if (number === null || r < MIN_RADIUS_WITH_NUMBER || style.shape === 'dot') return markup`${halo}${body}`;
  const size = unit(r * (number.length > 2 ? 0.78 : style.shape === 'triangle' ? 0.92 : 1.02));
  const baseline = unit(y + size * 0.36 + (style.shape === 'triangle' ? r * 0.2 : 0));
  const ink = style.shape === 'disc' ? '#fff' : style.color;
  return markup`${halo}${body}<text x="${cx}" y="${baseline}" font-size="${size}" font-weight="700" text-anchor="middle" fill="${ink}">${number}</text>`;
}

/** The outline alone, as path data. */
export function outlineOf({ shape }: SignStyle, x: number, y: number, r: number): string {
  const at = (dx: number, dy: number) => `${unit(x + dx)} ${unit(y + dy)}`;
  switch (shape) {
    case 'square': {
      const half = r * 0.9;
      return `M${at(-half, -half)}L${at(half, -half)}L${at(half, half)}L${at(-half, half)}Z`;
    }
    case 'triangle':
      return `M${at(0, -r * 1.25)}L${at(r * 1.25, r * 0.95)}L${at(-r * 1.25, r * 0.95)}Z`;
    case 'dot': {
      const small = r * 0.5;
      return `M${at(-small, 0)}L${at(0, -small)}L${at(small, 0)}L${at(0, small)}Z`;
    }
    default:
      return `M${at(-r, 0)}a${unit(r)} ${unit(r)} 0 1 1 ${unit(2 * r)} 0a${unit(r)} ${unit(r)} 0 1 1 ${unit(-2 * r)} 0Z`;
  }
}

/** Hatch patterns of the zones, one per mark. */
export function hatches(): Markup {
  const lines = (style: SignStyle, size: number, d: string, extra = '') =>
    markup`<pattern id="${hatchId(style.sign)}" width="${size}" height="${size}" patternUnits="userSpaceOnUse"><path d="${d}" fill="none" stroke="${style.color}" stroke-width="${extra === '' ? 1 : extra}" stroke-opacity="0.45" stroke-linecap="round"/></pattern>`;
  return markup`${lines(signs.BELEGT, 6, 'M0 3H6', '1.6')}${lines(signs.HINWEIS, 9, 'M-1 1L1 -1M0 9L9 0M8 10L10 8')}${lines(
    signs.VORSICHT,
    10,
    'M0 10L10 0M0 0L10 10',
  )}${lines(signs.OFFEN, 8, 'M2 2h0.01M6 6h0.01', '1.8')}${lines(signs.none, 12, 'M6 6h0.01', '1')}`;
}

export const hatchId = (sign: Sign) => `gw-hatch-${sign.toLowerCase()}`;
