import { isRecord } from '../../json/index.ts';
import { plural } from '../../text/index.ts';
import type { Code, CodeField, CodeMeaning, Feature, FeatureKind } from '../model.ts';
import type { RuleInput } from './input.ts';
import { naming, namingAll, wording } from './wording.ts';

const fieldOf = { point: 'type', lane: 'lineType', zone: 'regionType' } as const satisfies Record<
  Exclude<FeatureKind, 'other'>,
  CodeField
>;
/** The numbers of zones and lanes on another kind. Not `type`, by which other programs name anything. */
const foreignFields = { point: ['regionType', 'lineType'], lane: ['regionType'], zone: ['lineType'] } as const;

interface UnknownCode {
  readonly meaning: CodeMeaning;
  readonly features: number[];
}

/** Codes that are not whole numbers, unknown or missing. One finding per number, for any number of features. */
export function findCodeFaults({ overlays: { features, rawOf }, codeBook, report }: RuleInput): void {
  const byField = new Map<CodeField, Map<number, UnknownCode | null>>();
  const ofAnother = new Map<string, { readonly kind: FeatureKind; readonly features: number[] }>();
  const missing = { point: [] as number[], lane: [] as number[], zone: [] as number[] };
  for (const feature of features) {
    const { kind, codes, code, index } = feature;
    if (code === null && kind !== 'other') noteMissing(kind, index, rawOf(feature).properties);
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

  for (const [what, { kind, features: carriers }] of ofAnother) {
    report('code-of-another-kind', carriers, () => {
      const have = plural(carriers.length, `${kind} has`, `${kind}s have`);
      return `${have} ${what}, which gw does not read there: ${namingAll(features, carriers)}.`;
    });
  }

  /** Properties that are no object are a finding of their own. */
  function noteMissing(kind: Exclude<FeatureKind, 'other'>, index: number, properties: unknown): void {
    if (properties !== undefined && properties !== null && !isRecord(properties)) return;
    const what = isRecord(properties) ? numberOfAnother(kind, properties) : null;
    if (what === null) {
      missing[kind].push(index);
      return;
    }
    const key = `${what} instead of ${fieldOf[kind]}`;
    const known = ofAnother.get(key);
    if (known === undefined) ofAnother.set(key, { kind, features: [index] });
    else known.features.push(index);
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

/** The number of zones or lanes that a feature of another kind has: `regionType 1`; null without one. */
function numberOfAnother(
  kind: Exclude<FeatureKind, 'other'>,
  properties: Readonly<Record<string, unknown>>,
): string | null {
  for (const field of foreignFields[kind]) {
    const written = Object.hasOwn(properties, field) ? properties[field] : undefined;
    if (written !== undefined && written !== null) return `${field} ${wording(written)}`;
  }
  return null;
}
