import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { renderEvidenceFact, renderEvidenceList } from '../../src/cli/render/evidence.ts';
import { facts } from '../../src/lib/evidence/index.ts';
import { evidenceFactSchema, evidenceListSchema } from '../../src/lib/toolkit/evidence-list.result.ts';
import { listEvidence, showEvidence } from '../../src/lib/toolkit/evidence-list.ts';

// biome-ignore lint/suspicious/noControlCharactersInRegex: colour codes are escape sequences
const plain = (text: string) => text.replace(/\u001b\[[0-9;]*m/g, '');

let dir = '';
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'gw-show-'));
  await writeFile(join(dir, 'site.yaml'), 'name: x\nchassis: { host: robot, serial: SN0001 }\n');
  const record = {
    fact: 'vendor.move.request',
    value: true,
    serial: 'SN0001',
    software: '2.12.3',
    how: 'tape\u2028',
    who: 'Jo',
    when: '2026-01-31T12:00:00Z',
  };
  const records = [
    record,
    { ...record, serial: 'SN0002' },
    { ...record, value: false },
    { ...record, fact: 'vendor.boot-phase', value: 503 },
  ];
  await writeFile(join(dir, 'evidence.jsonl'), records.map((line) => JSON.stringify(line)).join('\n'));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

const nowhere = { sitePath: '/nonexistent/site.yaml', siteNamed: false };
const here = () => ({ sitePath: join(dir, 'site.yaml'), siteNamed: true });

describe('listing', () => {
  it('has the shape that is published, and counts what it lists', () => {
    const list = evidenceListSchema.parse(listEvidence({}));
    expect(list.facts).toHaveLength(facts.length);
    expect(Object.values(list.counts).reduce((a, b) => a + b)).toBe(facts.length);
    expect(listEvidence({ mark: 'VORSICHT' }).counts).toEqual({ BELEGT: 0, HINWEIS: 0, VORSICHT: 4, OFFEN: 0 });
  });

  it('says first how many there are, then each with mark, value, statement and source', () => {
    const text = plain(renderEvidenceList(listEvidence({ about: '0.899 m apart' })));
    expect(text.split('\n')[0]).toBe(`1 of ${facts.length} facts: 1 BELEGT.`);
    expect(text).toContain('BELEGT    overlays.charging-pair-distance = 0.899 m\n');
    expect(text).toContain("measured; specification, 'Map and overlays'");
    expect(renderEvidenceList(listEvidence({ about: 'nothing like this' }))).toContain('No fact');
  });
});

describe('showing', () => {
  it.each(facts.map(({ id }) => id))('%s has the published shape and says its mark first', async (id) => {
    const shown = evidenceFactSchema.parse(await showEvidence(id, nowhere));
    const text = plain(renderEvidenceFact(shown));
    expect(text.split('\n')[0]).toMatch(new RegExp(`^${id.replaceAll('.', '\\.')} is ${shown.fact.mark}: `));
    expect(text).toContain('there is no site file here');
    expect(text).not.toMatch(/(^|[ =])undefined($|\n)/);
  });

  it('says whether a movement may rely on it', async () => {
    const movement = async (id: string) => (await showEvidence(id, nowhere)).movement;
    expect(await movement('angles.target-ori')).toBe('may-carry');
    expect(await movement('vendor.move.request')).toBe('only-where-verified');
    expect(await movement('vendor.topic.tracked-pose-ori')).toBe('never');
    expect(await movement('overlays.point-type-11')).toBe('never');
    expect(await movement('overlays.lane-direction-3')).toBe('never');
    expect(await movement('disagreement.c1-tracked-pose-unit')).toBe('never');
  });

  it('shows both sides of a disagreement and which one holds', async () => {
    const text = plain(renderEvidenceFact(await showEvidence('angles.tracked-pose-ori', nowhere)));
    expect(text).toContain('Disagreement disagreement.c1-tracked-pose-unit');
    expect(text).toContain('angles.tracked-pose-ori  holds');
    expect(text).toContain('vendor.topic.tracked-pose-ori\n');
  });

  it('shows what was recorded on this site, and on which device', async () => {
    const shown = evidenceFactSchema.parse(await showEvidence('vendor.move.request', here()));
    expect(shown.site?.records.map(({ thisSerial, confirms }) => [thisSerial, confirms])).toEqual([
      [true, true],
      [false, true],
      [true, false],
    ]);
    const text = plain(renderEvidenceFact(shown));
    expect(text).toContain('verified here for serial SN0001, software 2.12.3');
    expect(text).toContain('verified on another device for serial SN0002');
    expect(text).toContain('contradicted here');
  });

  it('says that nothing was recorded', async () => {
    const text = plain(renderEvidenceFact(await showEvidence('angles.pose-ori', here())));
    expect(text).toContain('Nothing was recorded about it for chassis SN0001');
  });

  it('a site file that was named must be there', async () => {
    const named = showEvidence('angles.pose-ori', { ...nowhere, siteNamed: true });
    await expect(named).rejects.toMatchObject({ code: 'SITE_FILE_NOT_FOUND' });
  });

  it.each([
    ['angles.target-orri', 'angles.target-ori'],
    ['tracked-pose-ori', 'angles.tracked-pose-ori'],
    ['__proto__', undefined],
  ])('an unknown id %s is refused with the nearest ones', async (id, near) => {
    const refused = showEvidence(id, nowhere);
    await expect(refused).rejects.toMatchObject({ code: 'EVIDENCE_UNKNOWN', exitCode: 2 });
    if (near !== undefined) await expect(refused).rejects.toMatchObject({ remedy: expect.stringContaining(near) });
  });
});
