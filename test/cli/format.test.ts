import { describe, expect, it } from 'vitest';
import { chooseFormat } from '../../src/cli/format.ts';

const formats = ['table', 'json', 'geojson', 'html', 'pdf'] as const;
type Format = (typeof formats)[number];
const chosen = (format: Format | undefined, out: string | undefined) => chooseFormat({ format, out }, formats, 'table');

describe('the format of a document', () => {
  it.each<[Format | undefined, string | undefined, Format]>([
    [undefined, undefined, 'table'],
    ['html', undefined, 'html'],
    [undefined, 'Abnahme.pdf', 'pdf'],
    [undefined, 'Abnahme.PDF', 'pdf'],
    [undefined, 'a.pdf/b', 'table'],
    [undefined, 'map.html', 'html'],
    [undefined, 'map.svg', 'table'],
    [undefined, 'map.json', 'json'],
    ['geojson', 'map.json', 'geojson'],
    ['pdf', 'no ending', 'pdf'],
    ['pdf', 'report.v2', 'pdf'],
  ])('%s into %s is %s', (format, out, expected) => expect(chosen(format, out)).toBe(expected));

  it('is refused when the name of the file announces another one', () => {
    expect(() => chosen('html', 'Abnahme.pdf')).toThrowError('The file Abnahme.pdf would contain html, not pdf.');
    expect(() => chosen('table', 'map.html')).toThrowError('The file map.html would contain table, not html.');
  });
});
