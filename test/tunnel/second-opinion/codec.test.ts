import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { bodies, framed, kinds, pack, unpack } from './codec.ts';

/** Vectors of the description of the wire, length prefix included. */
const vectors: readonly [string, Parameters<typeof pack>[0]][] = [
  ['000b080210012a035353483801', { type: kinds.streamStart, stream: 1, service: 'SSH', connection: 1 }],
  [
    '0012080110012205' + '68656c6c6f' + '2a035353483801',
    { type: kinds.data, stream: 1, service: 'SSH', connection: 1, payload: Buffer.from('hello') },
  ],
  ['0009080610012a01413802', { type: kinds.connectionStart, stream: 1, service: 'A', connection: 2 }],
  ['000b080710012a035353483802', { type: kinds.connectionReset, stream: 1, service: 'SSH', connection: 2 }],
  ['0009080310012a03535348', { type: kinds.streamReset, stream: 1, service: 'SSH' }],
  ['000408021001', { type: kinds.streamStart, stream: 1 }],
  ['000708053203535348', { type: kinds.serviceIds, offered: ['SSH'] }],
];

test('the codec of the second implementation writes and reads the known vectors', () => {
  for (const [hex, frame] of vectors) {
    expect(pack(frame).toString('hex')).toBe(hex);
    expect(unpack(Buffer.from(hex, 'hex').subarray(2))).toMatchObject(frame);
  }
});

test('its reader gives whole frames whatever the pieces', () => {
  const all = Buffer.concat([...vectors.map(([hex]) => Buffer.from(hex, 'hex')), framed(Buffer.alloc(0))]);
  for (const size of [1, 2, 3, 7, all.length]) {
    const found: number[] = [];
    const read = bodies((body) => found.push(body.length));
    for (let at = 0; at < all.length; at += size) read(all.subarray(at, at + size));
    expect(found).toEqual([11, 18, 9, 11, 9, 4, 7, 0]);
  }
});

test('nothing here comes from the product or from its helpers: only Node, the WebSocket library and this folder', () => {
  const folder = new URL('./', import.meta.url);
  const sources = readdirSync(folder).flatMap((name) => {
    const text = readFileSync(new URL(name, folder), 'utf8');
    return [...text.matchAll(/(?:^import|\bfrom|\bimport\() ?'([^']+)'/gm)].map(([, source]) => `${name}: ${source}`);
  });
  expect(sources.length).toBeGreaterThan(10);
  expect(sources.filter((each) => !/: (node:[a-z:/]+|ws|vitest|\.\/[a-z-]+\.ts)$/.test(each))).toEqual([]);
});
