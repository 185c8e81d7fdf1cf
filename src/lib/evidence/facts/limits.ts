import { factsFrom, notShown, stated } from '../fact.ts';

export const limitFacts = factsFrom("specification, 'Limits' and 'Operator server'", {
  'limits.media-file': stated(
    'A file of the media library has up to 200 MB.',
    'The size of an MB is not stated. gw reads 200 000 000 bytes, which is a project decision.',
    { value: 200, unit: 'MB' },
  ),
  'limits.rates': notShown('Rate limits are not shown.', { source: "specification, 'Limits'" }),
});
