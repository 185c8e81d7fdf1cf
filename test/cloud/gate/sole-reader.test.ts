import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const lib = new URL('../../../src/lib/', import.meta.url);

/** Files that name the type of a received message. */
const namers = ['cloud', 'gateway', 'operator', 'toolkit'].flatMap((module) =>
  readdirSync(new URL(`${module}/`, lib), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => `${module}/${name}`)
    .filter((path) => readFileSync(new URL(path, lib), 'utf8').includes('InboundMessage')),
);

describe('a received message', () => {
  it('is known to the gate, the link that receives it, and the composition of both only', () => {
    expect(namers).toContain('cloud/gate/gate.ts');
    expect(namers.filter((path) => !/^cloud\/(gate|link)\/|^cloud\/(cloud|inbound)\.ts$/.test(path))).toEqual([]);
  });

  it('is parsed by one file of the gate', () => {
    const parsers = readdirSync(new URL('cloud/gate/', lib)).filter((name) =>
      /JSON\.parse|readJson|TextDecoder/.test(readFileSync(new URL(`cloud/gate/${name}`, lib), 'utf8')),
    );
    expect(parsers).toEqual(['payload.ts']);
  });
});
