/**
 * Drawings on a map: points, zones, lanes, chargers. Reads them in every form that a chassis or a file has, says of
 * each number what is known about it and how well, finds what is broken, compares, and draws.
 */

export { createCodeBook } from './codes.ts';
export { diffOverlays, sameDrawings } from './diff.ts';
export type * from './diff-model.ts';
export { csvColumns, toCsv } from './draw/csv.ts';
export { changedCodes, type DiffPageOptions, type DiffPictureOptions, drawDiffPage, drawDiffSvg } from './draw/diff.ts';
export type { DiffSubject } from './draw/diff-figure.ts';
export { toGeojson } from './draw/geojson.ts';
export { drawPage, type PageOptions } from './draw/page.ts';
export { drawSvg, type PictureOptions } from './draw/svg.ts';
export { featurePlaces, onOneLine } from './feature-texts.ts';
export { frameOf, pngSize } from './frame.ts';
export { type InspectOptions, inspectOverlays } from './inspect.ts';
export { knownOf } from './known.ts';
export type * from './model.ts';
export { jsonTypes, severities } from './model.ts';
export { overlaysSource, readOverlays } from './read.ts';
export { type DrawingFilter, isFiltering, type SelectableKind, selectableKinds } from './select.ts';
