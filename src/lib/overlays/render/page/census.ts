import type { CodeField, CodeMeaning, Inspection } from '../../model.ts';

export interface CountedNumber {
  readonly meaning: CodeMeaning;
  /** Selected features with this number. */
  readonly count: number;
}

const fieldOrder: readonly CodeField[] = ['type', 'regionType', 'lineType', 'direction', 'startType', 'endType'];

/** Every number of the selected features with its meaning, by field, then by number. */
export function numbersOf({ selected, codeBook }: Inspection): readonly CountedNumber[] {
  const counts = new Map<CodeField, Map<number, number>>(fieldOrder.map((field) => [field, new Map()]));
  for (const { codes } of selected) {
    for (const { field, number } of codes) {
      const byNumber = counts.get(field);
      if (number !== null && byNumber) byNumber.set(number, (byNumber.get(number) ?? 0) + 1);
    }
  }
  return [...counts].flatMap(([field, byNumber]) =>
    [...byNumber]
      .sort(([a], [b]) => a - b)
      .map(([number, count]) => ({ meaning: codeBook.meaning(field, number), count })),
  );
}

/** The rules with a finding on a feature, by its index; each once. */
export function rulesByFeature({ findings }: Inspection): ReadonlyMap<number, ReadonlySet<string>> {
  const rules = new Map<number, Set<string>>();
  for (const { rule, features } of findings) {
    for (const index of features) {
      const held = rules.get(index);
      if (held) held.add(rule);
      else rules.set(index, new Set([rule]));
    }
  }
  return rules;
}
