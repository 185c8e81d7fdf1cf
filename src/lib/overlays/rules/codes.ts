import { plural } from '../../text/index.ts';
import type { Code, CodeField, CodeMeaning, Feature, FeatureKind } from '../model.ts';
import type { RuleInput } from './input.ts';
import { naming, namingAll, wording } from './wording.ts';

const fieldOf = { point: 'type', lane: 'lineType', zone: 'regionType' } as const satisfies Record<
  Exclude<FeatureKind, 'other'>,
  CodeField
>;

interface Unknown {
  readonly meaning: CodeMeaning;
  readonly features: number[];
}

/** Codes: no whole number, of unknown meaning, missing. One finding per number, however many features carry it. */
export function findCodeFaults({ overlays: { features }, codeBook, report }: RuleInput): void {
  const byField = new Map<CodeField, Map<number, Unknown | null>>();
  const missing = { point: [] as number[], lane: [] as number[], zone: [] as number[] };
  for (const feature of features) {
    const { kind, codes, code, index } = feature;
    if (code === null && kind !== 'other') missing[kind].push(index);
    for (const each of codes) look(feature, each);
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
          return `${by} ${meaning.field} ${meaning.number}, and nobody knows what it means: ${namingAll(features, carriers)}.`;
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

  function look(feature: Feature, { field, number, written }: Code): void {
    if (number === null) {
      report('code-not-whole', [feature.index], () => {
        return `${field} of ${naming(feature)} is ${wording(written)}, which is no whole number.`;
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
    // A feature carries a field once, so the same feature never comes twice.
    unknown?.features.push(feature.index);
  }
}

/** Whether anybody names a meaning that this device did not contradict. */
function isKnown({ readings }: CodeMeaning): boolean {
  return readings.some(({ meaning, here }) => meaning !== null && here?.verdict !== 'contradicted');
}
