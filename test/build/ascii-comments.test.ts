import { build, type Rolldown } from 'vite';
import { describe, expect, it } from 'vitest';
import { asciiComments, withAsciiComments } from '../../scripts/ascii-comments.ts';

describe('a comment', () => {
  it.each([
    ['/*! Jimmy Wärting */ f();', '/*! Jimmy W\\u00e4rting */ f();'],
    ['f(); // © 2026\ng();', 'f(); // \\u00a9 2026\ng();'],
    ['"😀"; /* 😀 */ "ä";', '"😀"; /* \\ud83d\\ude00 */ "ä";'],
    ['f(`ä $' + '{g(/* ä */)} ä`);', 'f(`ä $' + '{g(/* \\u00e4 */)} ä`);'],
    ['/* ä\n */ /ä\\/* ä *\\//u.test("ä"); /* ü */', '/* \\u00e4\n */ /ä\\/* ä *\\//u.test("ä"); /* \\u00fc */'],
  ])('is written in ASCII, and nothing else is: %s', (code, expected) => {
    expect(withAsciiComments(code)).toBe(expected);
  });

  it.each([['"/* ä */"'], ["'// ä'"], ['tag`/* ä */ // ä`'], ['/[/*ä*/]/'], ['const ä = 1;'], ['plain();'], ['']])(
    'is not text that only resembles one: %s',
    (code) => {
      expect(withAsciiComments(code)).toBe(code);
    },
  );
});

describe('the output of the build', () => {
  const source = [
    '/*! Jimmy Wärting */',
    'const tag = (strings) => [strings[0], strings.raw[0]];',
    'export const texts = ["\\ä", `\\ü😀\\\\ö`, /[^ä😀]/u.test("ä😀"), /\\ä/.test("ä"), tag`\\ä\\\\ß`, { größe: 1 }];',
  ].join('\n');

  it('is ASCII except tagged templates, and equivalent', async () => {
    const { output } = (await build({
      configFile: false,
      logLevel: 'silent',
      plugins: [
        {
          name: 'virtual',
          resolveId: (id) => (id === 'virtual' ? id : null),
          load: (id) => (id === 'virtual' ? source : null),
        },
        asciiComments(),
      ],
      build: {
        ssr: true,
        write: false,
        minify: false,
        rolldownOptions: { input: 'virtual', output: { charset: 'ascii', comments: { legal: true } } },
      },
    })) as Rolldown.RolldownOutput;
    const { code } = output[0];
    expect(code).toContain('Jimmy W\\u00e4rting');
    expect(code.match(/[^\0-\x7f]/g)).toEqual(['ä', 'ß']);
    const load = async (text: string) =>
      JSON.stringify((await import(`data:text/javascript,${encodeURIComponent(text)}`)).texts);
    expect(await load(code)).toBe(await load(source));
  });
});
