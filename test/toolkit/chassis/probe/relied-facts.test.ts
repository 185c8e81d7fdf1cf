import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { factsOfOrder } from '../../../../src/lib/motion/index.ts';
import { checkReliedFacts } from '../../../../src/lib/toolkit/chassis/probe.ts';
import { ownFolder } from '../../kit.ts';

const identity = (model: string | null, software: string | null = '2.12.3') => ({
  serial: 'SN1',
  model,
  software,
  capabilities: {},
});
const all = [...new Set<string>(Object.values(factsOfOrder).flat())];
const lines = (facts: readonly string[], more: object = {}) =>
  facts
    .map((fact) => ({
      ...{ fact, value: true, serial: 'SN1', software: '2.12.3' },
      ...{ how: 'x', who: 'x', when: '2026-01-31T12:00:00Z' },
      ...more,
    }))
    .map((record) => `${JSON.stringify(record)}\n`)
    .join('');

let dir: string;
beforeEach(async () => {
  dir = ownFolder();
});

async function findingFor(content: string, of = identity('m1'), requireVerified = false) {
  const evidenceFile = join(dir, 'evidence.jsonl');
  await writeFile(evidenceFile, content);
  return checkReliedFacts({ evidenceFile, motion: { requireVerified } }, of);
}

describe('the facts that orders rely on, on this chassis', () => {
  it('are green only where every fact was verified on this chassis', async () => {
    const { finding, relied } = await findingFor(lines(all));
    expect(finding).toMatchObject({ verdict: 'ok', remedy: null });
    expect(relied?.map(({ support }) => support)).toEqual(all.map(() => 'this-device'));
    for (const id of all) {
      const without = await findingFor(lines(all.filter((other) => other !== id)));
      expect(without.finding.verdict, id).toBe('not-checked');
      expect(without.finding.detail).toContain(id);
    }
  });

  it('list facts measured on another device or version, and those never verified', async () => {
    const { finding, relied } = await findingFor('');
    expect(finding.verdict).toBe('not-checked');
    // A stated fact was never measured, whatever supports it.
    expect(finding.detail.split('; ')).toEqual(
      expect.arrayContaining([
        '2 measured on another device or version: angles.tracked-pose-ori, angles.pose-ori',
        '1 stated, and supported by a measurement on another device or version: angles.target-ori',
      ]),
    );
    expect(finding.detail).toContain('not usable by orders yet: vendor.move.request');
    expect(relied?.find(({ fact }) => fact === 'angles.target-ori')).toMatchObject({
      mark: 'BELEGT',
      basis: 'stated',
      support: 'another-device',
      usable: true,
      orders: ['move', 'dock'],
    });
    const required = await findingFor('', identity('m1'), true);
    expect(required.relied?.some(({ usable }) => usable)).toBe(false);
  });

  it.each([
    ['with another software', lines(all, { software: '2.12.2' }), identity('m1')],
    ['of another chassis', lines(all, { serial: 'SN2' }), identity('m1')],
    ['made on a simulator', lines(all, { simulated: true }), identity('m1')],
    ['while the software is not known', lines(all), identity('m1', null)],
  ])('are not verified by a record %s', async (_what, content, of) => {
    const { finding } = await findingFor(content, of);
    expect(finding.verdict).toBe('not-checked');
    expect(finding.detail).toMatch(/^0 of /);
  });

  it('are never green on a simulator, and it is named as one', async () => {
    const { finding } = await findingFor(lines(all, { simulated: true }), identity('simulated'));
    expect(finding).toMatchObject({ verdict: 'not-checked' });
    expect(finding.detail).toContain('verified on a simulator only');
  });

  it.each(all)('are wrong when %s was contradicted on this chassis', async (id) => {
    const { finding } = await findingFor(lines(all) + lines([id], { value: false }));
    expect(finding).toMatchObject({ verdict: 'wrong', detail: expect.stringContaining(id) });
  });

  it('are wrong when the evidence file cannot be read', async () => {
    expect(await findingFor('no record\n')).toMatchObject({ relied: null, finding: { verdict: 'wrong' } });
  });
});
