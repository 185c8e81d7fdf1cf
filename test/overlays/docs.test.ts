import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { findFact } from '../../src/lib/evidence/index.ts';
import { describeRules } from '../../src/lib/overlays/rules/describe.ts';
import { overlayRules } from '../../src/lib/overlays/rules/table.ts';

const page = readFileSync(new URL('../../docs/overlays.md', import.meta.url), 'utf8');

test('docs/overlays.md holds every rule with its severity, its reason and the fact that it relies on, and no other', () => {
  expect(page).toContain(`<!-- generated:rules -->\n${describeRules()}\n<!-- /generated -->`);
  const rows = [...describeRules().matchAll(/^\| `([a-z-]+)` \| ([a-z-]+) \|/gm)];
  expect(rows.map(([, id, severity]) => [id, severity])).toEqual(
    overlayRules.map(({ id, severity }) => [id, severity]),
  );
  for (const { fact } of overlayRules) if (fact !== null) expect(findFact(fact), fact).toBeDefined();
});

test('every fact that docs/overlays.md and docs/maps.md name is in the ledger', () => {
  const maps = readFileSync(new URL('../../docs/maps.md', import.meta.url), 'utf8');
  const named = [...`${page}${maps}`.matchAll(/`((?:overlays|vendor|chassis|angles|disagreement)\.[a-z0-9.-]+)`/g)];
  expect(named.length).toBeGreaterThan(10);
  for (const [, id = ''] of named) expect(findFact(id), id).toBeDefined();
});
