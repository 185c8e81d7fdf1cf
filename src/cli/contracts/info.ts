/** Stands in both documents. */
export const notThePlatforms =
  "Routes, shapes and events of this document are decisions of gw, apart from the routes that the specification names (docs/operator.md). It is not the platform's contract named 'operator UI', whose contents are not shown.";
