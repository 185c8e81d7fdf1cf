import { quote } from '../../json/index.ts';
import { plural } from '../../text/index.ts';
import { idsOf } from '../ids.ts';
import type { RuleInput } from './input.ts';
import { listing, naming, namingAll, wording } from './wording.ts';

const MAX_INDICES_SHOWN = 10;

/** Entries that are not features, and ids that are duplicate, missing or not strings. */
export function findIdentifierFaults({ overlays: { features, notFeatures }, report }: RuleInput): void {
  if (notFeatures.length > 0) {
    report('no-feature', [], () => {
      const places = notFeatures.slice(0, MAX_INDICES_SHOWN).map((place) => `#${place}`);
      const entries = plural(notFeatures.length, 'entry is not an object', 'entries are not objects');
      return `${entries}: ${listing(places, notFeatures.length)}.`;
    });
  }

  const missing: number[] = [];
  for (const feature of features) {
    const { index, writtenId: written } = feature;
    if (written === undefined || written === null || written === '') missing.push(index);
    else if (typeof written !== 'string') {
      report('id-not-text', [index], () => `The id of ${naming(feature)} is ${wording(written)}, not a string.`);
    }
  }
  for (const [id, carriers] of idsOf(features).duplicate) {
    const all = carriers.map(({ index }) => index);
    report('duplicate-id', all, () => `${all.length} features have the id ${quote(id)}: ${namingAll(features, all)}.`);
  }
  if (missing.length > 0) {
    report('missing-id', missing, () => {
      const have = plural(missing.length, 'feature has', 'features have');
      return `${have} no id: ${namingAll(features, missing)}.`;
    });
  }
}
