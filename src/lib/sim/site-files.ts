import { createHash, randomBytes, randomInt, scrypt } from 'node:crypto';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { GwError } from '../error/index.ts';
import { replaceFile } from '../lifecycle/index.ts';
import { demoMap, dock, stations } from './chassis/floor/floor.ts';
import { CA_FILE } from './cloud/certificates.ts';
import type { CloudPlaces } from './cloud/model.ts';
import type { TopicTemplates } from './cloud/services/topics.ts';
import { parseObject } from './control/handle.ts';
import { makeFolder, readIfThere } from './files.ts';
import { DEFAULT_WLAN, makePackageFile } from './tablet/index.ts';

/** Files for setting up the simulated tablet. */
const TABLET_PROFILE_FILE = 'kiosk.yaml';
const PACKAGE_FILE = 'kiosk.apk';
const PROFILE_HEADER = '# Written by gw sim for its simulated tablet. A new run replaces it.';
/** Large enough for a visible transfer time. */
const PACKAGE_BYTES = 4_000_000;
const shell = { name: 'org.example.kiosk', versionCode: 12 } as const;

const COST = { N: 2 ** 15, r: 8, p: 1 } as const;
const HASH_BYTES = 32;
/** Letters and digits without characters that look alike. */
const LETTERS = 'abcdefghijkmnpqrstuvwxyz23456789';
const LENGTH = 12;

/** Key file of the heartbeat, relative to the site file. */
const HEARTBEAT_KEY_FILE = 'secrets/heartbeat';
const RUNS_FILE = 'neighbours.json';
const FORMAT = 'gw/sim-neighbours/1';
const KEY_BYTES = 32;
const KEY_TEXT = /^[0-9a-f]{64}$/i;
/** Boot counters per run; more restarts of one neighbour would overlap with the next run. */
const STARTS_PER_RUN = 2 ** 16;
const MAX_RUNS = 2 ** 16 - 1;

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
  readonly cloud: CloudFiles | null;
  /** ADB address and model of the tablet; null without one. */
  readonly tablet: { readonly host: string; readonly port: number; readonly model: string } | null;
  readonly password: boolean;
  /** Whether the evidence file contains the facts that orders rely on; without them, as for a new robot. */
  readonly evidence: boolean;
  /** The simulated neighbours; null: the site has no heartbeat. */
  readonly neighbours: { readonly serials: readonly string[]; readonly addresses: readonly string[] } | null;
  readonly when: Date;
}

/** What the site file contains of the cloud. */
interface CloudFiles {
  readonly places: CloudPlaces;
  /** Templates other than the defaults of a site file. */
  readonly topics: Partial<TopicTemplates>;
  /** Public key of releases, relative to the folder. */
  readonly releaseKeyFile: string | null;
}

export type SiteFiles = Awaited<ReturnType<typeof writeSiteFiles>>;

/** Limit of the site file. */
const MAX_ROBOTS = 1000;

/** First line of a generated site file; files without it are never replaced. */
const HEADER = '# Written by gw sim for a simulated robot. A new run replaces it.';

/** Facts that an order relies on, with how each was verified on the simulator. */
const verified: readonly (readonly [fact: string, how: string])[] = [
  ['vendor.move.request', 'the simulator accepts POST /chassis/moves with these fields and returns the id'],
  ['vendor.move.state', 'the simulator reports these states and fail_reason in GET /chassis/moves/<id>'],
  ['vendor.move.charge-target', 'the simulator docks on a charge order that carries the pose of its dock'],
  ['vendor.move.cancel', 'the simulator cancels its running move on this PATCH'],
  ['vendor.pose.request', 'the simulator accepts POST /chassis/pose and reports the pose that was sent'],
];

/**
 * Writes the site file of the simulated robot, its evidence and its secrets, and returns the site file, the file with
 * the clear password, null without one, and what the neighbours need. Throws FILE_UNWRITABLE.
 */
export async function writeSiteFiles(options: SiteFilesOptions) {
  const { dir, chassis, tablet } = options;
  const sitePath = join(dir, 'site.yaml');
  const evidencePath = join(dir, 'evidence.jsonl');
  const passwordPath = options.password ? join(dir, 'secrets', 'device-password.txt') : null;
  if (passwordPath !== null) {
    await makeFolder(join(dir, 'secrets'), 0o700);
    const password = generatePassword();
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
    name: 'Simulated robot',
    chassis: { host: chassis.host, port: chassis.port, serial: chassis.serial },
    operator: {
      port: options.operatorPort,
      ...(passwordPath !== null && { passwordFile: 'secrets/device-password' }),
      ...(options.voiceUrl !== null && { voice: { url: options.voiceUrl } }),
      ...(options.buildingUrl !== null && { building: { url: options.buildingUrl } }),
    },
    // Loopback only: a gateway on a desk must not broadcast on the local network.
    ...(options.neighbours !== null && {
      fleet: {
        keyFile: HEARTBEAT_KEY_FILE,
        robots: [chassis.serial, ...options.neighbours.serials].slice(0, MAX_ROBOTS),
        broadcast: false,
        unicast: options.neighbours.addresses,
      },
    }),
    ...(options.enrolmentUrl !== null && {
      enrolment: { url: options.enrolmentUrl, caFile: CA_FILE, identityDir: 'identity' },
    }),
    ...(options.cloud !== null && { cloud: cloudSection(options.cloud, options.enrolmentUrl !== null) }),
    ...(tablet !== null && {
      tablet: { host: tablet.host, adbPort: tablet.port, profileFile: TABLET_PROFILE_FILE },
    }),
    maps: { lobby: demoMap },
    stations,
    dock,
    // The acceptance checklists drive the tour `acceptance`.
    tours: { demo: { stations: Object.keys(stations) }, acceptance: { stations: ['B', 'A'] } },
    evidenceFile: 'evidence.jsonl',
    stateDir: 'state',
  };
  await replaceFile(sitePath, `${HEADER}\n${stringify(site)}`);
  return { sitePath, passwordPath, neighbourFiles };
}

/** Writes the package of a kiosk shell, which only a simulated tablet installs, and a profile that requires it. */
export async function writeTabletFiles({
  dir,
  model,
  operatorPort,
}: Pick<SiteFilesOptions, 'dir' | 'operatorPort'> & { readonly model: string }): Promise<void> {
  const file = makePackageFile({ ...shell, bytes: PACKAGE_BYTES });
  await replaceFile(join(dir, PACKAGE_FILE), file);
  const profile = {
    schema: 'gw/kiosk/1',
    name: 'Tablet of the simulated robot',
    tablet: { model },
    app: {
      name: shell.name,
      versionCode: shell.versionCode,
      file: PACKAGE_FILE,
      sha256: createHash('sha256').update(file).digest('hex'),
      activity: '.Main',
    },
    startPage: `http://127.0.0.1:${operatorPort}/`,
    deviceOwner: '.Admin',
    lockTask: true,
    stayAwake: true,
    screen: { brightness: 200, offAfterS: 1800, rotationDeg: 90 },
    sound: { mediaPercent: 40, touchSounds: false },
    hidePackages: ['com.android.chrome', 'com.android.email', 'com.android.vending'],
    network: { ssid: DEFAULT_WLAN.ssid, segment: DEFAULT_WLAN.segment },
  };
  await replaceFile(join(dir, TABLET_PROFILE_FILE), `${PROFILE_HEADER}\n${stringify(profile)}`);
}

function generatePassword(): string {
  return Array.from({ length: LENGTH }, () => LETTERS[randomInt(LETTERS.length)]).join('');
}

/** Hash of a device password for the operator server: one line in PHC form, base64 without padding. */
async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16);
  const hash = await new Promise<Buffer>((resolve, reject) => {
    scrypt(password, salt, HASH_BYTES, { ...COST, maxmem: 64 * 1024 * 1024 }, (error, key) =>
      error ? reject(error) : resolve(key),
    );
  });
  const text = (bytes: Buffer) => bytes.toString('base64').replaceAll('=', '');
  return `$scrypt$ln=15,r=${COST.r},p=${COST.p}$${text(salt)}$${text(hash)}`;
}

/**
 * Writes the key of the heartbeat and the number of runs with neighbours: a gateway that received an earlier run takes
 * lower boot counters for replays, so each run has a higher first one. An existing key is kept, so that a gateway with
 * that key still accepts them. Throws FILE_EXISTS, FILE_UNREADABLE, FILE_UNWRITABLE.
 */
async function writeNeighbourFiles(dir: string) {
  const runsPath = join(dir, RUNS_FILE);
  const runs = readRuns(await readIfThere(runsPath), runsPath);
  await makeFolder(join(dir, 'secrets'), 0o700);
  const keyPath = join(dir, HEARTBEAT_KEY_FILE);
  const kept = (await readIfThere(keyPath))?.trim() ?? '';
  const secret = KEY_TEXT.test(kept) ? Buffer.from(kept, 'hex') : randomBytes(KEY_BYTES);
  await replaceFile(keyPath, `${secret.toString('hex')}\n`, { mode: 0o600 });
  await replaceFile(runsPath, `${JSON.stringify({ format: FORMAT, runs: runs + 1 })}\n`);
  return { secret, firstBoot: runs * STARTS_PER_RUN + 1 };
}

function readRuns(text: string | undefined, path: string): number {
  if (text === undefined) return 0;
  const value = parseObject(text);
  const runs = value?.format === FORMAT ? value.runs : undefined;
  if (typeof runs === 'number' && Number.isSafeInteger(runs) && runs >= 0 && runs < MAX_RUNS) return runs;
  throw new GwError('FILE_EXISTS', `${path} contains no valid number of runs.`, {
    remedy:
      'Name another folder with --dir, or delete the file; a running gateway then takes the heartbeats for replays.',
  });
}

/** With enrolment, the CA file of the broker comes from the enrolment answer. */
function cloudSection({ places, topics, releaseKeyFile }: CloudFiles, isEnrolling: boolean) {
  const caFile = CA_FILE;
  const { mqtt, storageUrl, tunnel } = places;
  return {
    mqtt: { ...mqtt, ...(!isEnrolling && { caFile }) },
    storageUrl,
    tunnel: { ...tunnel, services: ['web'] },
    ...(Object.keys(topics).length > 0 && { topics }),
    // More often than the default, so that an outage of seconds shows.
    telemetryS: 1,
    ...(releaseKeyFile !== null && { release: { keyFile: releaseKeyFile } }),
    caFile,
  };
}

/** Refuses a folder with a site file that the simulator did not write. Throws FILE_EXISTS, FILE_UNREADABLE. */
export async function assertWrittenBySim(dir: string): Promise<void> {
  const sitePath = join(dir, 'site.yaml');
  const evidencePath = join(dir, 'evidence.jsonl');
  const site = await readIfThere(sitePath);
  const foreign =
    site === undefined
      ? (await readIfThere(evidencePath)) !== undefined && evidencePath
      : !site.startsWith(HEADER) && sitePath;
  if (foreign) {
    throw new GwError('FILE_EXISTS', `${foreign} was not written by gw sim and is not replaced.`, {
      remedy: 'Name another folder with --dir.',
    });
  }
}
