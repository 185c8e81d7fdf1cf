import { type Markup, markup } from '../../../markup/index.ts';
import { figure, unit } from '../lines.ts';
import { widthOf } from './lettering.ts';
import type { Sheet } from './sheet.ts';

/** Paper around the map, in units: coordinates at the left and below, the scale below them. */
export const margins = { left: 46, right: 16, top: 12, bottom: 66 } as const;

const nice = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 100_000, 1_000_000] as const;
const INK = '#222';

/** The picture of the map, faint enough that features over it stay readable. */
export function background(sheet: Sheet, image: Uint8Array | null, pixels: number | null): Markup {
  const { picture } = sheet;
  const paper = markup`<rect width="${unit(sheet.width)}" height="${unit(sheet.height)}" fill="#fff"/>`;
  if (picture === null || image === null) return paper;
  const data = Buffer.from(image.buffer, image.byteOffset, image.byteLength).toString('base64');
  const rendering = pixels !== null && pixels < picture.width ? 'pixelated' : 'auto';
  const place = markup`x="${unit(picture.x)}" y="${unit(picture.y)}" width="${unit(picture.width)}" height="${unit(picture.height)}"`;
  return markup`${paper}<image ${place} preserveAspectRatio="none" opacity="0.5" image-rendering="${rendering}" href="data:image/png;base64,${data}"/><rect ${place} fill="none" stroke="#888" stroke-width="0.8"/>`;
}

/** The metre grid with coordinates, neatline, origin, scale and axes. */
export function surround(sheet: Sheet): { readonly under: Markup; readonly over: Markup } {
  const stepM = nice.find((step) => step * sheet.unitsPerM >= 62) ?? 1_000_000;
  const xs = ticks(sheet.area.minXM, sheet.area.maxXM, stepM);
  const ys = ticks(sheet.area.minYM, sheet.area.maxYM, stepM);
  const [w, h] = [unit(sheet.width), unit(sheet.height)];
  const grid = [
    ...xs.map((xM) => `M${unit(sheet.x(xM))} 0V${h}`),
    ...ys.map((yM) => `M0 ${unit(sheet.y(yM))}H${w}`),
  ].join('');
  const outer = [
    ...xs.map((xM) => `M${unit(sheet.x(xM))} ${h}v5`),
    ...ys.map((yM) => `M0 ${unit(sheet.y(yM))}h-5`),
  ].join('');
  const decimals = stepM < 1 ? 1 : 0;
  const across = xs.map(
    (xM) =>
      markup`<text x="${unit(sheet.x(xM))}" y="${unit(sheet.height + 17)}" text-anchor="middle">${figure(xM, decimals)}</text>`,
  );
  const up = ys.map(
    (yM) => markup`<text x="-8" y="${unit(sheet.y(yM) + 3.6)}" text-anchor="end">${figure(yM, decimals)}</text>`,
  );
  return {
    under: markup`<path d="${grid}" stroke="#4a6a8a" stroke-opacity="0.28" stroke-width="0.7" fill="none"/>${origin(sheet)}`,
    over: markup`<rect width="${w}" height="${h}" fill="none" stroke="${INK}" stroke-width="1.4"/><path d="${outer}" stroke="${INK}" stroke-width="1" fill="none"/><g font-size="10.5" fill="${INK}">${across}${up}<text x="${unit(sheet.width)}" y="${unit(sheet.height + 30)}" text-anchor="end" fill="#555">x in metres</text><text x="-34" y="10" transform="rotate(-90 -34 10)" text-anchor="end" fill="#555">y in metres</text></g>${scaleBar(sheet)}${compass(sheet)}`,
  };
}

/** Multiples of the step inside the range, bounded in number. */
function ticks(from: number, to: number, step: number): number[] {
  const first = Math.ceil(from / step);
  const count = Math.min(400, Math.max(0, Math.floor(to / step) - first + 1));
  return Array.from({ length: count }, (_, at) => (first + at) * step);
}

function origin(sheet: Sheet): Markup | null {
  const [x, y] = [sheet.x(0), sheet.y(0)];
  if (x < 0 || y < 0 || x > sheet.width || y > sheet.height) return null;
  return markup`<path d="M${unit(x - 9)} ${unit(y)}h18M${unit(x)} ${unit(y - 9)}v18" stroke="#fff" stroke-width="3.4"/><path d="M${unit(x - 9)} ${unit(y)}h18M${unit(x)} ${unit(y - 9)}v18" stroke="#37536f" stroke-width="1.3"/><circle cx="${unit(x)}" cy="${unit(y)}" r="3.4" fill="none" stroke="#37536f" stroke-width="1.1"/>`;
}

function scaleBar(sheet: Sheet): Markup {
  const wanted = Math.min(260, sheet.width * 0.4);
  const lengthM = nice.findLast((length) => length * sheet.unitsPerM <= wanted) ?? 0.1;
  const part = (lengthM * sheet.unitsPerM) / 4;
  const y = unit(sheet.height + 40);
  const parts = [0, 1, 2, 3].map(
    (at) =>
      markup`<rect x="${unit(at * part)}" y="${y}" width="${unit(part)}" height="6" fill="${at % 2 === 0 ? INK : '#fff'}" stroke="${INK}" stroke-width="0.8"/>`,
  );
  const label = (at: number, text: string) =>
    markup`<text x="${unit(at * part)}" y="${unit(sheet.height + 59)}" text-anchor="${at === 0 ? 'start' : 'middle'}">${text}</text>`;
  return markup`<g font-size="10.5" fill="${INK}">${parts}${label(0, '0')}${label(2, figure(lengthM / 2, 2))}${label(4, `${figure(lengthM, 2)} m`)}</g>`;
}

/** The axes of the map. It has no north arrow: the orientation of the building is unknown. */
function compass(sheet: Sheet): Markup {
  const words = ['x right, y up; yaw counter-clockwise,', '0° along x. North is unknown.'] as const;
  const whole = words.join(' ');
  const isNarrow = sheet.width - widthOf(whole, 10.5) < 380;
  const lines = isNarrow ? words : [whole];
  const width = Math.max(...lines.map((line) => widthOf(line, 10.5)));
  const y = sheet.height + 59;
  const x = sheet.width - width - 44;
  const texts = lines.map(
    (line, at) =>
      markup`<text x="${unit(sheet.width)}" y="${unit(y - 13 * (lines.length - 1 - at))}" text-anchor="end" fill="#444">${line}</text>`,
  );
  const arrows = `M${unit(x)} ${unit(y)}h24m-4 -3l4 3l-4 3M${unit(x)} ${unit(y)}v-20m-3 4l3 -4l3 4`;
  const arc = `M${unit(x + 13)} ${unit(y)}a13 13 0 0 0 -9.5 -12.4`;
  const axes = markup`<path d="${arrows}" stroke="${INK}" stroke-width="1.5" fill="none" stroke-linecap="round" stroke-linejoin="round"/><path d="${arc}" stroke="#777" stroke-width="1" fill="none" stroke-dasharray="2 1.5"/><text x="${unit(x + 27)}" y="${unit(y + 3.5)}" font-size="10" font-style="italic">x</text><text x="${unit(x + 6)}" y="${unit(y - 17)}" font-size="10" font-style="italic">y</text>`;
  return markup`<g font-size="10.5" fill="${INK}">${x > 0.4 * sheet.width + 60 ? axes : null}${texts}</g>`;
}
