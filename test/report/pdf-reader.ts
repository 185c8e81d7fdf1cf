import { join } from 'node:path';
import { inflateSync } from 'node:zlib';

/** Where the build puts the fonts. */
export const fontsDir = join(import.meta.dirname, '..', '..', 'dist', 'fonts');

/** The content of a PDF, parsed independently of the code that writes it. */
export interface ReadPdf {
  /** The text of each page, in writing order, pieces joined by spaces. */
  readonly pages: readonly string[];
  /** Pieces of text with their position, in points from the lower left. */
  readonly pieces: readonly { readonly page: number; readonly x: number; readonly y: number; readonly text: string }[];
  readonly objects: number;
  readonly metadata: string;
  /** Types of actions, files and scripts in the PDF; there must be none. */
  readonly active: readonly string[];
}

/**
 * Parses a PDF strictly: every entry of its table of objects must point at that object, every stream must have its
 * stated length, every page's operators must be balanced. Throws on the first error.
 */
export function readPdf(bytes: Uint8Array): ReadPdf {
  const text = Buffer.from(bytes).toString('latin1');
  if (!text.startsWith('%PDF-1.7\n') || !text.endsWith('%%EOF\n')) throw new Error('truncated PDF');
  const start = Number(/startxref\n(\d+)\n%%EOF\n$/.exec(text)?.[1]);
  const table = text.slice(start);
  const count = Number(/^xref\n0 (\d+)\n/.exec(table)?.[1]);
  const entries = [...table.matchAll(/^(\d{10}) (\d{5}) ([nf]) $/gm)];
  if (entries.length !== count) throw new Error(`${entries.length} entries, ${count} objects`);

  const objects = new Map<number, string>();
  for (const [number, [, offset = '', , kind]] of entries.entries()) {
    if (kind === 'f') continue;
    const at = Number(offset);
    const head = `${number} 0 obj\n`;
    if (text.slice(at, at + head.length) !== head) throw new Error(`object ${number} is not at ${at}`);
    objects.set(number, objectAt(text, at + head.length));
  }
  const contents = [...objects.values()];
  const pageObjects = contents.filter((object) => /\/Type \/Page\b/.test(object));
  const order = /\/Kids \[([^\]]*)\]/.exec(contents.find((object) => /\/Type \/Pages/.test(object)) ?? '')?.[1] ?? '';
  const kids = [...order.matchAll(/(\d+) 0 R/g)].map(([, number]) => Number(number));
  if (kids.length !== pageObjects.length) throw new Error('pages outside the page tree');

  const pieces = kids.flatMap((kid, page) => {
    const object = objects.get(kid) ?? '';
    const content = Number(/\/Contents (\d+) 0 R/.exec(object)?.[1]);
    const fonts = fontsOf(objects.get(Number(/\/Resources (\d+) 0 R/.exec(object)?.[1])) ?? '', objects);
    return readContent(inflated(objects.get(content) ?? ''), fonts).map((piece) => ({ page, ...piece }));
  });
  const pages = kids.map((_, page) =>
    pieces
      .filter((piece) => piece.page === page)
      .map((piece) => piece.text)
      .join(' '),
  );
  const outside = contents.map((object) => object.replace(/stream\n[\s\S]*\nendstream/, ''));
  const active = ['/JavaScript', '/JS', '/Launch', '/URI', '/EmbeddedFile', '/OpenAction', '/AA'].filter((name) =>
    outside.some((object) => object.includes(name)),
  );
  const metadata = contents.find((object) => object.includes('/Type /Metadata')) ?? '';
  return { pages, pieces, objects: objects.size, metadata, active };
}

function objectAt(text: string, at: number): string {
  const dictionary = /^<<\n([\s\S]*?)>>\nstream\n/.exec(text.slice(at, at + 4096));
  const length = Number(/\/Length (\d+)/.exec(dictionary?.[1] ?? '')?.[1]);
  if (dictionary === null || Number.isNaN(length)) return text.slice(at, text.indexOf('\nendobj\n', at));
  const begin = at + dictionary[0].length;
  if (text.slice(begin + length, begin + length + 18) !== '\nendstream\nendobj\n') {
    throw new Error('a stream with a wrong length');
  }
  return text.slice(at, begin + length + 10);
}

function inflated(object: string): string {
  const begin = object.indexOf('stream\n') + 7;
  const end = object.length - '\nendstream'.length;
  return inflateSync(Buffer.from(object.slice(begin, end), 'latin1')).toString('latin1');
}

/** The text of each glyph, by font: all of them are embedded, and every glyph has its text. */
type Glyphs = ReadonlyMap<string, readonly string[]>;

function fontsOf(resources: string, objects: ReadonlyMap<number, string>): Glyphs {
  const fonts = [...resources.matchAll(/\/(F\d+) (\d+) 0 R/g)];
  return new Map(
    fonts.map(([, name = '', number]) => {
      const font = objects.get(Number(number)) ?? '';
      const descendant = objects.get(Number(/\/DescendantFonts \[(\d+) 0 R\]/.exec(font)?.[1])) ?? '';
      const descriptor = objects.get(Number(/\/FontDescriptor (\d+) 0 R/.exec(descendant)?.[1])) ?? '';
      if (!/\/FontFile2 \d+ 0 R/.test(descriptor)) throw new Error(`the font ${name} is not embedded`);
      const map = inflated(objects.get(Number(/\/ToUnicode (\d+) 0 R/.exec(font)?.[1])) ?? '');
      return [name, glyphsOf(map)];
    }),
  );
}

function glyphsOf(map: string): readonly string[] {
  const texts: string[] = [];
  for (const [, from = '', list = ''] of map.matchAll(/<([0-9a-f]{4})> <[0-9a-f]{4}> \[([^\]]*)\]/g)) {
    const first = Number.parseInt(from, 16);
    for (const [at, [, points = '']] of [...list.matchAll(/<([0-9a-f ]+)>/g)].entries()) {
      const units = points.split(' ').map((unit) => Number.parseInt(unit, 16));
      texts[first + at] = String.fromCharCode(...units);
    }
  }
  return texts;
}

function readContent(content: string, fonts: Glyphs): { x: number; y: number; text: string }[] {
  const pieces: { x: number; y: number; text: string }[] = [];
  let saved = 0;
  let isText = false;
  let place = { x: 0, y: 0 };
  let glyphs: readonly string[] = [];
  for (const line of content.trim().split('\n')) {
    if (line === 'q') saved += 1;
    else if (line === 'Q') saved -= 1;
    else if (line === 'BT' || line === 'ET') {
      if (isText === (line === 'BT')) throw new Error(`${line} out of turn`);
      isText = line === 'BT';
    } else if (line.endsWith(' Tm')) {
      const [, , , , x = 0, y = 0] = line.split(' ').map(Number);
      place = { x, y };
    } else if (line.endsWith(' Tf')) {
      glyphs = fonts.get(/^\/(F\d+) /.exec(line)?.[1] ?? '') ?? [];
    } else if (line.endsWith('] TJ')) {
      const hex = [...line.matchAll(/<([0-9a-f]*)>/g)].map(([, digits]) => digits).join('');
      if (!isText || !/^\[(<[0-9a-f]*>|-?[\d.]+| )*\] TJ$/.test(line)) throw new Error(`no text: ${line.slice(0, 60)}`);
      pieces.push({ ...place, text: decode(hex, glyphs) });
    } else if (!/^[-\d./\w ]*(cm|cs|scn|CS|SCN|Tr|w|m|l|re|f|S|h|B)$/.test(line)) {
      throw new Error(`unknown operator in ${line.slice(0, 60)}`);
    }
    if (saved < 0) throw new Error('Q without q');
  }
  if (saved !== 0 || isText) throw new Error('an unfinished page');
  return pieces;
}

function decode(hex: string, glyphs: readonly string[]): string {
  return (hex.match(/.{4}/g) ?? [])
    .map((glyph) => {
      const text = glyphs[Number.parseInt(glyph, 16)];
      if (text === undefined) throw new Error(`glyph ${glyph} has no text`);
      return text;
    })
    .join('');
}
