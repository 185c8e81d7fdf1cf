/**
 * Drawings on a map: points, zones, lanes, chargers. Reads them in every form that a chassis or a file has, says of
 * each number what is known about it and how well, finds what is broken, and compares. Pictures have a door of their
 * own, render/index.ts.
 */

export { createCodeBook } from './codes.ts';
export { changedCodes, diffOverlays, sameDrawings } from './diff/diff.ts';
export type * from './diff/diff-model.ts';
export {
  type ChangeRow,
  changeRows,
  diffLine,
  NOTHING,
  pairedByWords,
  placeInList,
  placeWords,
  valueRow,
} from './diff/diff-wording.ts';
export { frameOf } from './frame.ts';
export { inspectOverlays } from './inspect/inspect.ts';
export { type DrawingFilter, isFiltering, type SelectableKind, selectableKinds } from './inspect/select.ts';
export { knownOf } from './known.ts';
export type * from './model.ts';
export { jsonTypes, overlaysContainers, severities } from './model.ts';
export { featureTexts } from './read/feature-texts.ts';
export { overlaysSource, readOverlays } from './read/read.ts';
