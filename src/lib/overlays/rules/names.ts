import { quote } from '../../json/index.ts';
import type { ChargerPair, Feature } from '../model.ts';
import type { RuleInput } from './input.ts';
import { naming, namingAll } from './wording.ts';

/** Names with invisible characters, and names of several points that read the same. */
export function findNameFaults({ overlays: { features }, pairs, report }: RuleInput): void {
  const alike = new Map<string, Feature[]>();
  for (const feature of features) {
    const { index, kind, name } = feature;
    if (name === null) continue;
    if (hasHiddenCharacters(name)) {
      report('name-with-control-characters', [index], () => {
        return `The name of ${naming(feature)} has invisible characters.`;
      });
    }
    const read = kind === 'point' ? readName(name) : '';
    if (read === '') continue;
    const same = alike.get(read);
    if (same === undefined) alike.set(read, [feature]);
    else same.push(feature);
  }
  const isStation = stationTest(pairs);
  for (const same of alike.values()) {
    if (same.length < 2 || isStation(same)) continue;
    const all = same.map(({ index }) => index);
    report('name-not-unique', all, () => {
      const spellings = new Set(same.map(({ name }) => name)).size;
      const how = spellings === 1 ? '' : `, written in ${spellings} ways`;
      return `${all.length} points have a name that reads ${quote(same[0]?.name ?? '')}${how}: ${namingAll(features, all)}.`;
    });
  }
}

/** Whether two points are the items of one charging station, which may share its name. */
function stationTest(pairs: readonly ChargerPair[]): (features: readonly Feature[]) => boolean {
  const stations = new Set(pairs.map(({ charger, dockingPoint }) => `${charger} ${dockingPoint}`));
  return ([one, other, ...more]) =>
    more.length === 0 &&
    one !== undefined &&
    other !== undefined &&
    (stations.has(`${one.index} ${other.index}`) || stations.has(`${other.index} ${one.index}`));
}

/**
 * A name as a person reads it: in one spelling of Unicode (NFKC), in lower case, without invisible characters, and with
 * single blanks. Project decision.
 */
function readName(name: string): string {
  // A name of small Latin letters, as most are, needs no table of Unicode.
  if (/^[a-z0-9]+$/.test(name)) return name;
  const plain = name
    .normalize('NFKC')
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .replace(/\p{Cc}/gu, ' ');
  // In capitals first: ß and SS are one.
  return plain.toUpperCase().toLowerCase().normalize('NFKC').split(/\s+/u).join(' ').trim();
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
