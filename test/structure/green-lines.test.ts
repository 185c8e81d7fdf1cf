import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { isFaultName } from '../../src/lib/sim/faults.ts';

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

  it('names titles that exist in these files', () => {
    const missing = text.split('\n').flatMap((line) =>
      [...line.matchAll(titles)].flatMap(([, path = '', names = '']) => {
        const hasTitle = (name: string) => literalsOf(path).some((text) => inOrder(text, partsOf(name)));
        return names.split(/; |, (?=gw )/).flatMap((name) => (hasTitle(name) ? [] : [`${path}: ${name}`]));
      }),
    );
    expect(missing).toEqual([]);
  });

  it('names a test for every row', () => {
    const rows = text.split('\n').filter((line) => line.startsWith('| ') && !head.test(line));
    expect(rows.length).toBeGreaterThan(20);
    const without = rows.filter((row) => !row.includes('`test/') && !/\| the same(?: · .*)? \|$/.test(row));
    expect(without).toEqual([]);
  });
});

describe('the column "the robot lies" of docs/green-lines.md', () => {
  const sections = readFileSync(`${root}/docs/green-lines.md`, 'utf8').split(/^## /m);
  const rows = sections
    .filter((section) => section.includes('| green line | the robot lies |'))
    .flatMap((section) => section.split('\n'))
    .filter((line) => line.startsWith('| ') && !line.startsWith('| green line'))
    .map((line) => {
      const [name = '', faults = ''] = line.slice(2).split(' | ');
      const tests = [...line.matchAll(/`(test\/[\w/.-]+\.ts)`/g)].map(([, path]) => path ?? '');
      return { name, faults: [...faults.matchAll(/`([\w-]+)`/g)].map(([, fault]) => fault ?? ''), cell: faults, tests };
    });

  it('is filled in every row, with faults of the simulator', () => {
    expect(rows.length).toBeGreaterThan(35);
    expect(rows.filter(({ faults, cell }) => faults.length === 0 && cell !== '—')).toEqual([]);
    expect(rows.flatMap(({ faults }) => faults).filter((fault) => !isFaultName(fault))).toEqual([]);
  });

  it('names no fault that no test of its row uses', () => {
    const unused = rows.flatMap(({ name, faults, tests }) => {
      const used = tests.map((path) => readFileSync(`${root}/${path}`, 'utf8')).join('\n');
      return faults.filter((fault) => !new RegExp(`['"\`]${fault}\\b`).test(used)).map((fault) => `${name}: ${fault}`);
    });
    expect(unused).toEqual([]);
  });
});

/** `test/a.test.ts`: the title of a test, up to the next file or the end of the cell. */
const titles = /`(test\/[\w/.-]+\.ts)`(?: \([^)]*\))?: (.*?)(?=\s*(?: · |, `test| \||$))/g;

const known = new Map<string, readonly string[]>();

/** What stands between quotes in a file. */
function literalsOf(path: string): readonly string[] {
  const found =
    known.get(path) ?? readFileSync(`${root}/${path}`, 'utf8').match(/(['"`])(?:\\.|(?!\1)[^\\\n])*\1/g) ?? [];
  known.set(path, found);
  return found.map((text) => text.replaceAll(/\\(.)/g, '$1'));
}

/** The parts of a title that `…` shortens, without a remark of the page behind it. */
function partsOf(name: string): string[] {
  const title = name.replace(/ \(\d+ rows\)| and those beside it/g, '');
  return title.split('…').map((part) => part.trim());
}

function inOrder(title: string, parts: readonly string[]): boolean {
  let from = 0;
  return parts.every((part) => {
    const at = title.indexOf(part, from);
    from = at + part.length;
    return at >= 0;
  });
}
