import { factById, markRank, markText } from '../../evidence/index.ts';
import { plural } from '../../text/index.ts';
import { severities } from '../kinds.ts';
import type { ChargerPair, CodeBook, MapFrame, OverlayFinding, Overlays } from '../model.ts';
import { findChargerFaults } from './chargers.ts';
import { findCodeFaults } from './codes.ts';
import { findCoordinateFaults } from './coordinates.ts';
import { byShape, type MarkWithBasis, type Report, type RuleInput, type ZoneFeature } from './input.ts';
import { findNameFaults } from './names.ts';
import { findNoGoFaults } from './no-go.ts';
import { findHeadingFaults, findIdentifierFaults, findPropertyFaults } from './properties.ts';
import { createReader } from './reading.ts';
import { findPictureFaults, findShapeFaults } from './shapes.ts';
import { type OverlayRuleId, overlayRules } from './table.ts';
import { findUnreadFaults } from './unread.ts';
import { naming, wording } from './wording.ts';

/** Separate findings per rule; further ones are combined into one. Project decision. */
const MAX_SEPARATE_FINDINGS = 200;
/**
 * Limit of steps per check, with an addition per corner of a zone. Ordinary outlines of any size need less. A map that
 * needs more is not checked to the end; with a million corners that takes a few seconds.
 */
const STEPS = 10_000_000;
const STEPS_PER_CORNER = 20;

export interface FaultOptions {
  readonly frame: MapFrame | null;
  readonly codeBook: CodeBook;
  readonly pairs: readonly ChargerPair[];
  /** Limit of steps per check whose work can grow faster than the map. Default: proportional to the map. */
  readonly steps?: number;
}

const checks: readonly ((input: RuleInput) => void)[] = [
  findCoordinateFaults,
  findIdentifierFaults,
  findShapeFaults,
  findCodeFaults,
  findHeadingFaults,
  findPropertyFaults,
  findUnreadFaults,
  findNameFaults,
  findPictureFaults,
  findNoGoFaults,
  findChargerFaults,
  findDoorFaults,
];

/**
 * Checks the overlays of a map against the rule table. Worst findings first, then by index. Never throws, and the work is
 * bounded for any map: an unfinished check is a finding of its own.
 */
export function findFaults(overlays: Overlays, options: FaultOptions): OverlayFinding[] {
  const { frame, codeBook, pairs } = options;
  const { points, zones } = byShape(overlays.features);
  const steps = options.steps ?? STEPS + STEPS_PER_CORNER * cornersOf(zones);
  const kept = new Map<OverlayRuleId, Kept>();
  const report: Report = (rule, features, detail, mark) => {
    let of = kept.get(rule);
    if (of === undefined) {
      of = keepFor(rule);
      kept.set(rule, of);
    }
    of.add(features, detail, mark);
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
  add(features: readonly number[], detail: () => string, mark: MarkWithBasis | undefined): void;
  findings(): OverlayFinding[];
}

/** Collects the findings of one rule: the first ones separately, all others as one that lists their features. */
function keepFor(id: OverlayRuleId): Kept {
  const { severity, remedy, fact } = overlayRules[id];
  const usual: MarkWithBasis | null = fact === undefined ? null : factById(fact);
  const separate: OverlayFinding[] = [];
  const rest = new Set<number>();
  let more = 0;
  let restMark = usual;
  return {
    add: (features, detail, given = usual ?? undefined) => {
      if (separate.length < MAX_SEPARATE_FINDINGS) {
        separate.push({ rule: id, severity, features: [...features], detail: detail(), remedy, ...markOf(given) });
        return;
      }
      more += 1;
      for (const feature of features) rest.add(feature);
      if (given && (restMark === null || markRank[given.mark] > markRank[restMark.mark])) restMark = given;
    },
    findings: () => {
      if (more === 0) return separate;
      const features = [...rest].sort((a, b) => a - b);
      const detail = `${plural(more, 'more finding')} of the same kind, about ${plural(features.length, 'feature')}.`;
      return [...separate, { rule: id, severity, features, detail, remedy, ...markOf(restMark) }];
    },
  };
}

function markOf(given: MarkWithBasis | null | undefined): Pick<OverlayFinding, 'mark' | 'basis'> {
  return { mark: given?.mark ?? null, basis: given?.basis ?? null };
}

function rankOf({ severity }: OverlayFinding): number {
  return severities.indexOf(severity);
}

/** Door zones without a door controller. */
function findDoorFaults({ zones, codeBook, report }: RuleInput): void {
  const door = createReader(codeBook, /\bdoor\b/i);
  for (const feature of zones) {
    const read = door(feature.code);
    if (read === null) continue;
    const { mac } = feature;
    if (typeof mac === 'string' && mac.trim() !== '') continue;
    report('door-without-controller', [feature.index], () => {
      const found = mac === undefined ? 'it has no mac' : `its mac is ${wording(mac)}`;
      return `${naming(feature)} is of regionType ${read.number}, '${read.meaning}' (${markText(read)}), and ${found}.`;
    });
  }
}
