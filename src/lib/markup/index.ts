/**
 * Markup templates for HTML, SVG and XML. Every interpolated value is escaped, so text from a device or a file cannot
 * become an element.
 */
export { standalonePage } from './standalone-page.ts';
export { escapeMarkup, Markup, markup, type Part, visible } from './template.ts';
