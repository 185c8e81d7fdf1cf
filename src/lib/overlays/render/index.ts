/** Renders overlays as pictures and documents. Loaded only for that: reading the overlays of a map needs none of it. */
export { csvColumns, toCsv } from './csv.ts';
export { drawDiffPage, drawDiffSvg } from './diff.ts';

export { toGeojson } from './geojson.ts';
export { drawPage } from './page.ts';
export { drawSvg } from './svg.ts';
