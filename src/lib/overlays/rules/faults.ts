import { factById, markRank, markText } from '../../evidence/index.ts';
import { plural } from '../../text/index.ts';
import { severities } from '../kinds.ts';
import type {
  ChargerPair,
  Code,
  CodeBook,
  CodeField,
  CodeMeaning,
  Feature,
  FeatureKind,
  MapFrame,
  OverlayFinding,
  Overlays,
} from '../model.ts';
import { findChargerFaults } from './chargers.ts';
import { findCoordinateFaults } from './coordinates.ts';
import { byShape, type MarkWithBasis, type Report, type RuleInput, type ZoneFeature } from './input.ts';
import { findNoGoFaults } from './no-go.ts';
import { findHeadingFaults, findIdentifierFaults, findPropertyFaults } from './properties.ts';
import { createReader } from './reading.ts';
import { findPictureFaults, findShapeFaults } from './shapes.ts';
import { type OverlayRuleId, overlayRules } from './table.ts';
import { naming, namingAll, wording } from './wording.ts';

const fieldOf = { point: 'type', lane: 'lineType', zone: 'regionType' } as const satisfies Record<
  Exclude<FeatureKind, 'other'>,
  CodeField
>;

interface UnknownCode {
  readonly meaning: CodeMeaning;
  readonly features: number[];
}

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

/** Codes that are not whole numbers, unknown or missing. One finding per number, for any number of features. */
function findCodeFaults({ overlays: { features }, codeBook, report }: RuleInput): void {
  const byField = new Map<CodeField, Map<number, UnknownCode | null>>();
  const missing = { point: [] as number[], lane: [] as number[], zone: [] as number[] };
  for (const feature of features) {
    const { kind, codes, code, index } = feature;
    if (code === null && kind !== 'other') missing[kind].push(index);
    for (const each of codes) checkCode(feature, each);
  }
  for (const numbers of byField.values()) {
    for (const unknown of numbers.values()) {
      if (unknown === null) continue;
      const { meaning, features: carriers } = unknown;
      report(
        'code-unknown',
        carriers,
        () => {
          const by = plural(carriers.length, 'feature carries', 'features carry');
          return `${by} ${meaning.field} ${meaning.number}, whose meaning is unknown: ${namingAll(features, carriers)}.`;
        },
        meaning,
      );
    }
  }
  for (const kind of ['point', 'lane', 'zone'] as const) {
    const without = missing[kind];
    if (without.length === 0) continue;
    report('code-missing', without, () => {
      const have = plural(without.length, `${kind} has`, `${kind}s have`);
      return `${have} no ${fieldOf[kind]}: ${namingAll(features, without)}.`;
    });
  }

  function checkCode(feature: Feature, { field, number, written }: Code): void {
    if (number === null) {
      report('code-not-whole', [feature.index], () => {
        return `${field} of ${naming(feature)} is ${wording(written)}, which is not a whole number.`;
      });
      return;
    }
    let numbers = byField.get(field);
    if (numbers === undefined) {
      numbers = new Map();
      byField.set(field, numbers);
    }
    let unknown = numbers.get(number);
    if (unknown === undefined) {
      const meaning = codeBook.meaning(field, number);
      unknown = isKnown(meaning) ? null : { meaning, features: [] };
      numbers.set(number, unknown);
    }
    // A feature has a field once, so no feature is listed twice.
    unknown?.features.push(feature.index);
  }
}

/** Whether a reading has a meaning that this device does not contradict. */
function isKnown({ readings }: CodeMeaning): boolean {
  return readings.some(({ meaning, here }) => meaning !== null && here?.verdict !== 'contradicted');
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
