import type { Fact } from '../fact.ts';

export const limitFacts = [
  {
    id: 'limits.media-file',
    statement: 'A file of the media library has up to 200 MB.',
    mark: 'BELEGT',
    basis: 'stated',
    value: 200000000,
    unit: 'bytes',
    source: "specification, 'Limits'",
    note: 'gw reads MB as a million bytes.',
  },
  {
    id: 'limits.rates',
    statement: 'Rate limits are not shown.',
    mark: 'OFFEN',
    basis: 'not-shown',
    source: "specification, 'Limits'",
  },
] as const satisfies readonly Fact[];
