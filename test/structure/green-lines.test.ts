import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));

test('the page on green lines names tests that are there, and a test for every line', () => {
  const page = readFileSync(`${root}/docs/green-lines.md`, 'utf8');
  const named = [...page.matchAll(/`(test\/[\w/.-]+\.ts)`/g)].map(([, path]) => path ?? '');
  expect(named.length).toBeGreaterThan(30);
  expect(named.filter((path) => !existsSync(`${root}/${path}`))).toEqual([]);
  const rows = page.split('\n').filter((line) => line.startsWith('| ') && !line.startsWith('| green line'));
  const without = rows.filter((row) => !row.includes('`test/') && !/\| the same(?: · .*)? \|$/.test(row));
  expect(without).toEqual([]);
});
