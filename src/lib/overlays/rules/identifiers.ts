import { isRecord, quote } from '../../json/index.ts';
import { plural } from '../../text/index.ts';
import { idsOf } from '../ids.ts';
import type { Feature } from '../model.ts';
import { isInexact } from '../read/feature.ts';
import type { RuleInput } from './input.ts';
import { listing, naming, namingAll, wording } from './wording.ts';

const MAX_INDICES_SHOWN = 10;

/** Entries that are not features, and ids that are duplicate, missing or not strings. */
export function findIdentifierFaults({ overlays: { features, notFeatures, rawOf }, report }: RuleInput): void {
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
    else if (isInexact(written)) {
      report('id-loses-digits', [index], () => losing('id', feature, feature.id, written));
    } else if (typeof written !== 'string') {
      report('id-not-text', [index], () => `The id of ${naming(feature)} is ${wording(written)}, not a string.`);
    }
  }
  for (const feature of features) {
    if (feature.partnerId === null) continue;
    const { properties } = rawOf(feature);
    const reference = isRecord(properties) ? properties.dockingPointId : undefined;
    if (!isInexact(reference)) continue;
    report('id-loses-digits', [feature.index], () => losing('dockingPointId', feature, feature.partnerId, reference));
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

/** A number as written, and as a program reads it that has 53 bits for one. */
function losing(member: string, feature: Feature, digits: string | null, read: unknown): string {
  const whose = `#${feature.index}${feature.name === null ? '' : ` ${quote(feature.name)}`}`;
  return `${member} of ${feature.kind} ${whose} is the number ${(digits ?? '').slice(0, 60)}, which most programs read as ${wording(read)}.`;
}
