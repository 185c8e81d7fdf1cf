/** Renders overlays as pictures and documents; loaded only for these. */
export { csvColumns, toCsv } from './csv.ts';
export { renderDiffPage, renderDiffSvg } from './diff/diff.ts';

export { toGeojson } from './geojson.ts';
export { renderPage } from './page/page.ts';
export { renderSvg } from './svg.ts';
