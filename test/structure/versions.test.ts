import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const read = (path: string) => readFileSync(`${root}${path}`, 'utf8');

const { version, engines } = JSON.parse(read('package.json'));
const lock = JSON.parse(read('package-lock.json'));

/** `## 1.2.3`, or `## 1.2.3, not released` above all others. */
const headings = [...read('CHANGELOG.md').matchAll(/^## (.*)$/gm)].map(([, heading = '']) => heading);
const isReleased = (heading: string) => !heading.endsWith(', not released');
const parts = (heading: string) => heading.split(/[.,]/, 3).map(Number);

describe('the version', () => {
  it('is the newest released one of the changelog', () => {
    expect(headings.length).toBeGreaterThan(0);
    for (const heading of headings) expect(heading).toMatch(/^\d+\.\d+\.\d+(?:, not released)?$/);
    expect(headings.find(isReleased)).toBe(version);
  });

  it('has newer ones in the changelog only as not released, newest first', () => {
    expect(headings.slice(1).filter((heading) => !isReleased(heading))).toEqual([]);
    const newestFirst = [...headings].sort((a, b) => {
      const [left, right] = [parts(a), parts(b)];
      return (right[0] ?? 0) - (left[0] ?? 0) || (right[1] ?? 0) - (left[1] ?? 0) || (right[2] ?? 0) - (left[2] ?? 0);
    });
    expect(headings).toEqual(newestFirst);
  });

  it('is that of the lock file', () => {
    expect({ version: lock.version, root: lock.packages[''].version }).toEqual({ version, root: version });
    expect(lock.packages[''].engines).toEqual(engines);
  });

  it('is that of the manifest and of the contracts', () => {
    expect(JSON.parse(read('oclif.manifest.json')).version).toBe(version);
    for (const contract of ['openapi', 'asyncapi']) {
      expect(JSON.parse(read(`schemas/${contract}.json`)).info.version, contract).toBe(version);
    }
  });

  it('stands in the README, with the one in development', () => {
    const readme = read('README.md');
    expect(/^Released: (\S+)\./m.exec(readme)?.[1]).toBe(version);
    const [newest = ''] = headings;
    const developed = isReleased(newest) ? undefined : newest.split(',')[0];
    expect(/In development: (\d+\.\d+\.\d+)/.exec(readme)?.[1]).toBe(developed);
  });

  it.each(['README.md', 'docs/install.md'])('stands in the output that %s shows', (page) => {
    const shown = [...read(page).matchAll(/(?:\bgw |status ok, version )(\d+\.\d+\.\d+)\b/g)].map(([, found]) => found);
    expect(shown.length).toBeGreaterThan(0);
    expect(new Set(shown)).toEqual(new Set([version]));
  });
});
