import { globSync, readFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
/** Shorter files are read at one glance. */
const LONG_LINES = 120;

/** The words of a name in alphabetical order, without their plurals: `probeTls` is named as `tls-probe` is. */
function wordsOf(name: string): string {
  const words = name.split(/-|(?=[A-Z])/).map((word) => word.toLowerCase().replace(/s$/, ''));
  return words.toSorted().join(' ');
}

/** What a file does, not what undoes, shows or asks about it. */
const besides = /^(?:add|close|drop|has|is|view)[A-Z]/;

/** The exported function that a file is named after, and the functions before it. */
function openingOf(path: string, text: string) {
  const file = basename(path).replace(/\.tsx?$/, '');
  const own = [wordsOf(file), wordsOf(`${file}-${basename(dirname(path))}`)];
  const functions = [...text.matchAll(/^(export )?(?:default )?(?:async )?function\*? (\w+)/gm)];
  const at = functions.findIndex(
    ([, isExported, name = '']) =>
      isExported !== undefined &&
      !besides.test(name) &&
      [name, name.replace(/^[a-z]+/, '')].some((one) => own.includes(wordsOf(one))),
  );
  return at < 0 ? null : { named: functions[at]?.[2], before: functions.slice(0, at).map(([, , name]) => name) };
}

it('a long file opens with the function that it is named after; its helpers follow', () => {
  const openings = globSync('src/**/*.{ts,tsx}', { cwd: root }).flatMap((path) => {
    const text = readFileSync(`${root}${path}`, 'utf8');
    const opening = text.split('\n').length < LONG_LINES ? null : openingOf(path, text);
    return opening === null ? [] : [{ path, ...opening }];
  });
  expect(openings.length).toBeGreaterThan(150);
  expect(openings.filter(({ before }) => before.length > 0)).toEqual([]);
});

it.each([
  ['tls-probe.ts', 'function helper() {}\nexport async function probeTls() {}', ['helper']],
  ['json/read.ts', 'export function check() {}\nfunction two() {}\nexport function readJson() {}', ['check', 'two']],
  ['outbox.ts', 'export function openOutbox() {}\nfunction helper() {}', []],
])('in %s, %j is read so', (path, text, before) => {
  expect(openingOf(path, text)?.before).toEqual(before);
});

it('a file that is named after no function of its own is not judged', () => {
  expect(openingOf('socket.ts', 'export function open() {}\nexport function closeSocket() {}')).toBeNull();
});
