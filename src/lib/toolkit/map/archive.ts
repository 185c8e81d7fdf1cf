import { readJsonBytes } from '../../json/index.ts';
import { type ArchivedMap, type ArchiveFile, archivedFiles, checkPng } from '../../maps/index.ts';
import { plural, shorten } from '../../text/index.ts';
import type { Finding } from '../finding.result.ts';
import { type FindingStart, notChecked, ok, wrong } from '../finding.ts';
import type { MapArchiveView } from './archive.result.ts';
import { countFeatures } from './contents/overlays.ts';

type MapView = MapArchiveView['maps'][number];

/** What whoever took the backup asked for; nobody knows it of a file that is only read. */
export type AskedFor = 'all' | 'some' | 'unknown';

/**
 * A backup that was read and proven, with what is in it and what is not. That it was read at all proves its
 * checksums, so those findings stand as 'ok' here: a backup that fails them is no result but ARCHIVE_INVALID.
 */
export async function viewArchive(
  { path, bytes, sha256, archive }: ArchiveFile,
  asked: AskedFor = 'unknown',
): Promise<MapArchiveView> {
  const { createdAt, gwVersion, chassis, complete } = archive;
  const maps: MapView[] = [];
  for (const map of archive.maps) maps.push(await viewMap(map));
  const findings = [
    wholeFinding(maps),
    overlaysFinding(maps),
    countersFinding(archive.maps),
    partFinding(maps, 'image'),
    partFinding(maps, 'localisation'),
    allMapsFinding(complete, asked),
    restoringFinding(),
  ];
  return {
    verdict: findings.some(({ verdict }) => verdict === 'wrong') ? 'wrong' : 'ok',
    file: path,
    bytes,
    sha256,
    createdAt,
    gwVersion,
    chassis: { ...chassis },
    complete,
    maps,
    findings,
  };
}

async function viewMap(map: ArchivedMap): Promise<MapView> {
  const { id, uid, name, mapVersion, overlaysVersion, isCurrent, image, missing } = map;
  const picture = image && (await checkPng(image));
  return {
    id,
    uid,
    name,
    mapVersion,
    overlaysVersion,
    isCurrent,
    files: [...archivedFiles(map)],
    picture: picture?.ok ? { width: picture.width, height: picture.height } : null,
    overlays: countFeatures(map),
    missing: [...missing],
  };
}

const start = (id: string, title: string, spec: string | null = null): FindingStart => ({ id, title, spec });

function wholeFinding(maps: readonly MapView[]): Finding {
  const files = maps.reduce((sum, map) => sum + map.files.length, 0);
  return ok(
    start('whole', 'The file is whole'),
    `${plural(files, 'file')} with the length and SHA-256 of the manifest, and nothing else; the overlays stand apart exactly as in their map`,
  );
}

function overlaysFinding(maps: readonly MapView[]): Finding {
  const about = start('overlays', 'The overlays can be read');
  if (maps.length === 0) return notChecked(about, 'there is no map in it', null);
  const broken = maps.filter(({ overlays }) => overlays.problem !== null);
  if (broken.length === 0) {
    const sum = maps.reduce((all, { overlays }) => {
      const { point, lane, zone, other } = overlays.count ?? { point: 0, lane: 0, zone: 0, other: 0 };
      return all + point + lane + zone + other;
    }, 0);
    return ok(about, `${plural(sum, 'feature')} in ${plural(maps.length, 'map')}`);
  }
  return wrong(
    about,
    broken.map(({ id, overlays }) => `map ${id}: ${overlays.problem}`).join('\n'),
    'The backup holds them as the chassis gave them. See `gw overlays inspect --map ID` for what is wrong with them.',
  );
}

/** What the list of maps said against what the map itself says, where it says it. */
function countersFinding(maps: readonly ArchivedMap[]): Finding {
  const about = start('versions', 'Names and versions agree with the maps themselves');
  const differences = maps.flatMap((map) => {
    const reading = readJsonBytes(map.data);
    const inside = reading.ok ? (reading.value as Readonly<Record<string, unknown>>) : {};
    const pairs = [
      ['id', map.id],
      ['uid', map.uid],
      ['map_name', map.name],
      ['map_version', map.mapVersion],
      ['overlays_version', map.overlaysVersion],
    ] as const;
    return pairs.flatMap(([key, listed]) => {
      const said = Object.hasOwn(inside, key) ? inside[key] : undefined;
      if (said === undefined || said === null || said === '' || said === listed) return [];
      return [`${key} of map ${map.id} is ${JSON.stringify(listed)} in the list and ${shortJson(said)} in the map`];
    });
  });
  if (maps.length === 0) return notChecked(about, 'there is no map in it', null);
  if (differences.length === 0) return ok(about, `of ${plural(maps.length, 'map')}`);
  return wrong(
    about,
    differences.join('\n'),
    'Take the backup again. If it stays so, the chassis contradicts itself: report its software version.',
  );
}

const partTitles = {
  image: 'Every map has its picture',
  localisation: 'Every map has its localisation data',
} as const;

function partFinding(maps: readonly MapView[], what: 'image' | 'localisation'): Finding {
  const about = start(what, partTitles[what]);
  if (maps.length === 0) return notChecked(about, 'there is no map in it', null);
  const lacking = maps.flatMap(({ id, missing }) => {
    return missing.filter((one) => one.what === what).map(({ why }) => `map ${id}: ${why}`);
  });
  if (lacking.length === 0) {
    const sound = what === 'image' ? 'whole PNGs, with as many pixels as they say' : 'as the chassis gave it';
    return ok(about, `${maps.length} of ${maps.length}, ${sound}`);
  }
  return wrong(
    about,
    lacking.join('\n'),
    'The overlays can be restored without it, but a lost map cannot be made anew. Take the backup again.',
  );
}

function allMapsFinding(complete: boolean, asked: AskedFor): Finding {
  const about = start('all-maps', 'Every map of the chassis is in it');
  if (complete) return ok(about, 'as the chassis listed them when the backup was taken');
  if (asked === 'all') {
    return wrong(
      about,
      'the map in use was set from data and is stored nowhere, so no backup can take it',
      'Store that map on the chassis, or set a stored one; a restart may lose it. Then take the backup again.',
    );
  }
  const why = asked === 'some' ? 'only those that were named' : 'only named maps, or the one in use was stored nowhere';
  return notChecked(about, why, 'For all of them: `gw map backup` without --map.');
}

function restoringFinding(): Finding {
  return notChecked(
    start('restoring', 'A chassis takes these maps back', 'Chassis interface'),
    'writing maps was never measured on a real chassis, and only a chassis understands the localisation data',
    null,
  );
}

function shortJson(value: unknown): string {
  return shorten(JSON.stringify(value), 80);
}
