import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FontName } from './lines.ts';

/** Files of the fonts, in the folder that the build fills. */
const files: Readonly<Record<FontName, string>> = {
  Sans: 'SourceSans3-Regular.ttf',
  'Sans-Bold': 'SourceSans3-Bold.ttf',
  Code: 'SourceCodePro-Regular.ttf',
  'Code-Bold': 'SourceCodePro-Bold.ttf',
};

export interface Fonts {
  readonly files: ReadonlyMap<FontName, Buffer>;
  /** Whether the text fonts have this code point. */
  readonly hasInSans: (point: number) => boolean;
  /** The same of the fonts for code. */
  readonly hasInCode: (point: number) => boolean;
}

/** Reads the fonts that are embedded: Latin, Greek and Cyrillic letters, arrows and signs. */
export async function loadFonts(folder: string): Promise<Fonts> {
  const { create } = await import('fontkit');
  const names = Object.keys(files) as FontName[];
  const read = new Map(
    await Promise.all(names.map(async (name) => [name, await readFile(join(folder, files[name]))] as const)),
  );
  const pointsOf = (name: FontName) => {
    const font = create(read.get(name) ?? Buffer.alloc(0));
    return new Set('characterSet' in font ? font.characterSet : []);
  };
  const [sans, sansBold, code, codeBold] = names.map(pointsOf);
  const hasBoth = (one: Set<number> | undefined, other: Set<number> | undefined) => (point: number) =>
    one?.has(point) === true && other?.has(point) === true;
  return { files: read, hasInSans: hasBoth(sans, sansBold), hasInCode: hasBoth(code, codeBold) };
}
