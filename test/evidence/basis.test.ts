import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  bases,
  basisText,
  type EvidenceRecord,
  type Fact,
  facts,
  findFact,
  isDisagreement,
  markHere,
  marks,
  markText,
} from '../../src/lib/evidence/index.ts';
import { here, recordOf } from './record-of.ts';

describe('the display of a mark', () => {
  it('shows the basis of BELEGT, and none for marks without one', () => {
    const text = (mark: (typeof marks)[number], basis: (typeof bases)[number]) => markText({ mark, basis });
    expect(text('BELEGT', 'measured')).toBe('BELEGT measured');
    expect(text('BELEGT', 'stated')).toBe('BELEGT stated');
    expect(text('BELEGT', 'simulated')).toBe('BELEGT on a simulator');
    expect(text('BELEGT', 'here')).toBe('BELEGT measured here');
    expect(text('HINWEIS', 'vendor')).toBe('HINWEIS');
    expect(text('HINWEIS', 'simulated')).toBe('HINWEIS on a simulator');
    expect(text('VORSICHT', 'assumed')).toBe('VORSICHT');
    expect(text('OFFEN', 'not-shown')).toBe('OFFEN');
  });

  it('differs for any two bases of BELEGT', () => {
    const texts = bases.map((basis) => basisText('BELEGT', basis));
    expect(texts).not.toContain('');
    expect(new Set(texts).size).toBe(bases.length);
    for (const mark of marks) for (const basis of bases) expect(markText({ mark, basis }).trim()).toMatch(/^[A-Z]+/);
  });
});

describe('a record made on a simulator', () => {
  const record = recordOf('vendor.move.request');
  const device = (made: EvidenceRecord) => ({ ...here, records: [made] });

  it('raises the mark on a simulator, and not to measured here', () => {
    const simulated = { ...record, simulated: true as const };
    expect(markText(markHere('vendor.move.request', device(simulated)))).toBe('BELEGT on a simulator');
    expect(markText(markHere('vendor.move.request', device(record)))).toBe('BELEGT measured here');
  });
});

describe('BELEGT without its basis', () => {
  it('stands in no disagreement whose winning side was only stated', () => {
    const wrong = (facts as readonly Fact[]).filter(isDisagreement).flatMap((fact) => {
      const [shown] = /\(BELEGT[^)]*\)/.exec(fact.statement) ?? [];
      const wins = findFact(fact.wins);
      if (shown === undefined || wins === undefined) return [];
      const allowed = wins.basis === 'measured' ? ['(BELEGT)', '(BELEGT measured)'] : [`(${markText(wins)})`];
      return allowed.includes(shown) ? [] : [`${fact.id}: ${shown}, the ledger says ${markText(wins)}`];
    });
    expect(wrong).toEqual([]);
  });

  it('stands in no table row of a page that names a fact which was only stated', () => {
    const folder = new URL('../../docs/', import.meta.url);
    const rows = readdirSync(folder)
      .filter((name) => name.endsWith('.md'))
      .flatMap((name) =>
        readFileSync(new URL(name, folder), 'utf8')
          .split('\n')
          .map((line) => ({ name, line })),
      );
    const wrong = rows.flatMap(({ name, line }) => {
      const [, mark = '', id = ''] = /^\|.*\| (BELEGT[^|]*?) \| `([a-z-]+\.[a-z0-9.-]+)` \|/.exec(line) ?? [];
      const fact = findFact(id);
      if (mark === '' || fact === undefined) return [];
      return mark === markText(fact) ? [] : [`${name}: ${id} is ${markText(fact)}, the page says ${mark}`];
    });
    expect(rows.length).toBeGreaterThan(1_000);
    expect(wrong).toEqual([]);
  });
});
