/** Markup that is safe to send: made by the template below and by nothing else. */
export class Html {
  readonly #markup: string;
  constructor(markup: string) {
    this.#markup = markup;
  }
  toString(): string {
    return this.#markup;
  }
}

export type HtmlPart = Html | string | number | null | readonly HtmlPart[];

/** Escapes everything that is put in; only what is Html already goes in as it is. null is nothing. */
export function html(strings: TemplateStringsArray, ...parts: readonly HtmlPart[]): Html {
  return new Html(strings.reduce((text, string, i) => text + markupOf(parts[i - 1] ?? null) + string));
}

function markupOf(part: HtmlPart): string {
  if (part === null) return '';
  if (part instanceof Html) return part.toString();
  if (typeof part === 'object') return part.map(markupOf).join('');
  return escapeHtml(String(part));
}

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

export function escapeHtml(text: string): string {
  // Control characters have no meaning on a page and confuse who reads its source.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  const visible = text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g, '\uFFFD');
  return visible.replace(/[&<>"']/g, (char) => escapes[char] ?? char);
}
