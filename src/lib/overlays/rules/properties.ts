import { quote } from '../../json/index.ts';
import { plural } from '../../text/index.ts';
import { speedsIn } from '../speeds.ts';
import type { RuleInput } from './input.ts';
import { naming, namingAll, rounded } from './wording.ts';

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

/** Properties that may limit the speed, down to one level inside a property, and names with invisible characters. */
export function findPropertyFaults({ overlays: { features, topLevel }, report }: RuleInput): void {
  const found = new Map<string, SpeedProperty>();
  for (const key of Object.keys(topLevel)) {
    for (const { path, value } of speedsIn(key, topLevel[key])) addValue(path, value, null);
  }
  for (const feature of features) {
    const { index, name } = feature;
    for (const { path, value } of feature.speeds) addValue(path, value, index);
    if (name !== null && hasHiddenCharacters(name)) {
      report('name-with-control-characters', [index], () => {
        return `The name of ${naming(feature)} has invisible characters.`;
      });
    }
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

/** Of no width, beside those between the code points below: soft hyphen, fillers, joiners, byte order mark. */
const zeroWidth: ReadonlySet<number> = new Set([
  0x00ad, 0x034f, 0x061c, 0x115f, 0x1160, 0x17b4, 0x17b5, 0x180e, 0x200b, 0x2060, 0x2061, 0x2062, 0x2063, 0x2064,
  0x3164, 0xfeff, 0xffa0,
]);

/** Joiners belong to emoji and to some scripts; beside Latin letters, digits and signs they only hide. */
function isHidingJoiner(name: string, at: number): boolean {
  const isLatin = (code: number) => Number.isNaN(code) || code < 0x0250;
  return isLatin(name.charCodeAt(at - 1)) || isLatin(name.charCodeAt(at + 1));
}

/** Control characters, line separators, direction marks, and characters of no width. */
function hasHiddenCharacters(name: string): boolean {
  for (let at = 0; at < name.length; at += 1) {
    const code = name.charCodeAt(at);
    if (code < 0x20 || (code >= 0x7f && code <= 0x9f)) return true;
    if (zeroWidth.has(code)) return true;
    if ((code === 0x200c || code === 0x200d) && isHidingJoiner(name, at)) return true;
    if (code < 0x200e) continue;
    if (code <= 0x200f || (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069)) return true;
  }
  return false;
}
