import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { faultTable } from '../../src/lib/sim/index.ts';

describe('docs/sim.md', () => {
  it('lists every fault as the table has it, and no other', async () => {
    const page = await readFile(new URL('../../docs/sim.md', import.meta.url), 'utf8');
    const rows = Object.entries(faultTable).map(([name, { kind, effect }]) => `| \`${name}\` | ${kind} | ${effect} |`);
    const listed = page.slice(page.indexOf('| Fault |')).trim().split('\n').slice(2);
    expect(listed).toEqual(rows);
  });
});
