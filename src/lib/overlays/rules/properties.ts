import { isRecord, quote } from '../../json/index.ts';
import { plural } from '../../text/index.ts';
import { idsOf } from '../ids.ts';
import type { Feature, FeatureAngle } from '../model.ts';
import { isInexact } from '../read/feature.ts';
import { speedsIn } from '../speeds.ts';
import type { RuleInput } from './input.ts';
import { MAX_YAW_DEG } from './table.ts';
import { listing, naming, namingAll, rounded, wording } from './wording.ts';

interface SpeedProperty {
  readonly path: string;
  readonly features: number[];
  /** Count and range of the numbers, in either JSON type. */
  numbers: number;
  lowest: number;
  highest: number;
  /** Count of strings, numeric or not, and of values that are neither number nor string. */
  texts: number;
  others: number;
}

/** Properties that may limit the speed, down to one level inside a property. */
export function findPropertyFaults({ overlays: { features, topLevel }, report }: RuleInput): void {
  const found = new Map<string, SpeedProperty>();
  for (const key of Object.keys(topLevel)) {
    for (const { path, value } of speedsIn(key, topLevel[key])) addValue(path, value, null);
  }
  for (const feature of features) {
    for (const { path, value } of feature.speeds) addValue(path, value, feature.index);
  }
  for (const { path, features: carriers, numbers, lowest, highest, texts, others } of found.values()) {
    report('speed-limit-uninterpreted', carriers, () => {
      const low = rounded(lowest, 4);
      const range = numbers === 0 ? [] : [lowest === highest ? low : `${low} to ${rounded(highest, 4)}`];
      const asText = texts === 0 ? [] : [`${texts} as string`];
      const neither = others === 0 ? [] : [`${others} neither number nor string`];
      const values = [...range, ...asText, ...neither].join(', ');
      const where = carriers.length === 0 ? 'The collection itself carries' : carry(carriers.length);
      const which = carriers.length === 0 ? '' : `: ${namingAll(features, carriers)}`;
      return `${where} the property ${quote(path)} (${values}). Whether it limits the speed, and its unit, is unknown${which}.`;
    });
  }

  function addValue(path: string, value: unknown, feature: number | null): void {
    let property = found.get(path);
    if (property === undefined) {
      property = {
        path,
        features: [],
        numbers: 0,
        lowest: Number.POSITIVE_INFINITY,
        highest: Number.NEGATIVE_INFINITY,
        texts: 0,
        others: 0,
      };
      found.set(path, property);
    }
    if (feature !== null && property.features.at(-1) !== feature) property.features.push(feature);
    if (typeof value === 'string') property.texts += 1;
    else if (typeof value !== 'number') property.others += 1;
    const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
    if (typeof number !== 'number' || !Number.isFinite(number)) return;
    property.numbers += 1;
    property.lowest = Math.min(property.lowest, number);
    property.highest = Math.max(property.highest, number);
  }
}

function carry(count: number): string {
  return plural(count, 'feature carries', 'features carry');
}

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

/** `yaw` and `iconYaw` that are not numbers, likely radians, or beyond a full turn. */
export function findHeadingFaults({ overlays: { features }, report }: RuleInput): void {
  for (const feature of features) {
    if (feature.yaw !== null) checkAngle(feature, 'yaw', feature.yaw);
    if (feature.iconYaw !== null) checkAngle(feature, 'iconYaw', feature.iconYaw);
  }

  function checkAngle(feature: Feature, field: 'yaw' | 'iconYaw', { deg, written }: FeatureAngle): void {
    if (deg === null) {
      report('yaw-not-a-number', [feature.index], () => {
        return `${field} of ${naming(feature)} is ${wording(written)}, which is not a number of degrees.`;
      });
      return;
    }
    if (Math.abs(deg) > MAX_YAW_DEG) {
      report('yaw-beyond-turn', [feature.index], () => {
        return `${field} of ${naming(feature)} is ${rounded(deg, 3)} degrees, more than a full turn.`;
      });
      return;
    }
    const turn = likelyTurnDeg(deg, written);
    if (turn === null) return;
    report('yaw-like-radians', [feature.index], () => {
      const meant = `${deg} rad equals ${turn} degrees to the written digits`;
      return `${field} of ${naming(feature)} may be in radians: ${meant}.`;
    });
  }
}

/**
 * The common angle, in degrees, of a number read as radians; null when it looks like degrees. Common are multiples of 15
 * degrees with at least three decimals; with two decimals, which match too much, only multiples of 45. Whole numbers are
 * not multiples of π, and 0 is 0 in both units.
 */
export function likelyTurnDeg(value: number, written: unknown): number | null {
  if (Number.isInteger(value) || Math.abs(value) > 2 * Math.PI + 0.001) return null;
  const digits = decimalsOf(String(written));
  if (digits < 2) return null;
  const step = digits === 2 ? 45 : 15;
  const turn = Math.round((value * 180) / Math.PI / step) * step;
  if (turn === 0) return null;
  // Rounded to two decimals; rounded or truncated to three; never finer than single precision.
  const slack = digits === 2 ? 0.005 : digits === 3 ? 0.001 : 0.0001;
  return Math.abs(value - (turn * Math.PI) / 180) <= slack + 1e-9 ? turn : null;
}

function decimalsOf(text: string): number {
  const [, fraction = '', exponent = '0'] = /\.(\d+)(?:e([+-]?\d{1,4}))?\s*$/i.exec(text) ?? [];
  return fraction.length - Number(exponent);
}
