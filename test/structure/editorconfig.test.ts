import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const read = (path: string) => readFileSync(`${root}${path}`, 'utf8');

/** The settings of a section of `.editorconfig`. */
function settingsOf(section: string): Record<string, string> {
  const from = read('.editorconfig').split(`[${section}]\n`)[1] ?? '';
  const lines = (from.split(/^\[/m)[0] ?? '').split('\n').filter((line) => line.includes('=') && !line.startsWith('#'));
  return Object.fromEntries(lines.map((line) => line.split('=').map((part) => part.trim())));
}

describe('the settings of editors', () => {
  const { formatter } = JSON.parse(read('biome.json'));

  it('are those of the formatter', () => {
    const { lineEnding = 'lf' } = formatter;
    expect(settingsOf('*')).toEqual({
      charset: 'utf-8',
      end_of_line: lineEnding,
      indent_style: formatter.indentStyle,
      indent_size: String(formatter.indentWidth),
      max_line_length: String(formatter.lineWidth),
      insert_final_newline: 'true',
      trim_trailing_whitespace: 'true',
    });
  });
});
