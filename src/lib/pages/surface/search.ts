import { searchText, titleIn } from '../../text/index.ts';
import type { PageState } from '../model.ts';
import type { Language } from '../viewer.ts';

export type Station = PageState['site']['stations'][number];

/** Project decision: fewer stations are all in view, or nearly, and need no search. */
export const SEARCH_FROM = 9;

/**
 * The stations whose title has every word of the query, in any language of the site file and any spelling that `searchText`
 * folds; one whose number or word it is comes first, then one that begins with it. Without a word: all of them.
 */
export function searchStations(stations: readonly Station[], query: string): readonly Station[] {
  const words = wordsOf(query);
  if (words.length === 0) return stations;
  return stations
    .map((station) => ({ station, rank: Math.min(...spellingsOf(station).map((text) => rankOf(text, words))) }))
    .filter(({ rank }) => rank < NOT_FOUND)
    .sort((a, b) => a.rank - b.rank)
    .map(({ station }) => station);
}

const NOT_FOUND = 3;

function rankOf(text: string, words: readonly string[]): number {
  if (!words.every((word) => text.includes(word))) return NOT_FOUND;
  const own = wordsOf(text);
  if (words.every((word) => own.includes(word))) return 0;
  return words.every((word) => own.some((one) => one.startsWith(word))) ? 1 : 2;
}

const wordsOf = (text: string) => searchText(text).split(' ').filter(Boolean);

/** As a keyboard without umlauts has them, too. */
const umlauts: Readonly<Record<string, string>> = { ä: 'ae', ö: 'oe', ü: 'ue' };

/** A page is painted many times while a search is open, and its titles stay. */
const folded = new Map<string, readonly string[]>();
const MAX_FOLDED = 2_000;

function spellingsOf({ name, title }: Station): readonly string[] {
  const shown = title === undefined ? [name] : [titleIn(title, 'de'), titleIn(title, 'en')];
  return shown.flatMap((text) => {
    const known = folded.get(text) ?? spell(text);
    if (folded.size >= MAX_FOLDED) folded.clear();
    folded.set(text, known);
    return known;
  });
}

function spell(text: string): readonly string[] {
  const spelt = text.normalize('NFC').replace(/[äöü]/gi, (letter) => umlauts[letter.toLowerCase()] ?? letter);
  return [searchText(text), searchText(spelt)];
}

interface Group {
  /** null: of the stations without a group. */
  readonly title: string | null;
  readonly stations: readonly Station[];
}

/** The stations under the headings of their groups, each in the order of the site file; those without a group are the last. */
export function groupsOf(stations: readonly Station[], language: Language): readonly Group[] {
  const groups = new Map<string | null, Station[]>();
  for (const station of stations) {
    const title = station.group === undefined ? null : titleIn(station.group, language);
    groups.set(title, [...(groups.get(title) ?? []), station]);
  }
  return [...groups]
    .map(([title, members]) => ({ title, stations: members }))
    .sort((a, b) => Number(a.title === null) - Number(b.title === null));
}
