import { join } from 'node:path';
import { stringify } from 'yaml';
import { GwError } from '../error/index.ts';
import { replaceFile } from '../lifecycle/index.ts';
import { dock, stations } from './chassis/floor/floor.ts';
import type { CloudPlaces } from './cloud/cloud.ts';
import { ENROLMENT_CA_FILE } from './cloud/enrolment-files.ts';
import { makeFolder, readIfThere } from './files.ts';
import { HEARTBEAT_KEY_FILE, type NeighbourFiles, writeNeighbourFiles } from './fleet/neighbour-files.ts';
import { hashPassword, inventPassword } from './password.ts';
import { TABLET_PROFILE_FILE, writeTabletFiles } from './tablet/files.ts';

export interface SiteFilesOptions {
  readonly dir: string;
  readonly chassis: {
    readonly host: string;
    readonly port: number;
    readonly serial: string;
    readonly software: string;
  };
  readonly operatorPort: number;
  readonly voiceUrl: string | null;
  readonly buildingUrl: string | null;
  readonly enrolmentUrl: string | null;
  readonly cloudPlaces: CloudPlaces | null;
  /** Where the tablet is debugged, and what it says of itself; null without one. */
  readonly tablet: { readonly host: string; readonly port: number; readonly model: string } | null;
  readonly password: boolean;
  /** Whether the facts that orders rely on stand as verified; without, the robot is as new to its site. */
  readonly evidence: boolean;
  /** The simulated robots beside this one; null: the site has no heartbeat. */
  readonly neighbours: { readonly serials: readonly string[]; readonly addresses: readonly string[] } | null;
  readonly when: Date;
}

export interface SiteFiles {
  readonly sitePath: string;
  readonly evidencePath: string;
  /** The clear password, for people who try it; null without one. */
  readonly passwordPath: string | null;
  readonly neighbourFiles: NeighbourFiles | null;
}

/** Of the site file. */
const MOST_ROBOTS = 1000;

/** A device that can be enrolled gets the certificates for the broker that way. */
function cloudSection({ mqtt, storageUrl, tunnel }: CloudPlaces, isEnrolling: boolean) {
  const caFile = ENROLMENT_CA_FILE;
  return { mqtt: { ...mqtt, ...(!isEnrolling && { caFile }) }, storageUrl, tunnel, caFile };
}

/** The first line of what we wrote, so that a site file of a person is never replaced. */
const HEADER = '# Written by gw sim for a simulated robot. A new run replaces it.';

/** Facts that an order relies on, with how the simulator shows each. */
const verified: readonly (readonly [fact: string, how: string])[] = [
  ['vendor.move.request', 'the simulator takes POST /chassis/moves with these fields and answers with the id'],
  ['vendor.move.state', 'the simulator reports these states and fail_reason by GET /chassis/moves/<id>'],
  ['vendor.move.charge-target', 'the simulator docks on a charge order that carries the pose of its dock'],
  ['vendor.move.cancel', 'the simulator cancels its running move on this PATCH'],
  ['vendor.pose.request', 'the simulator takes POST /chassis/pose and reports the pose that was sent'],
];

/** Refuses a folder in which somebody else's site file lies. Throws FILE_EXISTS. */
export async function assertOurs(dir: string): Promise<void> {
  const sitePath = join(dir, 'site.yaml');
  const evidencePath = join(dir, 'evidence.jsonl');
  const site = await readIfThere(sitePath);
  const foreign =
    site === undefined
      ? (await readIfThere(evidencePath)) !== undefined && evidencePath
      : !site.startsWith(HEADER) && sitePath;
  if (foreign) {
    throw new GwError('FILE_EXISTS', `${foreign} was not written by the simulator, so it stays as it is.`, {
      remedy: 'Name another folder with --dir.',
    });
  }
}

/** Writes a site file for the simulated robot, with its evidence and its secrets. Throws FILE_UNWRITABLE. */
export async function writeSiteFiles(options: SiteFilesOptions): Promise<SiteFiles> {
  const { dir, chassis, tablet } = options;
  const sitePath = join(dir, 'site.yaml');
  const evidencePath = join(dir, 'evidence.jsonl');
  const passwordPath = options.password ? join(dir, 'secrets', 'device-password.txt') : null;
  if (passwordPath !== null) {
    await makeFolder(join(dir, 'secrets'), 0o700);
    const password = inventPassword();
    await replaceFile(join(dir, 'secrets', 'device-password'), `${await hashPassword(password)}\n`, { mode: 0o600 });
    await replaceFile(passwordPath, `${password}\n`, { mode: 0o600 });
  }
  if (tablet !== null) await writeTabletFiles({ dir, model: tablet.model, operatorPort: options.operatorPort });
  const neighbourFiles = options.neighbours !== null ? await writeNeighbourFiles(dir) : null;
  const records = (options.evidence ? verified : []).map(([fact, how]) => ({
    fact,
    value: true,
    serial: chassis.serial,
    software: chassis.software,
    how: `Simulator, no real robot: ${how}.`,
    who: 'gw sim',
    when: options.when.toISOString(),
    simulated: true,
  }));
  await replaceFile(evidencePath, records.map((record) => `${JSON.stringify(record)}\n`).join(''));
  const site = {
    name: 'Robot in a box',
    chassis: { host: chassis.host, port: chassis.port, serial: chassis.serial },
    operator: {
      port: options.operatorPort,
      ...(passwordPath !== null && { passwordFile: 'secrets/device-password' }),
      ...(options.voiceUrl !== null && { voice: { url: options.voiceUrl } }),
      ...(options.buildingUrl !== null && { building: { url: options.buildingUrl } }),
    },
    // To the loopback alone: whoever tries a gateway at a desk must not broadcast on the network there.
    ...(options.neighbours !== null && {
      fleet: {
        keyFile: HEARTBEAT_KEY_FILE,
        robots: [chassis.serial, ...options.neighbours.serials].slice(0, MOST_ROBOTS),
        broadcast: false,
        unicast: options.neighbours.addresses,
      },
    }),
    ...(options.enrolmentUrl !== null && {
      enrolment: { url: options.enrolmentUrl, caFile: ENROLMENT_CA_FILE, identityDir: 'identity' },
    }),
    ...(options.cloudPlaces !== null && { cloud: cloudSection(options.cloudPlaces, options.enrolmentUrl !== null) }),
    ...(tablet !== null && {
      tablet: { host: tablet.host, adbPort: tablet.port, profileFile: TABLET_PROFILE_FILE },
    }),
    stations,
    dock,
    // `acceptance` is the tour that the lists for a site drive.
    tours: { demo: { stations: Object.keys(stations) }, acceptance: { stations: ['B', 'A'] } },
    evidenceFile: 'evidence.jsonl',
    stateDir: 'state',
  };
  await replaceFile(sitePath, `${HEADER}\n${stringify(site)}`);
  return { sitePath, evidencePath, passwordPath, neighbourFiles };
}
