import { nearest, type Report } from '../document/index.ts';
import { isRecord } from '../json/index.ts';

/** Each place belongs to one map: with several, every place names its own. */
export function checkMaps({ maps, stations, dock }: Record<string, unknown>, report: Report): void {
  if (isRecord(maps)) checkSameMaps(Object.entries(maps), report);
  const known = isRecord(maps) ? Object.keys(maps) : [];
  const places = [
    ...(isRecord(stations) ? Object.entries(stations).map(([name, at]) => ({ path: ['stations', name], at })) : []),
    { path: ['dock'], at: dock },
  ];
  for (const { path, at } of places) {
    if (!isRecord(at)) continue;
    if (at.map === undefined && known.length > 1) {
      report(path, { expected: `the key map, one of ${known.join(', ')}: this file names several maps` });
    } else if (typeof at.map === 'string' && !known.includes(at.map)) {
      const expected = known.length === 0 ? 'a map, but this file defines none' : `one of the maps ${known.join(', ')}`;
      report([...path, 'map'], { expected, suggestion: nearest(at.map, known) });
    }
  }
}

/** One map has one version, and people distinguish maps by number. */
function checkSameMaps(maps: readonly (readonly [string, unknown])[], report: Report): void {
  const marks = [
    ['uid', 'a uid that no other map has', ({ uid }) => uid],
    ['id', 'a number that no other map has', ({ id }) => id],
  ] as const satisfies readonly (readonly [string, string, (map: Record<string, unknown>) => unknown])[];
  const known = maps.flatMap(([key, map]) => (isRecord(map) ? [{ key, map }] : []));
  for (const [field, expected, markOf] of marks) {
    for (const [at, { key, map }] of known.entries()) {
      const mark = markOf(map);
      const other = known.slice(0, at).find((before) => typeof mark === 'string' && markOf(before.map) === mark);
      if (other === undefined) continue;
      const remedy =
        field === 'uid'
          ? 'remove one of the two, and write the key of the other as map of its places'
          : 'change one of the two';
      report(['maps', key, ...(map[field] === undefined ? [] : [field])], {
        expected: `${expected}: it is that of maps.${other.key} too; ${remedy}`,
      });
    }
  }
}
