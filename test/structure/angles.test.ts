import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const lib = new URL('../../src/lib/', import.meta.url);
/** A conversion between degrees and radians, in either direction. */
const CONVERSION = /Math\.PI\)? \/ 180\b|\b180\)? \/ Math\.PI/;

/** Where geometry needs both units; no field of a message is encoded or decoded there. */
const geometry: readonly (readonly [place: RegExp, why: string])[] = [
  [/^overlays\//, 'pictures, and a heading that may be a quarter turn in radians'],
  [/^motion\/trial\//, 'courses between two positions, and which unit their readings fit'],
  [/^chassis\/standing\//, 'the slowest turn, in both readings of a heading'],
  [/^chassis\/unit\//, 'both readings of a heading are compared with the course'],
  [/^pages\/map\/pose-geometry\.ts$/, 'the direction of a drag on the screen'],
  [/^toolkit\/gateway\/pose-check\.ts$/, 'the text of a result'],
];

describe('degrees and radians', () => {
  const files = readdirSync(lib, { encoding: 'utf8', recursive: true })
    .filter((name) => name.endsWith('.ts') && !name.startsWith('sim/') && name !== 'angle/convert.ts')
    .map((name) => ({ name, text: readFileSync(new URL(name, lib), 'utf8') }))
    .filter(({ text }) => CONVERSION.test(text));

  it('are converted for the chassis by its codec only, and elsewhere in geometry', () => {
    const others = files.filter(({ name }) => !geometry.some(([place]) => place.test(name)));
    expect(others.map(({ name }) => name)).toEqual([]);
    for (const [place] of geometry)
      expect(
        files.some(({ name }) => place.test(name)),
        String(place),
      ).toBe(true);
  });
});
