/** The kind of a feature by its GeoJSON geometry alone (HINWEIS), whatever its codes mean. */
export const featureKinds = ['point', 'lane', 'zone', 'other'] as const;
export type FeatureKind = (typeof featureKinds)[number];

/** Fields with a number whose meaning is a fact of its own in the ledger. */
export const codeFields = ['type', 'lineType', 'regionType', 'direction', 'startType', 'endType'] as const;
export type CodeField = (typeof codeFields)[number];

/** The form in which the collection was received. */
export const overlaysForms = ['collection', 'text-in-map', 'object-in-map', 'wrapped'] as const;
export type OverlaysForm = (typeof overlaysForms)[number];

/**
 * What holds the features. The chassis returns a FeatureCollection (vendor, HINWEIS); one vendor example is an object
 * with `features` and no `type`. A list of features and a single feature come from other programs.
 */
export const overlaysContainers = [
  'feature-collection',
  'object-with-features',
  'feature-list',
  'single-feature',
] as const;
export type OverlaysContainer = (typeof overlaysContainers)[number];

export const severities = ['wrong', 'warning', 'note', 'not-checked'] as const;
/** wrong: must be corrected. warning: to be checked by a person. note: known, unexplained or harmless. not-checked: never green. */
export type Severity = (typeof severities)[number];

export const jsonTypes = ['string', 'number', 'boolean', 'null', 'array', 'object'] as const;
export type JsonType = (typeof jsonTypes)[number];
