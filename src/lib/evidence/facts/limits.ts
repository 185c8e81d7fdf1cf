import { factsOf } from '../fact.ts';

export const limitFacts = factsOf(
  { mark: 'BELEGT', basis: 'stated', source: "specification, 'Limits' and 'Operator server'" },
  {
    'limits.media-file': {
      statement: 'A file of the media library has up to 200 MB.',
      value: 200,
      unit: 'MB',
      note: 'The size of an MB is not stated. gw reads 200 000 000 bytes, which is a project decision.',
    },
    'limits.rates': {
      statement: 'Rate limits are not shown.',
      mark: 'OFFEN',
      basis: 'not-shown',
      source: "specification, 'Limits'",
    },
  },
);
