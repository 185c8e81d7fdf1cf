import { join } from 'node:path';
import type { ChassisLink } from '../../chassis/index.ts';
import {
  createIncidentRecorder,
  type IncidentRecorder,
  type IncidentStore,
  type LogEntry,
  type ObservedPose,
  openIncidentStore,
  type Places,
  type RecorderOptions,
} from '../../incident/index.ts';
import type { Clock, Log } from '../../lifecycle/index.ts';
import { frameNow } from '../../motion/index.ts';
import { mapOfPlace, type Site, titleOf } from '../../site/index.ts';
import type { Journal } from '../journal.ts';

export interface Incidents extends IncidentRecorder, Pick<IncidentStore, 'read'> {}

interface IncidentsOptions extends Pick<RecorderOptions, 'look' | 'subscribe'> {
  readonly site: Site;
  readonly link: Pick<ChassisLink, 'snapshot' | 'subscribe'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly journal: Pick<Journal, 'since'>;
  readonly withoutPaths: <T>(data: T) => T;
  readonly version: string;
}

/** Remembers what the pages show, and keeps it on disk around an incident; without the paths of this machine. */
export function openIncidents(options: IncidentsOptions): Incidents {
  const { site, link, clock, log, journal, withoutPaths, version } = options;
  const store = openIncidentStore(join(site.stateDir, 'incidents'), clock.wall());
  const recorder = createIncidentRecorder({
    store,
    clock,
    log,
    about: {
      site: site.name,
      serial: site.chassis.serial,
      version,
      timeZone: new Intl.DateTimeFormat().resolvedOptions().timeZone,
    },
    places: () => placesOf(site),
    look: () => withoutPaths(options.look()),
    pose: () => newestPose(link, clock.monotonicMs()),
    logSince: (ms) =>
      withoutPaths(
        journal
          .since(ms)
          .filter(({ level }) => level !== 'debug')
          .map(({ atMs, level, message, fields, lastFields, count }) => ({
            ...{ atMs, message, count },
            level: level as LogEntry['level'],
            fields: { ...(lastFields ?? fields) },
          })),
      ),
    subscribe: options.subscribe,
    followPose: (listener) => link.subscribe(listener, ['pose']),
  });
  return Object.assign(recorder, { read: store.read });
}

function placesOf(site: Site): Places {
  const { stations, dock } = site;
  return {
    stations: Object.entries(stations).map(([name, at]) => ({
      name,
      ...titleOf(at),
      ...{ xM: at.xM, yM: at.yM, map: mapOfPlace(site, at) },
    })),
    dock: dock === undefined ? null : { xM: dock.xM, yM: dock.yM, yawDeg: dock.yawDeg, map: mapOfPlace(site, dock) },
  };
}

/** null while no pose of this connection holds. */
function newestPose({ snapshot }: Pick<ChassisLink, 'snapshot'>, nowMs: number): ObservedPose | null {
  const { values } = snapshot();
  const { pose } = values;
  if (pose.status !== 'received' || pose.stale) return null;
  const { xM, yM, yawDeg } = pose.value;
  return { atMs: nowMs - pose.ageMs, xM, yM, yawDeg, map: frameNow(values) };
}
