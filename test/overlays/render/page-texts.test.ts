import { describe, expect, it } from 'vitest';
import { renderPage } from '../../../src/lib/overlays/render/index.ts';
import { pageDe } from '../../../src/lib/overlays/render/page/texts/page.de.ts';
import { pageEn } from '../../../src/lib/overlays/render/page/texts/page.en.ts';
import { lookAt, pageOptions } from './rendered.ts';

/** Every text of a catalogue, by its path; a function with arguments that show. */
function textsOf(part: unknown, path = ''): [path: string, text: string][] {
  if (typeof part === 'string') return [[path, part]];
  if (part === null) return [];
  if (typeof part === 'function') {
    if (path === '.markText') return [];
    const given = /^\.(?:chassis|size|hereBy|explained|madeBy)/.test(path) ? ['Aa', 'Bb', 3] : [7, 2];
    return [[path, String((part as (...all: unknown[]) => unknown)(...given))]];
  }
  return Object.entries(part as object).flatMap(([key, inner]) => textsOf(inner, `${path}.${key}`));
}

/** The same word in both languages. */
const same = new Set(['.facts.uid', '.head.name', '.head.types', '.hereBy']);

describe('the texts of the page', () => {
  it('are there in both languages, different, and none is empty', () => {
    const [de, en] = [new Map(textsOf(pageDe)), new Map(textsOf(pageEn))];
    expect([...de.keys()].filter((path) => path !== '.technical')).toEqual([...en.keys()]);
    expect(en.size).toBeGreaterThan(100);
    for (const [path, text] of en) {
      expect(text.trim(), path).not.toBe('');
      expect(de.get(path)?.trim(), path).not.toBe('');
      if (!same.has(path)) expect(de.get(path), path).not.toBe(text);
    }
  });

  it('have no word of the other language', () => {
    const english = /\b(?:the|and|of|not|findings?|features?|points?|lanes?|zones|unknown|missing|this|with)\b/;
    for (const [path, text] of textsOf(pageDe)) expect(text, path).not.toMatch(english);
    const german = /\b(?:der|die|das|und|nicht|keine?|von|mit|ist|Karte|Befunde?)\b/;
    for (const [path, text] of textsOf(pageEn)) expect(text, path).not.toMatch(german);
  });
});

describe('the German page', () => {
  it.each(['floor', 'sheet'] as const)('of %s has the same numbers and names, and marks what is English', (name) => {
    const { inspection, image } = lookAt(name);
    const [de, en] = (['de', 'en'] as const).map((lang) => renderPage(inspection, { ...pageOptions, image, lang }));
    if (de === undefined || en === undefined) throw new Error('expected two pages');
    expect(en).toBe(renderPage(inspection, { ...pageOptions, image }));
    expect(de).toContain('<html lang="de"');
    expect(en).not.toContain('lang="de"');
    const rows = (page: string) => [...page.matchAll(/<tr id="(d\d+)">/g)].map(([, id]) => id);
    expect(rows(de)).toEqual(rows(en));
    const frame = de
      .replace(/<style>.*?<\/style>/gs, '')
      .replace(/<svg.*?<\/svg>/gs, '')
      .replace(/<span lang="en">(?:<code>.*?<\/code>|[^<])*<\/span>/gs, '')
      // Names, codes and types of geometry are those of the map.
      .replace(
        /<bdi>.*?<\/bdi>|<code>.*?<\/code>|<span class="id">.*?<\/span>|<td data-c="Geometrie"[^>]*>.*?<\/td>/gs,
        '',
      )
      .replace(/<[^>]*>/g, ' ');
    expect(frame).toContain('Befunde');
    const english =
      /.{0,40}\b(?:the|and|not|findings?|features?|Points|Zones|Lanes|unknown|missing|Severity)\b.{0,40}/g;
    expect([...frame.matchAll(english)].map(([text]) => text)).toEqual([]);
  });
});
