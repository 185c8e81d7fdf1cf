import { factById, markRank } from '../../evidence/index.ts';
import { plural } from '../../text/index.ts';
import {
  type ChargerPair,
  type CodeBook,
  type MapFrame,
  type OverlayFinding,
  type Overlays,
  severities,
} from '../model.ts';
import { findChargerFaults } from './chargers.ts';
import { findCodeFaults } from './codes.ts';
import { findCoordinateFaults } from './coordinates.ts';
import { findDoorFaults } from './doors.ts';
import { findHeadingFaults } from './headings.ts';
import { findIdentifierFaults } from './identifiers.ts';
import { byShape, type Report, type RuleInput, type Standing, type ZoneFeature } from './input.ts';
import { findNoGoFaults } from './no-go.ts';
import { findPictureFaults } from './picture.ts';
import { findPropertyFaults } from './properties.ts';
import { findShapeFaults } from './shapes.ts';
import { type OverlayRule, type OverlayRuleId, overlayRules } from './table.ts';

/** Findings of one rule that stand by themselves; what is beyond is put into one. Decision of ours. */
const SEPARATE_FINDINGS = 200;
/**
 * Steps that a check may take, and more for every corner of a zone. Ordinary outlines need less, of whatever size. A
 * map that needs more ends as not checked, for a million corners after a few seconds.
 */
const STEPS = 10_000_000;
const STEPS_A_CORNER = 100;

export interface FaultOptions {
  readonly frame: MapFrame | null;
  readonly codeBook: CodeBook;
  readonly pairs: readonly ChargerPair[];
  /** Steps that each of the checks may take whose work can grow faster than the map. Not given: in proportion to it. */
  readonly steps?: number;
}

const checks: readonly ((input: RuleInput) => void)[] = [
  findCoordinateFaults,
  findIdentifierFaults,
  findShapeFaults,
  findCodeFaults,
  findHeadingFaults,
  findPropertyFaults,
  findPictureFaults,
  findNoGoFaults,
  findChargerFaults,
  findDoorFaults,
];

/**
 * Holds the features of a map against the rule table. Worst first, then by place in the collection. Never throws, and
 * ends in time whatever is drawn: what was not looked at to the end is a finding of its own.
 */
export function findFaults(overlays: Overlays, options: FaultOptions): OverlayFinding[] {
  const { frame, codeBook, pairs } = options;
  const { points, zones } = byShape(overlays.features);
  const steps = options.steps ?? STEPS + STEPS_A_CORNER * cornersOf(zones);
  const kept = new Map<OverlayRuleId, Kept>();
  const report: Report = (rule, features, detail, mark) => {
    let of = kept.get(rule);
    if (of === undefined) {
      of = keepFor(rule);
      kept.set(rule, of);
    }
    of.take(features, detail, mark);
  };
  const input: RuleInput = { overlays, points, zones, frame, codeBook, pairs, steps, report };
  for (const check of checks) check(input);
  return [...kept.values()]
    .flatMap((of) => of.findings())
    .sort((a, b) => rankOf(a) - rankOf(b) || (a.features[0] ?? -1) - (b.features[0] ?? -1));
}

function cornersOf(zones: readonly ZoneFeature[]): number {
  let sum = 0;
  for (const { shape } of zones) for (const ring of shape.rings) sum += ring.length;
  return sum;
}

interface Kept {
  take(features: readonly number[], detail: () => string, standing: Standing | undefined): void;
  findings(): OverlayFinding[];
}

/** Keeps the findings of one rule: the first ones each by itself, all others as one that lists their features. */
function keepFor(id: OverlayRuleId): Kept {
  const { severity, remedy, fact } = ruleById[id];
  const usual: Standing | null = fact === null ? null : factById(fact);
  const separate: OverlayFinding[] = [];
  const rest = new Set<number>();
  let more = 0;
  let restStanding = usual;
  return {
    take: (features, detail, standing = usual ?? undefined) => {
      if (separate.length < SEPARATE_FINDINGS) {
        separate.push({ rule: id, severity, features, detail: detail(), remedy, ...standingOf(standing) });
        return;
      }
      more += 1;
      for (const feature of features) rest.add(feature);
      if (standing && (restStanding === null || markRank[standing.mark] > markRank[restStanding.mark]))
        restStanding = standing;
    },
    findings: () => {
      if (more === 0) return separate;
      const features = [...rest].sort((a, b) => a - b);
      const detail = `${plural(more, 'more finding')} of the same kind, about ${plural(features.length, 'feature')}.`;
      return [...separate, { rule: id, severity, features, detail, remedy, ...standingOf(restStanding) }];
    },
  };
}

function standingOf(standing: Standing | null | undefined): Pick<OverlayFinding, 'mark' | 'basis'> {
  return { mark: standing?.mark ?? null, basis: standing?.basis ?? null };
}

const ruleById = Object.fromEntries(overlayRules.map((rule) => [rule.id, rule])) as Record<OverlayRuleId, OverlayRule>;

function rankOf({ severity }: OverlayFinding): number {
  return severities.indexOf(severity);
}
