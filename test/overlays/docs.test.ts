import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { factById, findFact, markText } from '../../src/lib/evidence/index.ts';
import {
  MAX_COORDINATE_M,
  MAX_SPOT_EXTENT,
  MIN_LAND_DISTANCE_DEG,
  MIN_LANE_M,
  MIN_ZONE_M2,
  type OverlayRuleId,
  overlayRules,
} from '../../src/lib/overlays/rules/table.ts';
import { tableCell } from '../../src/lib/text/index.ts';

const page = readFileSync(new URL('../../docs/overlays.md', import.meta.url), 'utf8');

test('docs/overlays.md holds every rule with its severity, its remedy and the fact that it relies on, and no other', () => {
  const rows = [...page.matchAll(/^\| `([a-z-]+)` \| ([a-z-]+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$/gm)];
  expect(rows.map(([, id]) => id)).toEqual(Object.keys(overlayRules));
  for (const [, id = '', severity, , reasonAndRemedy = '', reliesOn] of rows) {
    const rule = overlayRules[id as OverlayRuleId];
    expect(severity, id).toBe(rule.severity);
    expect(reasonAndRemedy.endsWith(` ${tableCell(rule.remedy)}`), id).toBe(true);
    const fact = rule.fact === undefined ? null : factById(rule.fact);
    expect(reliesOn, id).toBe(fact === null ? 'the JSON text' : `${markText(fact)} \`${fact.id}\``);
  }
});

test('the limits that docs/overlays.md names are those of the rules', () => {
  for (const limit of [
    `within ${MAX_SPOT_EXTENT} of each other, at least ${MIN_LAND_DISTANCE_DEG} from the origin`,
    `No site reaches ${MAX_COORDINATE_M / 1_000} km from the origin`,
    `Less than ${MIN_ZONE_M2} m²`,
    `A line shorter than ${MIN_LANE_M} m`,
  ]) {
    expect(page).toContain(limit);
  }
});

test('every fact that docs/overlays.md and docs/maps.md name is in the ledger', () => {
  const maps = readFileSync(new URL('../../docs/maps.md', import.meta.url), 'utf8');
  const named = [...`${page}${maps}`.matchAll(/`((?:overlays|vendor|chassis|angles|disagreement)\.[a-z0-9.-]+)`/g)];
  expect(named.length).toBeGreaterThan(10);
  for (const [, id = ''] of named) expect(findFact(id), id).toBeDefined();
});
