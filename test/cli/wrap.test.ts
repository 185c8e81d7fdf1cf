import fc from 'fast-check';
import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import { renderTable, right } from '../../src/cli/output.ts';
import { reflow, visibleWidth, widthOf, wrapWords } from '../../src/cli/wrap.ts';

const odd = ['Łódź', 'Γιώργος', '厨房', '😀', 'x\u0302', '/var/lib/gw/state/records/site-SN0007-20260131T120000Z.json'];
const word = fc.oneof(fc.stringMatching(/^[a-z]{1,12}$/), fc.constantFrom(...odd));
const words = fc.array(word, { minLength: 1, maxLength: 40 });
const width = fc.integer({ min: 20, max: 140 });
const longest = (text: string) => Math.max(...text.split(/\s+/).map((one) => stringWidth(one)));
const squeezed = (text: string) => text.replace(/\s+/g, ' ').trim();

describe('the width of lines', () => {
  it('is COLUMNS, else that of the terminal, and has no bound elsewhere', () => {
    expect(widthOf({ isTTY: true, columns: 100 }, {})).toBe(100);
    expect(widthOf({ isTTY: true, columns: 100 }, { COLUMNS: '60' })).toBe(60);
    expect(widthOf({ columns: 100 }, {})).toBe(Number.POSITIVE_INFINITY);
    expect(widthOf({}, { COLUMNS: '60' })).toBe(60);
    expect(widthOf({ isTTY: true, columns: 0 }, { COLUMNS: 'wide' })).toBe(Number.POSITIVE_INFINITY);
    expect(widthOf({ isTTY: true, columns: 3 }, {})).toBe(40);
  });

  it('counts what a terminal shows', () => {
    const widths = ['abc', '厨房', 'x\u0302', '\u001b[1mab\u001b[0m'].map(visibleWidth);
    expect(widths).toEqual([3, 4, 1, 2]);
  });

  it('is that of another implementation, for the characters of our texts and of names', { tags: 'property' }, () => {
    const shown = [
      'a',
      ' ',
      'ä',
      'ß',
      '€',
      'e\u0301',
      '漢',
      '한',
      'ｆ',
      '😀',
      '👨‍👩‍👧',
      '🇩🇪',
      '❤️',
      '✓',
      '●',
      '○',
      '…',
      '—',
      '°',
    ];
    const codes = ['\u001b[31m', '\u001b[39m', '\u001b[1m', '\u001b[0m'];
    const text = fc.array(fc.constantFrom(...shown, ...codes), { maxLength: 40 }).map((units) => units.join(''));
    fc.assert(
      fc.property(text, (one) => {
        expect(visibleWidth(one)).toBe(stringWidth(one));
      }),
    );
  });
});

describe('a text', () => {
  it('loses no word, and has no line over the width but one word', { tags: 'property' }, () => {
    fc.assert(
      fc.property(words, width, (list, columns) => {
        const lines = wrapWords(list.join(' '), columns);
        expect(lines.join(' ')).toBe(list.join(' '));
        for (const line of lines) expect(stringWidth(line)).toBeLessThanOrEqual(Math.max(columns, longest(line)));
      }),
    );
  });

  it('continues under its words: behind a verdict, a label, the sign of a list', () => {
    const long = 'one two three four five six seven eight nine ten eleven twelve';
    const folded = [
      'ok   The site file: one two three four',
      '     five six seven eight nine ten',
      '     eleven twelve',
    ];
    expect(reflow(`ok   The site file: ${long}`, 40).split('\n')).toEqual(folded);
    expect(reflow(`  standstill  --   ${long}`, 44).split('\n')[1]).toMatch(/^ {19}\S/);
    expect(reflow(`- ${long}`, 40).split('\n')[1]).toMatch(/^ {2}\S/);
    expect(reflow(`\u001b[32mok  \u001b[39m The site: ${long}`, 40).split('\n')[1]).toMatch(/^ {5}\S/);
  });

  it('keeps a quoted command whole where it has room', () => {
    const lines = ['the clock is compared by', '`gw network check` later'];
    expect(wrapWords(lines.join(' '), 40)).toEqual(lines);
    const long = `\`gw evidence record ${'x '.repeat(20)}\``;
    expect(wrapWords(`do ${long}`, 40).length).toBeGreaterThan(1);
  });

  it('stays whole where it is a command to copy', () => {
    const line = `gw tunnel connect --service web --ca-file ${'/a b'.repeat(20)}`;
    expect(reflow(line, 40)).toBe(line);
    expect(reflow(`gw reads ${'the file '.repeat(20)}`, 40).split('\n').length).toBeGreaterThan(4);
  });

  it('begins below a column that is too wide to stand under', () => {
    const line =
      'ok    The chassis has the configured serial number      serial SIM-0001, software 2.12.3, answers in 1 ms';
    expect(reflow(line, 60).split('\n')).toEqual([
      'ok    The chassis has the configured serial number',
      '        serial SIM-0001, software 2.12.3, answers in 1 ms',
    ]);
  });

  it('stays whole where nothing bounds it, and where it fits', { tags: 'property' }, () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(reflow(text, Number.POSITIVE_INFINITY)).toBe(text);
        expect(reflow(text, 10_000)).toBe(text);
      }),
    );
  });

  it('keeps every character but spaces when it is broken', { tags: 'property' }, () => {
    fc.assert(
      fc.property(fc.array(words, { maxLength: 5 }), width, (paragraphs, columns) => {
        const text = paragraphs.map((list) => `ok   ${list.join(' ')}`).join('\n');
        expect(squeezed(reflow(text, columns))).toBe(squeezed(text));
      }),
    );
  });
});

describe('a table', () => {
  it('of names and values keeps them side by side, and a word that is too wide stands out alone', () => {
    const sha = 'AB:'.repeat(20);
    const rows = [
      ['path', 'direct'],
      ['certificate', `until tomorrow, SHA-256 ${sha}`],
    ];
    expect(renderTable(['Part', 'State'], rows, 40).split('\n').slice(1)).toEqual([
      'path         direct',
      'certificate  until tomorrow, SHA-256',
      `             ${sha}`,
    ]);
  });

  it('of blocks: a row without a first cell continues the one before, a verdict stands before its name', () => {
    const wide = 'x'.repeat(30);
    const rows = [
      ['capabilities', wide, 'HINWEIS'],
      ['', 'more', ''],
    ];
    const blocks = ['capabilities', `  value  ${wide}`, '  mark   HINWEIS', '         more'];
    expect(renderTable(['what', 'value', 'mark'], rows, 40).split('\n')).toEqual(blocks);
    expect(renderTable(['', 'route', '5173'], [['ok', `GET /${wide}`, '200']], 30).split('\n')).toEqual([
      `ok GET /${wide}`,
      '  5173  200',
    ]);
  });

  const columns = ['name', right('count'), 'what it says'];

  it('is as wide as its cells where there is room', () => {
    expect(renderTable(columns, [['a', '1', 'short']], 80)).toContain('a         1  short');
  });

  it('breaks its cells at spaces, under their titles', () => {
    const lines = renderTable(columns, [['a', '12', 'one two three four five']], 30).split('\n');
    expect(lines.slice(1)).toEqual(['a        12  one two three', '             four five']);
  });

  it('has a block for each row where its words are too wide', () => {
    const path = '/var/lib/gw/state/records/site.json';
    expect(renderTable(columns, [[path, '12', 'a b']], 40).split('\n')).toEqual([
      path,
      expect.stringMatching(/count\S* +12$/),
      expect.stringMatching(/what it says\S* +a b$/),
    ]);
  });

  it('loses no word at any width, and no line is wider but for a single word', { tags: 'property' }, () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(words, words, words), { minLength: 1, maxLength: 6 }), width, (rows, columnsOf) => {
        const cells = rows.map((row) => row.map((list) => list.join(' ')));
        const shown = renderTable(['a', 'b', 'c'], cells, columnsOf);
        for (const one of rows.flat(2)) expect(shown).toContain(one);
        const least = [0, 1, 2].map((at) => Math.max(1, ...cells.map((row) => longest(row[at] ?? ''))));
        if (least.reduce((sum, one) => sum + one, 4) > columnsOf) return;
        for (const line of shown.split('\n')) expect(stringWidth(line)).toBeLessThanOrEqual(columnsOf);
      }),
    );
  });
});
