import { dirname, resolve } from 'node:path';
import { parseDocument, readDocument } from '../document/index.ts';
import { checkAcrossKeys } from './rules.ts';
import { type Site, type SiteFile, siteSchema } from './schema.ts';

const rules = {
  schema: siteSchema,
  maxBytes: 256 * 1024,
  error: 'SITE_FILE_INVALID',
  check: checkAcrossKeys,
} as const;

/**
 * Reads, validates and resolves a site file: every path in it becomes absolute, relative to the folder of the file.
 * Opens no file that it names. Throws SITE_FILE_NOT_FOUND, or SITE_FILE_INVALID with every problem in
 * `details.problems`.
 */
export async function loadSite(path: string): Promise<Site> {
  const file = await readDocument({ path, notFound: 'SITE_FILE_NOT_FOUND', ...rules });
  return resolvePaths(file, resolve(path));
}

/** Validates a text that is not a file yet. Throws SITE_FILE_INVALID. */
export function parseSite(text: string | Uint8Array, path: string): Site {
  return resolvePaths(parseDocument({ text, file: path, ...rules }), resolve(path));
}

function resolvePaths(file: SiteFile, path: string): Site {
  const dir = dirname(path);
  const absolute = (name: string) => resolve(dir, name);
  const { secretFile } = file.chassis;
  const { passwordFile } = file.operator;
  const { fleet, enrolment, cloud, tablet, time } = file;
  return {
    ...file,
    path,
    dir,
    chassis: { ...file.chassis, ...(secretFile !== undefined && { secretFile: absolute(secretFile) }) },
    operator: {
      ...file.operator,
      mediaDir: absolute(file.operator.mediaDir),
      ...(passwordFile !== undefined && { passwordFile: absolute(passwordFile) }),
    },
    ...(fleet !== undefined && {
      fleet: {
        ...fleet,
        keyFile: absolute(fleet.keyFile),
        acceptedKeyFiles: fleet.acceptedKeyFiles.map(absolute),
      },
    }),
    ...(enrolment !== undefined && {
      enrolment: {
        ...enrolment,
        identityDir: absolute(enrolment.identityDir),
        ...(enrolment.caFile !== undefined && { caFile: absolute(enrolment.caFile) }),
      },
    }),
    ...(cloud !== undefined && {
      cloud: {
        ...cloud,
        mqtt: { ...cloud.mqtt, ...(cloud.mqtt.caFile !== undefined && { caFile: absolute(cloud.mqtt.caFile) }) },
        ...(cloud.caFile !== undefined && { caFile: absolute(cloud.caFile) }),
        ...(cloud.release !== undefined && {
          release: {
            ...cloud.release,
            keyFile: absolute(cloud.release.keyFile),
            dir: absolute(cloud.release.dir),
          },
        }),
      },
    }),
    ...(time !== undefined && {
      time: { ...time, ...(time.caFile !== undefined && { caFile: absolute(time.caFile) }) },
    }),
    ...(tablet !== undefined && { tablet: { ...tablet, profileFile: absolute(tablet.profileFile) } }),
    maps: withoutPrototype(file.maps),
    stations: withoutPrototype(file.stations),
    tours: withoutPrototype(file.tours),
    evidenceFile: absolute(file.evidenceFile),
    stateDir: absolute(file.stateDir),
  };
}

/** Names come from requests too, and a plain object has inherited keys such as `constructor`. */
function withoutPrototype<T>(record: Record<string, T>): Record<string, T> {
  return Object.assign(Object.create(null) as Record<string, T>, record);
}
