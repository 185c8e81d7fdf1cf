import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { anchorsOf, linksOf, slugOf } from './markdown.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const read = (path: string) => readFileSync(join(root, path), 'utf8');

/** Every page of the repository that a reader may open first. */
const pages = [
  'README.md',
  'SECURITY.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  ...globSync('docs/**/*.md', { cwd: root }).sort(),
];
const index = 'docs/README.md';

/** What is wrong with the links of a page: a missing file, or a missing heading in it. */
function brokenLinks(page: string, text: string): string[] {
  return linksOf(page, text).flatMap(({ line, target, path, anchor }) => {
    const at = `${page}:${line}: ${target}`;
    if (path.startsWith('..')) return [`${at} leads out of the repository`];
    if (target === '' || !existsSync(join(root, path))) return [`${at}: no such file`];
    if (anchor === '') return [];
    if (!path.endsWith('.md')) return [`${at}: an anchor in a file that is no page`];
    return anchorsOf(path === page ? text : read(path)).has(anchor) ? [] : [`${at}: no such heading`];
  });
}

describe('the links of the pages', () => {
  it('are found in every spelling, and not in code', () => {
    const text = [
      '[a](docs/a.md "A title"), [b](docs/b.md#part) and [c](<docs/c.md>) ![picture](d.png)',
      '[here](#part), [web](https://example.org/x.md), [mail](mailto:a@example.org)',
      '<a href="docs/e.md"><img src="f.png" alt="picture"></a>',
      '`[code](docs/no.md)` and ``[code `two`](docs/no.md)``',
      '```',
      '[block](docs/no.md)',
      '```',
      '<!-- [comment](docs/no.md) -->',
      '[name]: docs/g.md',
    ].join('\n');
    expect(
      linksOf('README.md', text)
        .map(({ line, path, anchor }) => `${line} ${path}#${anchor}`)
        .sort(),
    ).toEqual([
      '1 d.png#',
      '1 docs/a.md#',
      '1 docs/b.md#part',
      '1 docs/c.md#',
      '2 README.md#part',
      '3 docs/e.md#',
      '3 f.png#',
      '9 docs/g.md#',
    ]);
    expect(linksOf('docs/a.md', '[up](../README.md) [beside](b.md)').map(({ path }) => path)).toEqual([
      'README.md',
      'docs/b.md',
    ]);
  });

  it.each([
    ['Two words', 'two-words'],
    ['`gw serve`: the daemon', 'gw-serve-the-daemon'],
    ['The read-only socket: 127.0.0.1:5174', 'the-read-only-socket-1270015174'],
    ['`GET /api/nachbarn`', 'get-apinachbarn'],
    ['`gw map show <id>` <b>now</b>', 'gw-map-show-id-now'],
    ['A — B', 'a--b'],
    ['Über [das](x.md) Ziel_1', 'über-das-ziel_1'],
  ])('lead to the heading %o as %o', (heading, anchor) => {
    expect(slugOf(heading)).toBe(anchor);
  });

  it('lead to repeated headings by their number', () => {
    const text = '# Same\n## Same\n## Same-1\n### Same\nUnderlined\n---\n```\n# code\n```\n<a id="own"></a>\n';
    expect([...anchorsOf(text)].sort()).toEqual(['own', 'same', 'same-1', 'same-1-1', 'same-2', 'underlined']);
  });

  it('are broken where file or heading is missing', () => {
    const text = '# Here\n[a](docs/none.md) [b](docs/errors.md#none) [c](#here) [d](#none) [e](../x.md) ![f](none.png)';
    expect(brokenLinks('README.md', text)).toEqual([
      'README.md:2: docs/none.md: no such file',
      'README.md:2: docs/errors.md#none: no such heading',
      'README.md:2: #none: no such heading',
      'README.md:2: ../x.md leads out of the repository',
      'README.md:2: none.png: no such file',
    ]);
  });

  it('are whole on every page', () => {
    expect(pages.length).toBeGreaterThan(30);
    expect(pages.flatMap((page) => linksOf(page, read(page))).length).toBeGreaterThan(300);
    expect(pages.flatMap((page) => brokenLinks(page, read(page)))).toEqual([]);
  });
});

describe('the index of the pages', () => {
  it('has one line for each page', () => {
    const listed = read(index)
      .split('\n')
      .filter((line) => line.startsWith('| ['))
      .map((line) => linksOf(index, line.split(' | ')[0] ?? '')[0]?.path);
    const own = pages.filter((page) => page.startsWith('docs/') && page !== index);
    expect(listed.filter((path) => path?.startsWith('docs/')).sort()).toEqual(own);
  });
});

describe('the README', () => {
  it('has the two commands as they are typed', () => {
    const lines = read('README.md').split('\n');
    for (const command of ['npm ci && npm run demo', 'npm ci && npm test']) expect(lines).toContain(command);
  });

  it('shows a picture, and says how to try it, before it explains a mark', () => {
    const text = read('README.md');
    const first = text.search(/BELEGT|HINWEIS|VORSICHT|OFFEN/);
    expect(text.search(/<img |!\[/)).toBeGreaterThan(0);
    for (const part of [/<img |!\[/, /npm run demo/, /docs\/README\.md/]) {
      if (first !== -1) expect(text.search(part)).toBeLessThan(first);
    }
  });
});
