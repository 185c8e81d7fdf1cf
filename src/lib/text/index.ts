/**
 * Short texts for people and documents: shortened, with the right plural, safe in a table of Markdown. Every module may
 * import it, and it imports none.
 */
export { codeSpan, escapeMarkdown, tableCell } from './markdown.ts';
export { plural, pluralWord } from './plural.ts';
export { shorten } from './shorten.ts';
