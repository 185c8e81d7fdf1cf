import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { z } from 'zod';
import { nearest, type Problem, parseDocument, problemText, readDocument } from '../../src/lib/document/index.ts';
import { GwError } from '../../src/lib/error/index.ts';
import { isFull, runs } from '../properties.ts';
import { anyCharacter } from '../text/units.ts';

const schema = z.strictObject({
  name: z.string().min(1).max(10),
  port: z.int().min(1).max(65535).default(8090).describe('TCP port, 1 to 65535.'),
  mode: z.enum(['direct', 'tunnel']).optional(),
  stations: z.record(z.string().regex(/^[a-z]+$/, 'small letters'), z.strictObject({ xM: z.number() })).default({}),
  tags: z.array(z.string()).max(3).default([]),
});

const parse = (text: string | Uint8Array, maxBytes = 4096) =>
  parseDocument({ text, file: 'a.yaml', schema, maxBytes, error: 'SITE_FILE_INVALID' });

function problemsOf(text: string | Uint8Array, maxBytes?: number): Problem[] {
  try {
    parse(text, maxBytes);
  } catch (error) {
    if (!(error instanceof GwError)) throw error;
    expect(error.code).toBe('SITE_FILE_INVALID');
    const problems = error.details?.problems as Problem[];
    expect(problems.length).toBeGreaterThan(0);
    return problems;
  }
  return [];
}

const only = (text: string | Uint8Array, maxBytes?: number): Problem => {
  const problems = problemsOf(text, maxBytes);
  expect(problems).toHaveLength(1);
  return problems[0] as Problem;
};

describe('a tab in the indentation', () => {
  test('is one problem, at its place, however many lines follow', () => {
    const text = `name: robot\nstations:\n${'\ta: { xM: 1 }\n'.repeat(7)}port: x\n`;
    expect(only(text)).toMatchObject({ line: 3, column: 1, found: 'a tab in the indentation', expected: 'spaces' });
  });

  test('is no problem within a value', () => {
    expect(problemsOf('name: "a\tb"\n')).toEqual([]);
  });
});

describe('a file that is none', () => {
  test('has no lines that could be corrected, and its remedy names none', async () => {
    const read = readDocument({ path: tmpdir(), schema, maxBytes: 10, error: 'SITE_FILE_INVALID' });
    await expect(read).rejects.toMatchObject({ remedy: 'Name another file.' });
    const gone = readDocument({ path: '/nowhere', schema, maxBytes: 10, error: 'FILE_UNREADABLE' });
    await expect(gone).rejects.toMatchObject({ remedy: 'There is no such file: name one that exists.' });
  });
});

describe('a valid document', () => {
  test('yields the typed value with its defaults', () => {
    const value = parse('name: robot # the name\nstations:\n  a: { xM: 1.5 }\n');
    expect(value).toEqual({ name: 'robot', port: 8090, stations: { a: { xM: 1.5 } }, tags: [] });
  });

  test('is read back as written, whatever the values', { tags: 'property' }, () => {
    const values = fc.record({
      name: fc.string({ minLength: 1, maxLength: 10, unit: fc.constantFrom(...'a :#\'"ä-0') }),
      port: fc.integer({ min: 1, max: 65535 }),
      tags: fc.array(fc.string({ unit: fc.constantFrom(...'x!&*{\n%') }), { maxLength: 3 }),
    });
    fc.assert(
      fc.property(values, (value) => {
        expect(parse(stringify(value), 65536)).toEqual({ ...value, stations: {} });
      }),
    );
  });
});

describe('every problem has file, line, key, found and expected value', () => {
  test('all problems of a document are reported at once, in the order of its lines', () => {
    const problems = problemsOf('name: 17\nport: 99999\nstations:\n  A1: {}\n  b: { yM: 1 }\nmoed: direct\n');
    expect(problems.map(problemText)).toEqual([
      'a.yaml:1:7: name: found 17, expected text: put it in quotes',
      'a.yaml:2:7: port: found 99999, expected at most 65535',
      "a.yaml:4:3: stations.A1: found 'A1', expected a key of small letters",
      'a.yaml:5:3: stations.b.xM: found nothing, expected a number',
      "a.yaml:5:8: stations.b.yM: found the unknown key 'yM', expected one of xM; did you mean 'xM'?",
      "a.yaml:6:1: moed: found the unknown key 'moed', expected one of name, port, mode, stations, tags; did you mean 'mode'?",
    ]);
  });

  test('an invalid word is compared with the allowed words', () => {
    expect(problemText(only('name: a\nmode: tunel\n'))).toBe(
      "a.yaml:2:7: mode: found 'tunel', expected one of direct, tunnel; did you mean 'tunnel'?",
    );
  });

  test('a number in place of text is shown as written', () => {
    const problem = { found: '0123', expected: 'text: put it in quotes', line: 1, column: 7 };
    expect(only('name: 0123\n')).toMatchObject(problem);
  });

  test('a check across keys reports the position of the key, also beside problems of shape', () => {
    const text = 'name: a\nport: x\ntags: [one, two]\n';
    const run = () =>
      parseDocument({
        ...{ text, file: 'a.yaml', schema, maxBytes: 4096, error: 'CHECKLIST_INVALID' },
        check: (_value, report) => report(['tags', 1], { expected: 'another tag', suggestion: 'three' }),
      });
    expect(run).toThrow(/a\.yaml:2:7: port: found 'x', expected a number/);
    expect(run).toThrow(/a\.yaml:3:13: tags\[1\]: found 'two', expected another tag; did you mean 'three'\?/);
  });

  test('a quoted value is shortened, kept on one line and stripped of control characters', () => {
    const { found } = only(`name: "${'x'.repeat(300)}\\u001b[31m"\n`);
    expect(found).toBe(`'${'x'.repeat(59)}…'`);
    expect(only('name: a\nmode: "di\\nrect\\e[1m"\n').found).toBe("'di rect [1m'");
  });
});

describe('strict parsing', () => {
  test.each([
    ['an empty file', '', 'an empty file'],
    ['a file of comments', '# nothing\n', 'an empty file'],
    ['a list', '- a\n', 'a list'],
    ['a single word', 'hello\n', "'hello'"],
    ['an alias', 'name: a\ntags: [*b]\n', "the alias '*b'"],
    ['an anchor', 'name: &a x\n', "the anchor '&a'"],
    ['a tag', 'name: !!str x\n', "the tag 'tag:yaml.org,2002:str'"],
    ['an unknown tag', 'name: !x x\n', 'invalid YAML (Unresolved tag: !x)'],
    ['a duplicate key', 'name: a\nname: b\n', "the key 'name' a second time"],
    ['a merge key', 'name: a\n<<: { port: 1 }\n', "the unknown key '<<'"],
    ['a structured key', 'name: a\n[x]: 1\n', 'a key that is not plain text'],
    ['the key __proto__', 'name: a\n__proto__: { port: 1 }\n', "'__proto__'"],
    ['a second document', 'name: a\n---\nname: b\n', 'a second document after ---'],
    ['a directive', '%YAML 1.1\n---\nname: a\n', 'a % directive'],
    ['bytes that are not UTF-8', new Uint8Array([0x6e, 0xff, 0xfe]), 'binary data'],
    ['control characters', 'name: a\u0000b\n', 'binary data'],
    ['too many bytes', `name: a #${'x'.repeat(5000)}\n`, '5 KiB'],
  ])('%s is rejected', (_name, text, found) => {
    expect(only(text).found).toBe(found);
  });

  test.each([
    ['lists in one line', '['.repeat(20_000)],
    ['lists by dashes', '- '.repeat(10_000)],
    ['maps', '{"a":'.repeat(10_000)],
    ['a sound nesting of sixty levels', `${'['.repeat(60)}${']'.repeat(60)}`],
  ])('%s nested very deeply are one problem, not a crash', (_name, text) => {
    expect(only(text, 200_000).found).toBe('too many nested levels');
  });

  test('very many keys are parsed', { tags: 'property' }, () => {
    const text = Array.from({ length: isFull ? 30_000 : 1_000 }, (_, i) => `key${i}: 1`).join('\n');
    expect(problemsOf(text, 1 << 20).length).toBeGreaterThan(100);
  });

  test('any bytes yield a value or coded problems, never another error', { tags: 'property' }, () => {
    const text = fc.oneof(fc.uint8Array({ maxLength: 200 }), fc.string({ maxLength: 200, unit: anyCharacter }));
    fc.assert(fc.property(text, (any) => void problemsOf(any)));
  });

  test('any YAML-like text yields a value or coded problems, never another error', { tags: 'property' }, () => {
    const pieces = fc.constantFrom(...':-[]{}"\'|>?,1#%\t \n', 'name', '&a', '*a', '!!int', '---', '<<');
    const text = fc.array(pieces, { maxLength: 60 });
    fc.assert(
      fc.property(text, (words) => void problemsOf(words.join(''))),
      { numRuns: runs(500) },
    );
  });
});

describe('reading a file', () => {
  let dir = '';
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'gw-document-'));
  });
  afterAll(() => rm(dir, { recursive: true, force: true }));

  const read = (path: string) =>
    readDocument({ path, schema, maxBytes: 4096, error: 'SITE_FILE_INVALID', notFound: 'SITE_FILE_NOT_FOUND' });

  test('a valid file yields its value', async () => {
    await writeFile(join(dir, 'good.yaml'), 'name: good\n');
    await expect(read(join(dir, 'good.yaml'))).resolves.toMatchObject({ name: 'good' });
  });

  test('a missing file has its own code', async () => {
    await expect(read(join(dir, 'none.yaml'))).rejects.toMatchObject({ code: 'SITE_FILE_NOT_FOUND' });
  });

  test('a folder and a device are rejected by their type', async () => {
    await expect(read(dir)).rejects.toThrow(/found a folder, expected a file/);
    await expect(read('/dev/zero')).rejects.toThrow(/not a regular file/);
  });

  test('a file of ten megabytes is rejected by its size', async () => {
    await writeFile(join(dir, 'big.yaml'), Buffer.alloc(10 * 1024 * 1024, 'a'));
    await expect(read(join(dir, 'big.yaml'))).rejects.toThrow(/found 10\.0 MiB, expected at most 4 KiB/);
  });
});

describe('did you mean', () => {
  test('a similar word is suggested, a different one is not', () => {
    expect(nearest('chasis', ['chassis', 'operator'])).toBe('chassis');
    expect(nearest('hots', ['port', 'host'])).toBe('host');
    expect(nearest('weather', ['chassis', 'operator'])).toBeUndefined();
    expect(nearest('x', [])).toBeUndefined();
  });

  test('a word with two adjacent letters swapped is always suggested', { tags: 'property' }, () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z]{4,20}$/), fc.nat(), (word, n) => {
        const at = n % (word.length - 1);
        const swapped = word.slice(0, at) + word[at + 1] + word[at] + word.slice(at + 2);
        expect(nearest(swapped, [word])).toBe(word);
      }),
    );
  });
});

describe('a decimal comma', () => {
  const expected = 'a number with a decimal point: 1.5';
  const before = 'name: robot\nstations:\n';

  test.each([
    ["xM: '1,5'", `${before}  a: { xM: '1,5' }\n`, { line: 3, column: 12, found: "'1,5'" }],
    ['xM: 1,5 in a block', `${before}  a:\n    xM: 1,5\n`, { line: 4, column: 9, found: "'1,5'" }],
    [
      'xM: 1,5 in braces',
      `${before}  a: { xM: 1,5 }\n`,
      { line: 3, found: 'a decimal comma, which ends the value: 1,5' },
    ],
  ])('in %s is named with the number that was meant', (_, text, found) => {
    expect(only(text)).toMatchObject({ ...found, expected });
  });

  test('is not seen in a key that is a number, nor in a text', () => {
    expect(only(`${before}  a: { xM: 1, 5: 2 }\n`).expected).not.toContain('decimal');
    expect(only(`${before}  a: { xM: 1.2,5: 2 }\n`).expected).not.toContain('1.5');
    expect(problemsOf("name: '1,5'\n")).toEqual([]);
  });
});
