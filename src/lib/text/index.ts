/**
 * Helpers for output texts: shortening, plural, Markdown escaping, lists of JSON texts. Every module may import it, and it imports none.
 */
export { codeSpan, escapeMarkdown, plural, pluralWord, RawList, shorten, tableCell } from './text.ts';
