import type { Fact } from '../fact.ts';

export const limitFacts = [
  {
    id: 'limits.media-file',
    statement: 'A file of the media library has up to 200 MB.',
    mark: 'BELEGT',
    basis: 'stated',
    value: 200,
    unit: 'MB',
    source: "specification, 'Limits' and 'Operator server'",
    note: 'The size of an MB is not stated. gw reads 200 000 000 bytes, which is a project decision.',
  },
  {
    id: 'limits.rates',
    statement: 'Rate limits are not shown.',
    mark: 'OFFEN',
    basis: 'not-shown',
    source: "specification, 'Limits'",
  },
] as const satisfies readonly Fact[];
