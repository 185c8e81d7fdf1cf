import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { backUpMaps, type MapArchive } from '../../src/lib/maps/index.ts';
import {
  type MapOutcome,
  type RestoreRun,
  type RestoreWrite,
  restoreMaps,
} from '../../src/lib/maps/restore/restore.ts';
import { type MapChassis, quickPace, standsStill, time, topicsOf } from './map-chassis.ts';

/** Of the backups of one file with tests. */
export let dir: string;
let count = 0;

export function keepsBackups(): void {
  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), 'gw-restore-'));
  });
  afterAll(() => rmSync(dir, { recursive: true, force: true }));
}

export const calm = () => {};
export const never = new AbortController().signal;
/** Overlays without a feature. */
export const empty = '{"type":"FeatureCollection","features":[]}';

export const archiveOf = ({ client }: MapChassis): Promise<MapArchive> =>
  backUpMaps(client, { ids: 'all', gwVersion: '0.1.0', clock: time, signal: never, onProgress: calm });

export interface RestoreRequest {
  readonly ids?: 'all' | readonly string[];
  readonly fromAnotherRobot?: string;
  readonly signal?: AbortSignal;
  readonly write?: Partial<RestoreWrite> | null;
}

export function restore(chassis: MapChassis, archive: MapArchive, request: RestoreRequest = {}): Promise<RestoreRun> {
  count += 1;
  const { ids = 'all', fromAnotherRobot = null, signal = never } = request;
  const write: RestoreWrite = {
    ...{ checkStillness: standsStill, isConfirmedStill: false, backupPath: join(dir, `before-${count}.tar.gz`) },
    ...{ gwVersion: '0.1.0', onBackup: calm, pace: quickPace, ...request.write },
  };
  return restoreMaps({
    ...{ client: chassis.client, archive, ids, topics: topicsOf(chassis), clock: time, signal, onProgress: calm },
    fromAnotherRobot,
    write: request.write === null ? null : write,
  });
}

export function outcomeOf(run: RestoreRun, id = 1): MapOutcome {
  const found = run.written?.maps.find(({ planned }) => planned.archived.id === id);
  if (!found) throw new Error('nothing was written');
  return found.outcome;
}

/** The overlays of a stored map become these. */
export function store(chassis: MapChassis, overlays: unknown, id = 1): void {
  const map = chassis.maps.get(id);
  if (map) map.overlays = overlays;
}
