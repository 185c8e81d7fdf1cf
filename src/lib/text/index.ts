/**
 * Helpers for display texts: shortening, plural, Markdown escaping. Every module may import it, and it imports none.
 */
export { codeSpan, escapeMarkdown, tableCell } from './markdown.ts';
export { plural, pluralWord } from './plural.ts';
export { shorten } from './shorten.ts';
