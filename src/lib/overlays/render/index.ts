/**
 * Pictures and documents of drawings. A door of its own, opened only when somebody wants one: looking at the drawings
 * of a map needs none of it.
 */
export { csvColumns, toCsv } from './csv.ts';
export { drawDiffPage, drawDiffSvg } from './diff.ts';

export { toGeojson } from './geojson.ts';
export { drawPage } from './page.ts';
export { drawSvg } from './svg.ts';
