/** Renders overlays as pictures and documents. Loaded only for that: reading the overlays of a map needs none of it. */
export { csvColumns, toCsv } from './csv.ts';
export { renderDiffPage, renderDiffSvg } from './diff.ts';

export { toGeojson } from './geojson.ts';
export { renderPage } from './page.ts';
export { renderSvg } from './svg.ts';
