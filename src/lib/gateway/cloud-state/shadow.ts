import { type ChassisSnapshot, missingReason } from '../../chassis/index.ts';
import type { CloudView } from '../../cloud/index.ts';
import type { MotionStatus } from '../../motion/index.ts';
import type { Site } from '../../site/index.ts';
import { shorten } from '../../text/index.ts';

export interface ShadowSources {
  /** Version of gw. */
  readonly version: string;
  readonly site: Pick<Site, 'name'> & { readonly chassis: Pick<Site['chassis'], 'serial'> };
  readonly snapshot: Pick<ChassisSnapshot, 'link' | 'identity' | 'values'>;
  readonly motion: Pick<MotionStatus, 'stop'>;
  /** Of the cloud module. */
  readonly link: CloudView['link'];
  readonly release: CloudView['release'];
}

/** In a shadow `null` deletes a key, so what is unknown has a word. */
const NOT_CHECKED = 'not-checked';
/** Known to be absent. */
const NONE = 'none';
const MAX_TEXT_CHARACTERS = 120;
const MAX_VERSIONS = 8;

/**
 * The reported state of the shadow: what changes seldom. Every key is always present; a text 'not-checked' stands for an
 * unknown value, 'none' for one that does not exist.
 */
export function shadowOf(sources: ShadowSources): Readonly<Record<string, unknown>> {
  const { version, site, snapshot, motion, link, release } = sources;
  const { identity, values } = snapshot;
  const { latched, saved, by, reason, since } = motion.stop;
  const map = missingReason(values.map) === null && values.map.status === 'received' ? values.map.value : null;
  const run = release?.run;
  return {
    schema: 'gw/shadow/1',
    gw: { version },
    site: { name: text(site.name) },
    chassis: {
      serial: site.chassis.serial,
      software: text(identity?.software),
      model: text(identity?.model),
      link: snapshot.link.kind === 'not-connected' ? snapshot.link.failure : snapshot.link.kind,
    },
    map: {
      name: text(map?.name),
      uid: text(map?.uid),
      mapVersion: number(map?.mapVersion),
      overlaysVersion: number(map?.overlaysVersion),
    },
    stop: { latched, saved, by: text(by, NONE), reason: text(reason, NONE), since: text(since, NONE) },
    cloud: { path: link?.connection?.path ?? NOT_CHECKED },
    release: {
      status: release?.status ?? NOT_CHECKED,
      installed: release === null ? NOT_CHECKED : release.installed.slice(0, MAX_VERSIONS),
      previous: release === null ? NOT_CHECKED : text(release.previous, NONE),
      run:
        run === undefined
          ? NOT_CHECKED
          : run === null
            ? NONE
            : { jobId: run.jobId, phase: run.phase, toVersion: text(run.toVersion), stage: run.stage ?? NONE },
    },
  };
}

function text(value: string | null | undefined, absent = NOT_CHECKED): string {
  return value === null || value === undefined ? absent : shorten(value, MAX_TEXT_CHARACTERS).toWellFormed();
}

function number(value: number | null | undefined): number | string {
  return typeof value === 'number' && Number.isFinite(value) ? value : NOT_CHECKED;
}
