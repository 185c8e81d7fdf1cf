import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { frameOf } from '../../src/lib/overlays/index.ts';
import { pngSize } from '../../src/lib/png/index.ts';
import { lookAt } from './render/rendered.ts';

const map = { grid_origin_x: -3, grid_origin_y: -2.5, grid_resolution: 0.05 };

describe('frameOf', () => {
  it('has the position of the map and the size from the header of the picture', () => {
    const { image } = lookAt('floor');
    expect(frameOf(map, image)).toEqual({ originXM: -3, originYM: -2.5, resolutionM: 0.05, width: 320, height: 180 });
  });

  it('has no size without a picture, and is null without a map or a grid', () => {
    expect(frameOf(map, null)).toEqual({ originXM: -3, originYM: -2.5, resolutionM: 0.05, width: null, height: null });
    expect(frameOf(null, lookAt('floor').image)).toBeNull();
    expect(frameOf({ grid_origin_x: 1, grid_origin_y: 1 }, null)).toBeNull();
  });

  it.each([
    ['a resolution of 0', { ...map, grid_resolution: 0 }],
    ['a negative resolution', { ...map, grid_resolution: -0.05 }],
    ['pixels of 50 m', { ...map, grid_resolution: 50 }],
    ['a string for a number', { ...map, grid_origin_x: '-3' }],
    ['an origin out of range', { ...map, grid_origin_y: 1e300 }],
    ['an inherited number', Object.create(map) as Record<string, unknown>],
  ])('is null for %s', (_, odd) => {
    expect(frameOf(odd, null)).toBeNull();
  });
});

describe('pngSize', () => {
  it('returns null for bytes that are not a PNG, and never throws', { tags: 'property' }, () => {
    expect(pngSize(new TextEncoder().encode('<html>no picture, a page of forty bytes</html>'))).toBeNull();
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
        expect(pngSize(bytes)).toBeNull();
      }),
    );
  });

  it('returns null for a truncated header, and for zero or absurdly many pixels', () => {
    const { image } = lookAt('floor');
    for (let length = 0; length < 33; length += 1) expect(pngSize(image.subarray(0, length))).toBeNull();
    for (const width of [0, 100_001, 0xffffffff]) {
      const odd = Uint8Array.from(image);
      new DataView(odd.buffer).setUint32(16, width);
      expect(pngSize(odd)).toBeNull();
    }
  });
});
