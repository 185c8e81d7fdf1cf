/**
 * Pictures and documents of drawings. A door of its own, opened only when somebody wants one: looking at the drawings
 * of a map needs none of it.
 */
export { csvColumns, toCsv } from './csv.ts';
export { type DiffPageOptions, type DiffPictureOptions, drawDiffPage, drawDiffSvg } from './diff.ts';
export type { DiffSubject } from './diff-figure.ts';
export { toGeojson } from './geojson.ts';
export { drawPage, type PageOptions } from './page.ts';
export { drawSvg, type PictureOptions } from './svg.ts';
