/**
 * Markup templates for HTML, SVG and XML. Every interpolated value is escaped, so text from a device or a file cannot
 * become an element.
 */
export { escapeMarkup, Markup, markup, type Part, standalonePage, visible } from './standalone-page.ts';
