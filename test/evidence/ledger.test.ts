import { describe, expect, it } from 'vitest';
import {
  bases,
  type Disagreement,
  describeLedger,
  disagreementsAbout,
  type Fact,
  type FactId,
  factById,
  facts,
  findFact,
  isDisagreement,
  markRank,
  marks,
  sectionOf,
  sections,
  selectFacts,
} from '../../src/lib/evidence/index.ts';

const all: readonly Fact[] = facts;
const disagreements: readonly Disagreement[] = all.filter(isDisagreement);

describe('every fact', () => {
  it('has an id of its own, in the form section.words-with-dashes', () => {
    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
    for (const { id } of all) expect(id).toMatch(/^[a-z]+(\.[a-z0-9]+(-[a-z0-9]+)*)+$/);
  });

  it('is in a section that has a title, and every section has facts', () => {
    expect(new Set(all.map(sectionOf))).toEqual(new Set(Object.keys(sections)));
  });

  it('has a mark, a basis, a source and a complete sentence', () => {
    for (const fact of all) {
      expect(marks).toContain(fact.mark);
      expect(bases).toContain(fact.basis);
      expect(fact.source.length).toBeGreaterThan(5);
      expect(fact.statement, fact.id).toMatch(/^\S.{10,}\.$/s);
    }
  });

  it('has the mark that its basis allows', () => {
    const allowed = {
      measured: 'BELEGT',
      simulated: 'BELEGT',
      stated: 'BELEGT',
      vendor: 'HINWEIS',
      assumed: 'VORSICHT',
      'not-shown': 'OFFEN',
    } as const;
    for (const fact of all) {
      if (!isDisagreement(fact)) expect(fact.mark, fact.id).toBe(allowed[fact.basis as keyof typeof allowed]);
    }
  });

  it('of the vendor never has a mark above HINWEIS', () => {
    for (const fact of all) {
      if (sectionOf(fact) === 'vendor') expect(markRank[fact.mark], fact.id).toBeGreaterThanOrEqual(markRank.HINWEIS);
      if (fact.source.startsWith('vendor')) expect(['vendor', 'not-shown']).toContain(fact.basis);
    }
  });

  it('names in its note only ids that exist', () => {
    const names = new RegExp(`\\b(?:${Object.keys(sections).join('|')})\\.[a-z0-9-]+(?:\\.[a-z0-9-]+)?`, 'g');
    for (const fact of all) {
      for (const id of fact.note?.match(names) ?? []) {
        if (!/\.(passwordFile|secretFile|port|host)/.test(id) && !id.startsWith('chassis.secret')) {
          expect(findFact(id), `${id} in the note of ${fact.id}`).toBeDefined();
        }
      }
    }
  });
});

describe('disagreements', () => {
  it('are the twelve of the specification and the vendor texts', () => {
    expect(disagreements.map(({ id }) => Number(/^disagreement\.c(\d+)-/.exec(id)?.[1]))).toEqual([
      1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12,
    ]);
  });

  it('name two facts that exist, the specification first and a vendor fact second', () => {
    for (const { id, between } of disagreements) {
      const [ours, theirs] = between.map(factById);
      expect(ours?.source, id).toContain('specification');
      expect(theirs?.basis, id).toBe('vendor');
    }
  });

  it('are resolved for the side with the higher mark, and carry that mark', () => {
    for (const { id, between, wins, mark } of disagreements) {
      const [ours, theirs] = between.map(factById) as [Fact, Fact];
      expect(ours.mark, id).not.toBe(theirs.mark);
      expect(wins, id).toBe(markRank[ours.mark] < markRank[theirs.mark] ? ours.id : theirs.id);
      expect(mark, id).toBe(factById(wins).mark);
    }
  });

  it('are found from both sides', () => {
    for (const disagreement of disagreements) {
      for (const side of disagreement.between) expect(disagreementsAbout(side)).toContain(disagreement);
    }
    expect(disagreementsAbout('angles.pose-ori')).toEqual([]);
  });
});

describe('the ids that orders rely on', () => {
  it.each([
    ['angles.tracked-pose-ori', 'BELEGT', 'degrees'],
    ['angles.pose-ori', 'BELEGT', 'radians'],
    ['angles.target-ori', 'BELEGT', 'radians'],
    ['vendor.move.request', 'HINWEIS', undefined],
    ['vendor.move.state', 'HINWEIS', undefined],
    ['vendor.move.charge-target', 'HINWEIS', undefined],
    ['vendor.move.cancel', 'HINWEIS', undefined],
    ['vendor.pose.request', 'HINWEIS', undefined],
    ['overlays.point-type-11', 'VORSICHT', 'Delivery Point'],
  ] as const)('%s is %s', (id, mark, value) => {
    const fact = factById(id satisfies FactId);
    expect({ mark: fact.mark, value: fact.value }).toEqual({ mark, value });
  });
});

describe('looking up', () => {
  it('finds no fact for a property name of Object.prototype', () => {
    for (const id of ['constructor', '__proto__', 'toString', '']) expect(findFact(id)).toBeUndefined();
  });

  it('refuses an unknown id by its code', () => {
    expect(() => factById('angles.target')).toThrow(expect.objectContaining({ code: 'EVIDENCE_UNKNOWN' }));
  });

  it('filters by mark and by text, whatever the case', () => {
    expect(selectFacts({})).toHaveLength(all.length);
    expect(selectFacts({ mark: 'VORSICHT' }).every(({ mark }) => mark === 'VORSICHT')).toBe(true);
    const found = selectFacts({ mark: 'BELEGT', about: 'TRACKED_POSE  degrees' }).map(({ id }) => id);
    expect(found).toContain('angles.tracked-pose-ori');
    expect(found).not.toContain('angles.target-ori');
    expect(selectFacts({ about: 'no such words anywhere' })).toEqual([]);
  });
});

describe('the ledger as a page', () => {
  it('has one row for every fact and counts them', () => {
    const page = describeLedger();
    for (const { id } of all)
      expect(page.split('\n').filter((line) => line.startsWith(`| \`${id}\` |`))).toHaveLength(1);
    expect(page).toContain(`| ${all.length} |`);
    const rows = page.split('\n').filter((line) => line.startsWith('| `'));
    for (const row of rows) expect(row.match(/(?<!\\)\|/g), row).toHaveLength(5);
  });
});
