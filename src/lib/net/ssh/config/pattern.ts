/** One place of a pattern: any text (`*`), or one character that fulfils this. */
type Place = '*' | ((character: string) => boolean);

/** `*` matches any text and `?` one character, case-insensitively, in linear memory. */
export function matchesPattern(pattern: string, text: string): boolean {
  return matches([...pattern.toLowerCase()].map(placeOf), [...text.toLowerCase()]);
}

/**
 * A part of a path by glob(7): as a pattern, case-sensitive, with `[a-c]`, `[!a-c]` and `\`. A leading dot is matched by a
 * dot only.
 */
export function matchesGlob(pattern: string, name: string): boolean {
  if (name.startsWith('.') && !pattern.startsWith('.')) return false;
  return matches(globPlaces(pattern), [...name]);
}

/** Whether a part of a path has wildcards. */
export function hasWildcards(part: string): boolean {
  return /[*?[\\]/.test(part);
}

function placeOf(character: string): Place {
  if (character === '*') return '*';
  return character === '?' ? () => true : (given) => given === character;
}

function globPlaces(pattern: string): Place[] {
  const places: Place[] = [];
  const characters = [...pattern];
  for (let at = 0; at < characters.length; at += 1) {
    const character = characters[at] ?? '';
    const end = character === '[' ? endOfSet(characters, at) : -1;
    if (end > 0) {
      places.push(setOf(characters.slice(at + 1, end)));
      at = end;
    } else if (character === '\\' && at + 1 < characters.length) {
      at += 1;
      const escaped = characters[at];
      places.push((given) => given === escaped);
    } else places.push(placeOf(character));
  }
  return places;
}

/** Where the set that begins here ends; -1: it does not, so its bracket stands for itself. */
function endOfSet(characters: readonly string[], at: number): number {
  // A bracket that is first in a set belongs to it.
  const first = characters[at + 1] === '!' || characters[at + 1] === '^' ? at + 3 : at + 2;
  return characters.indexOf(']', first);
}

function setOf(characters: readonly string[]): Place {
  const isNegated = characters[0] === '!' || characters[0] === '^';
  const members = isNegated ? characters.slice(1) : characters;
  const ranges: [string, string][] = [];
  for (let at = 0; at < members.length; at += 1) {
    const from = members[at] ?? '';
    const to = members[at + 2];
    if (members[at + 1] === '-' && to !== undefined) {
      ranges.push([from, to]);
      at += 2;
    } else ranges.push([from, from]);
  }
  return (given) => ranges.some(([from, to]) => from <= given && given <= to) !== isNegated;
}

function matches(places: readonly Place[], given: readonly string[]): boolean {
  let [p, t, star, mark] = [0, 0, -1, 0];
  while (t < given.length) {
    const place = places[p];
    if (place === '*') {
      star = p;
      mark = t;
      p += 1;
    } else if (place?.(given[t] ?? '') === true) {
      p += 1;
      t += 1;
    } else if (star >= 0) {
      p = star + 1;
      mark += 1;
      t = mark;
    } else return false;
  }
  while (places[p] === '*') p += 1;
  return p === places.length;
}
