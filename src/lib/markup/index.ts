/**
 * Text that becomes markup: HTML pages, SVG, XML. Whatever is put into the template is escaped, so that no name out
 * of a device or a file can become an element.
 */
export { standalonePage } from './standalone-page.ts';
export { escapeMarkup, Markup, markup, type Part, visible } from './template.ts';
