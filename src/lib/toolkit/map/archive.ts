import { readJsonBytes } from '../../json/index.ts';
import {
  type ArchivedMap,
  type ArchiveFile,
  archivedFiles,
  checkPng,
  damagedFiles,
  damagedName,
  isComplete,
  type MapArchive,
} from '../../maps/index.ts';
import { plural, shorten } from '../../text/index.ts';
import type { Finding, Line } from '../finding.result.ts';
import { type FindingStart, notApplicable, notChecked, ok, wrong } from '../finding.ts';
import { conclude } from '../verdict.ts';
import { countFeatures, viewDamaged } from './contents.ts';
import type { MapArchiveView } from './map.result.ts';

const RESTORING = 'restoring';

type MapView = MapArchiveView['maps'][number];

/** Maps requested for the backup; unknown for an existing file. */
export type BackupScope = 'all' | 'some' | 'unknown';

/**
 * The findings of a verified backup. Checksum findings are always 'ok' here, since a backup that fails them is
 * ARCHIVE_INVALID.
 */
export async function viewArchive(
  { path, bytes, sha256, archive }: ArchiveFile,
  scope: BackupScope = 'unknown',
): Promise<MapArchiveView> {
  const { createdAt, gwVersion, chassis } = archive;
  const maps: MapView[] = [];
  for (const map of archive.maps) maps.push(await viewMap(map));
  const findings = [
    wholeFinding(maps),
    overlaysFinding(maps),
    countersFinding(archive.maps),
    partFinding(maps, 'image'),
    partFinding(maps, 'localisation'),
    allMapsFinding(archive, scope),
    restoringFinding(),
  ];
  return {
    // No file can show whether it can be restored.
    verdict: conclude(findings.map(({ id, verdict }) => ({ verdict, need: id === RESTORING ? 'optional' : 'needed' }))),
    file: path,
    bytes,
    sha256,
    createdAt,
    gwVersion,
    chassis: { ...chassis },
    complete: isComplete(archive),
    maps,
    damaged: archive.damaged.map((map, at) => ({
      ...viewDamaged(map),
      isCurrent: map.isCurrent,
      files: [...damagedFiles(map, at)],
    })),
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
    missing: missing.map(({ what, why }) => ({ what, why })),
  };
}

const start = (id: string, title: string, spec: string | null = null): FindingStart => ({ id, title, spec });

function wholeFinding(maps: readonly MapView[]): Finding {
  const files = maps.reduce((sum, map) => sum + map.files.length, 0);
  return ok(
    start('intact', 'The archive is intact'),
    `${plural(files, 'file')} with the length and SHA-256 of the manifest, and no others; overlays files equal those of their maps`,
  );
}

function overlaysFinding(maps: readonly MapView[]): Finding {
  const about = start('overlays', 'The overlays are readable');
  if (maps.length === 0) return notChecked(about, 'no map in it', null);
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
    'The backup has them as received. Run `gw overlays inspect --map ID` for details.',
  );
}

/** Compares the list of maps with the members of each map, where present. */
function countersFinding(maps: readonly ArchivedMap[]): Finding {
  const about = start('versions', 'Names and versions match the map data');
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
      const inMap = Object.hasOwn(inside, key) ? inside[key] : undefined;
      if (inMap === undefined || inMap === null || inMap === '' || inMap === listed) return [];
      return [`${key} of map ${map.id} is ${JSON.stringify(listed)} in the list and ${shortJson(inMap)} in the map`];
    });
  });
  if (maps.length === 0) return notChecked(about, 'no map in it', null);
  if (differences.length === 0) return ok(about, `of ${plural(maps.length, 'map')}`);
  return wrong(
    about,
    differences.join('\n'),
    'Take the backup again. If they still differ, report the software version of the chassis.',
  );
}

const partTitles = {
  image: 'Every map has its picture',
  localisation: 'Every map has its localisation data',
} as const;

function partFinding(maps: readonly MapView[], what: 'image' | 'localisation'): Finding {
  const about = start(what, partTitles[what]);
  if (maps.length === 0) return notChecked(about, 'no map in it', null);
  const lacking = maps.flatMap(({ id, missing }) => {
    return missing.filter((one) => one.what === what).map(({ why }) => `map ${id}: ${why}`);
  });
  if (lacking.length === 0) {
    const detail = what === 'image' ? 'valid PNGs' : 'as received';
    return ok(about, `${maps.length} of ${maps.length}, ${detail}`);
  }
  return wrong(
    about,
    lacking.join('\n'),
    'Take the backup again: without it overlays can be restored, but not a lost map.',
  );
}

function allMapsFinding({ complete, damaged, currentProblem }: MapArchive, scope: BackupScope): Line {
  const about = start('all-maps', 'Every map of the chassis is included');
  if (damaged.length > 0) {
    const names = damaged.map(damagedName);
    return wrong(
      about,
      damaged.map(({ why }, at) => `${names[at]} cannot be read: ${why}`).join('\n'),
      `With the tool of the chassis store again or delete ${names.join(', ')}, then take the backup again. What the chassis answered is kept in the file under damaged/.`,
    );
  }
  if (currentProblem !== null) {
    return wrong(
      about,
      `the current map is not known, and may not be stored: ${currentProblem}`,
      'Select a stored map with the tool of the chassis, then take the backup again.',
    );
  }
  if (complete) return ok(about, 'as listed by the chassis at the backup');
  if (scope === 'all') {
    return wrong(
      about,
      'the current map was set from data and is not stored, so no backup contains it',
      'Store that map on the chassis, or select a stored one; a restart may lose it. Then take the backup again.',
    );
  }
  if (scope === 'some') return notApplicable(about, 'selected maps only');
  return notChecked(
    about,
    'selected maps only, or the current map was not stored',
    'For all maps run `gw map backup` without --map.',
  );
}

function restoringFinding(): Finding {
  return notChecked(
    start(RESTORING, 'The maps can be restored to a chassis', 'Chassis interface'),
    'writing maps was never measured on a real chassis, and localisation data has no public format',
    null,
  );
}

function shortJson(value: unknown): string {
  return shorten(JSON.stringify(value), 80);
}
