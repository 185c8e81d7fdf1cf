import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Pages whose rows each name the test of a claim; by the heads of their tables. */
const pages = [
  { page: 'green-lines.md', head: /^\| green line/ },
  { page: 'security.md', head: /^\| (Attack|What|Peer) / },
];

describe.each(pages)('docs/$page', ({ page, head }) => {
  const text = readFileSync(`${root}/docs/${page}`, 'utf8');

  it('names existing test files', () => {
    const named = [...text.matchAll(/`(test\/[\w/.-]+\.ts)`/g)].map(([, path]) => path ?? '');
    expect(named.length).toBeGreaterThan(30);
    expect(named.filter((path) => !existsSync(`${root}/${path}`))).toEqual([]);
  });

  it('names a test for every row', () => {
    const rows = text.split('\n').filter((line) => line.startsWith('| ') && !head.test(line));
    expect(rows.length).toBeGreaterThan(20);
    const without = rows.filter((row) => !row.includes('`test/') && !/\| the same(?: · .*)? \|$/.test(row));
    expect(without).toEqual([]);
  });
});
