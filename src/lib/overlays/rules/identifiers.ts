import { quote } from '../../json/index.ts';
import { plural } from '../../text/index.ts';
import { idsOf } from '../ids.ts';
import type { RuleInput } from './input.ts';
import { listing, naming, namingAll, wording } from './wording.ts';

const PLACES_SHOWN = 10;

/** Entries that are no features, and ids: doubled, missing, no text. */
export function findIdentifierFaults({ overlays: { features, notFeatures }, report }: RuleInput): void {
  if (notFeatures.length > 0) {
    report('no-feature', [], () => {
      const places = notFeatures.slice(0, PLACES_SHOWN).map((place) => `#${place}`);
      const entries = plural(notFeatures.length, 'entry is', 'entries are');
      return `${entries} no object: ${listing(places, notFeatures.length)}.`;
    });
  }

  const missing: number[] = [];
  for (const feature of features) {
    const { index, writtenId: written } = feature;
    if (written === undefined || written === null || written === '') missing.push(index);
    else if (typeof written !== 'string') {
      report('id-not-text', [index], () => `The id of ${naming(feature)} is ${wording(written)}, not a text.`);
    }
  }
  for (const [id, carriers] of idsOf(features).doubled) {
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
