import { createHash } from 'node:crypto';

/** Safe markup: made by the template below, or from trusted text. */
export class Markup {
  readonly #text: string;
  constructor(text: string) {
    this.#text = text;
  }
  toString(): string {
    return this.#text;
  }
}

export type Part = Markup | string | number | null | readonly Part[];

/**
 * Escapes every interpolated value except Markup; null renders as nothing. The output is well-formed XML as well as
 * HTML, so that a strict parser can verify it.
 */
export function markup(strings: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  let text = strings[0] ?? '';
  for (let at = 0; at < parts.length; at += 1) text += textOf(parts[at] ?? null) + (strings[at + 1] ?? '');
  return new Markup(text);
}

function textOf(part: Part): string {
  if (part === null) return '';
  if (part instanceof Markup) return part.toString();
  if (typeof part === 'object') return part.map(textOf).join('');
  return escapeMarkup(String(part));
}

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Text for an element or a quoted attribute. Characters that XML cannot hold become U+FFFD. */
export function escapeMarkup(text: string): string {
  return visible(text).replace(/[&<>"']/g, (char) => escapes[char] ?? char);
}

/** The text without lone surrogates and control characters; tabs and line breaks stay. */
export function visible(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are replaced here
  return text.toWellFormed().replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\ufffe\uffff]/g, '\uFFFD');
}

/**
 * One self-contained HTML file. Its security policy allows its own style, by digest, and data: images; no script, no
 * address. `style` is trusted CSS.
 */
export function standalonePage(page: {
  readonly lang: string;
  readonly title: string;
  readonly style: string;
  readonly body: Markup;
}): string {
  const { lang, title, style, body } = page;
  const digest = createHash('sha256').update(style).digest('base64');
  return markup`<!DOCTYPE html>
<html lang="${lang}" xmlns="http://www.w3.org/1999/xhtml">
<head>
<meta charset="utf-8"/>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'sha256-${digest}'; base-uri 'none'; form-action 'none'"/>
<meta name="viewport" content="width=device-width, initial-scale=1"/>
<meta name="referrer" content="no-referrer"/>
<title>${title}</title>
<link rel="icon" href="data:,"/>
<style>${new Markup(style)}</style>
</head>
<body>
${body}
</body>
</html>
`.toString();
}
