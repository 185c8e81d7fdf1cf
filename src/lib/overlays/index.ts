/**
 * Overlays of a map: points, zones, lanes, chargers. Reads them in every form that a chassis or a file has, gives the
 * meaning of each number with its evidence mark, finds faults, and compares. The entry point for pictures and documents
 * is render/index.ts.
 */

export { createCodeBook } from './codes.ts';
export { changedCodes, diffOverlays, diffOverlaysTexts } from './diff/diff.ts';
export {
  type ChangeRow,
  changeRows,
  diffLine,
  indexChange,
  NOTHING,
  pairedByWords,
  placeWords,
  valueRow,
} from './diff/diff-wording.ts';
export { frameOf } from './frame.ts';
export { onlyPlaceOf, placesOf } from './geometry.ts';
export {
  type FeatureFilter,
  inspectOverlays,
  isFiltering,
  type SelectableKind,
  selectableKinds,
} from './inspect/inspect.ts';
export { overlaysContainers, overlaysForms, severities } from './kinds.ts';
export { knownOf } from './known.ts';
export type * from './model.ts';
export { overlaysSource, readOverlays } from './read/read.ts';
export { featureTexts } from './render/geojson.ts';
export type * from './schemas.ts';
