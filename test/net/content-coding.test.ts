import { expect, it } from 'vitest';
import { foreignCoding } from '../../src/lib/net/index.ts';

it.each([
  [undefined, null],
  ['', null],
  [' , ,', null],
  ['identity, Identity', null],
  ['identity, gzip', 'gzip'],
  ['aws-chunked,', 'aws-chunked'],
  [['identity', 'gzip, br'], 'gzip, br'],
])('of the Content-Encoding %j the coding is %j', (header, coding) => {
  expect(foreignCoding(header)).toBe(coding);
});
