import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { breach, glossary, mayBreach } from './glossary.ts';
import { oneLine, type Text, textsOfDocument, textsOfSource, wordsOf } from './texts.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const contributing = 'docs/contributing.md';

/** The section of docs/contributing.md that lists the words themselves. */
const wordsSection = /^## Words\n[\s\S]*?(?=^## )/m;

function breaches(path: string, texts: readonly Text[]): string[] {
  return texts.flatMap(({ line, kind, text }) => {
    const found = breach(text);
    return found === null ? [] : [`${path}:${line}: ${kind} with '${found.words}' (say: ${found.say}): ${text}`];
  });
}

describe('the glossary', () => {
  it('has a rule for each row of its page', () => {
    const section = wordsSection.exec(readFileSync(`${root}${contributing}`, 'utf8'))?.[0] ?? '';
    const table = section.slice(section.indexOf('| Say | Not |'), section.indexOf('Kept on purpose'));
    const rows = table
      .split('\n')
      .slice(2)
      .filter((line) => line.startsWith('|'));
    expect(rows.map((row) => row.split(' | ')[0]?.replace(/^\| /, '')).sort()).toEqual(
      glossary.map(({ say }) => say).sort(),
    );
  });

  it.each(glossary.flatMap(({ say, found }) => found.map((text) => [text, say])))('finds %o (%s)', (text) => {
    expect([breach(text) !== null, mayBreach(`say(${text})`)]).toEqual([true, true]);
  });

  it.each([
    'doors and lifts',
    'the door zone',
    'the voice service',
    '@cert-authority',
    'the house network',
    'heartbeat',
  ])('leaves %o', (text) => {
    expect(breach(text)).toBeNull();
  });
});

describe('the texts of a source', () => {
  it('are its strings, comments and names, and no path of an import', () => {
    const source = [
      "import { a } from './path.ts';",
      '// first',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the source under test
      'const maxBytes = `one ${a} two`; /* second */',
    ].join('\n');
    expect(
      textsOfSource('x.ts', source)
        .map(({ line, kind, text }) => `${line} ${kind} ${text}`)
        .sort(),
    ).toEqual([
      '1 name a',
      '2 comment // first',
      '3 comment /* second */',
      '3 name max Bytes',
      '3 text  two',
      '3 text one ',
    ]);
  });
});

describe('left-out words', () => {
  const sources = globSync(['{src,web,bench,scripts}/**/*.{ts,js}', 'bin/*.js', '*.ts'], { cwd: root }).sort();
  const documents = globSync(
    [
      '{README,SECURITY,CONTRIBUTING}.md',
      'docs/*.md',
      'checklists/*.yaml',
      'packaging/*.*',
      'packaging/debian/*',
      'packaging/ansible/**/*.yml',
      'package.json',
    ],
    {
      cwd: root,
    },
  ).sort();

  it('stand in no string, comment or name of the source', () => {
    expect(sources.length).toBeGreaterThan(500);
    const found = sources.flatMap((path) => {
      const source = readFileSync(`${root}${path}`, 'utf8');
      // Only a source with such a word anywhere is parsed.
      const isSuspect = [oneLine(source), wordsOf(oneLine(source))].some(mayBreach);
      return isSuspect ? breaches(path, textsOfSource(path, source)) : [];
    });
    expect(found).toEqual([]);
  });

  it('stand in no name of a file or folder', () => {
    const paths = globSync('{src,test,bench,scripts}/**', { cwd: root });
    const names = paths.map((path) => ({
      line: 0,
      kind: 'name' as const,
      text: wordsOf(path.split('/').at(-1) ?? ''),
    }));
    expect(breaches('file', names)).toEqual([]);
  });

  it('stand in no document or checklist', () => {
    expect(documents.length).toBeGreaterThan(25);
    const found = documents.flatMap((path) => {
      const section = wordsSection.exec(readFileSync(`${root}${path}`, 'utf8'))?.[0];
      const own = path === contributing ? (section?.split('\n') ?? []) : [];
      return breaches(
        path,
        textsOfDocument(`${root}${path}`).filter(({ text }) => !own.includes(text)),
      );
    });
    expect(found).toEqual([]);
  });
});
