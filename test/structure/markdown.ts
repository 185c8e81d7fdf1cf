import { dirname, join, normalize } from 'node:path';

/** A link or a picture of a page: the file from the root of the repository, and the heading in it. */
export interface Link {
  readonly line: number;
  /** As written. */
  readonly target: string;
  readonly path: string;
  /** Without `#`; empty: the whole file. */
  readonly anchor: string;
}

/** The text with code replaced by blanks, line for line: what stands in code is no link and no heading. */
const withoutCode = (text: string) =>
  text
    .replace(/^( {0,3})(`{3,}|~{3,})[^\n]*\n[\s\S]*?(?:^ {0,3}\2[`~]*[ \t]*$|(?![\s\S]))/gm, (block) =>
      block.replace(/[^\n]/g, ' '),
    )
    .replace(/<!--[\s\S]*?-->/g, (comment) => comment.replace(/[^\n]/g, ' '));

const withoutInlineCode = (text: string) =>
  text.replace(/(?<!`)(`+)(?!`)((?:(?!\n\n)[\s\S])*?[^`])\1(?!`)/g, (code) => code.replace(/[^\n]/g, ' '));

const spellings: readonly RegExp[] = [
  // [text](target), ![text](target "title"), [text](<target>)
  /\]\(\s*<?([^()\s>]*(?:\([^()\s]*\)[^()\s>]*)*)>?(?:\s+["'(][^\n]*?["')])?\s*\)/g,
  // [name]: target
  /^ {0,3}\[[^\]\n]+\]:\s*<?([^\s>]+)>?/gm,
  // <a href="target">, <img src="target">
  /<(?:a|img|source)\b[^>]*?\s(?:href|src|srcset)=["']([^"']*)["']/g,
];

/** The links and pictures of a page that lead to a file of the repository; those with a scheme are not among them. */
export function linksOf(page: string, text: string): Link[] {
  const prose = withoutInlineCode(withoutCode(text));
  return spellings
    .flatMap((spelling) => [...prose.matchAll(spelling)])
    .map((match) => ({ line: prose.slice(0, match.index).split('\n').length, target: match[1] ?? '' }))
    .filter(({ target }) => !/^(?:[a-z][a-z0-9+.-]*:|\/\/)/i.test(target))
    .map(({ line, target }) => {
      const [file = '', anchor = ''] = target.split('#', 2);
      const path = file === '' ? page : normalize(join(dirname(page), decodeURIComponent(file)));
      return { line, target, path, anchor: decodeURIComponent(anchor) };
    });
}

/** The anchor that GitHub gives a heading, before it numbers repeated ones. */
export function slugOf(heading: string): string {
  return heading
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/`[^`]*`|<[^>]+>/g, (part) => (part.startsWith('`') ? part : ''))
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '')
    .replaceAll(' ', '-');
}

/** Every anchor of a page: its headings by the rules of GitHub, and those that it sets itself. */
export function anchorsOf(text: string): Set<string> {
  const prose = withoutCode(text);
  const underlined = /^(?![ \t]*$|[|>#-])([^\n]+)\n(?:=+|-+)[ \t]*$/;
  const headings = [
    ...prose.matchAll(new RegExp(`^ {0,3}#{1,6}[ \\t]+(.+?)(?:[ \\t]+#+)?[ \\t]*$|${underlined.source}`, 'gm')),
  ];
  const anchors = new Set([...prose.matchAll(/<a\s+(?:id|name)=["']([^"']+)["']/g)].map(([, id = '']) => id));
  const seen = new Map<string, number>();
  for (const [, hashed, lined] of headings) {
    const slug = slugOf(hashed ?? lined ?? '');
    let anchor = slug;
    // As GitHub counts: a numbered anchor that a heading has by its own words is passed over.
    while (seen.has(anchor)) {
      const count = (seen.get(slug) ?? 0) + 1;
      seen.set(slug, count);
      anchor = `${slug}-${count}`;
    }
    seen.set(anchor, 0);
    anchors.add(anchor);
  }
  return anchors;
}
