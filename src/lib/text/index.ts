/**
 * Helpers for output texts: shortening, plural, Markdown escaping, lists of JSON texts. Every module may import it, and it imports none.
 */
export { codeSpan, escapeMarkdown, tableCell } from './markdown.ts';
export { plural, pluralWord } from './plural.ts';
export { RawList } from './raw-list.ts';
export { shorten } from './shorten.ts';
