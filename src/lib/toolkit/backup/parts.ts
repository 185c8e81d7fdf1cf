import { attachmentFolder } from '../../evidence/index.ts';
import { quote } from '../../json/index.ts';
import { isCredential, type Site } from '../../site/index.ts';
import { formerHashesPath } from '../site/password-id.ts';
import { placeOf } from './manifest.ts';

/**
 * secret: encrypted or left out. media: only where a person asks for it. state: by `stateKinds`. not: of the machine, or
 * brought anew by the cloud.
 */
type Treatment = 'clear' | 'secret' | 'media' | 'state' | 'not';

interface Kind {
  readonly treat: Treatment;
  readonly is: 'file' | 'folder';
  readonly holds: string;
  /** A gateway in order may be without it. */
  readonly mayBeAbsent?: true;
  /** What a person does where a gateway has lost it. */
  readonly anew: string;
}

const COPY_AGAIN = 'Copy it again from where it came from.';
const HEARTBEAT =
  'Copy the heartbeat key from another robot of the site (`gw heartbeat key new` makes one for all of them).';

/** Every key of the site file that names a file or a folder. Project decision. */
export const fileKeys: Readonly<Record<string, Kind>> = {
  'chassis.secretFile': { treat: 'secret', is: 'file', holds: 'Secret header of the chassis', anew: COPY_AGAIN },
  'operator.passwordFile': {
    ...{ treat: 'secret', is: 'file', holds: 'hash of the device password', mayBeAbsent: true },
    anew: 'Set a device password with `gw operator password`.',
  },
  'operator.mediaDir': {
    ...{ treat: 'media', is: 'folder', holds: 'media', mayBeAbsent: true },
    anew: 'Upload the media again.',
  },
  'fleet.keyFile': { treat: 'secret', is: 'file', holds: 'heartbeat key', anew: HEARTBEAT },
  'fleet.acceptedKeyFiles': { treat: 'secret', is: 'file', holds: 'accepted heartbeat key', anew: HEARTBEAT },
  'enrolment.caFile': { treat: 'clear', is: 'file', holds: 'CA of the enrolment', anew: COPY_AGAIN },
  'enrolment.identityDir': {
    ...{ treat: 'secret', is: 'folder', holds: 'identity', mayBeAbsent: true },
    anew: 'Enrol this device anew with `gw enrol --renew` and a new one-time code.',
  },
  'cloud.mqtt.caFile': { treat: 'clear', is: 'file', holds: 'CA of the broker', anew: COPY_AGAIN },
  'cloud.caFile': { treat: 'clear', is: 'file', holds: 'CA of the cloud', anew: COPY_AGAIN },
  'time.caFile': { treat: 'clear', is: 'file', holds: 'CA of the time endpoints', anew: COPY_AGAIN },
  'cloud.release.keyFile': { treat: 'clear', is: 'file', holds: 'public key of releases', anew: COPY_AGAIN },
  'cloud.release.dir': { treat: 'not', is: 'folder', holds: 'releases', anew: 'Install gw on the machine.' },
  'tablet.profileFile': {
    ...{ treat: 'clear', is: 'file', holds: 'kiosk profile', mayBeAbsent: true },
    anew: 'Write the kiosk profile again.',
  },
  'checklists.programs': { treat: 'not', is: 'file', holds: 'programs of this machine', anew: 'Install the program.' },
  evidenceFile: {
    ...{ treat: 'clear', is: 'file', holds: 'evidence', mayBeAbsent: true },
    anew: 'Verify the facts again with `gw evidence verify`.',
  },
  stateDir: {
    ...{ treat: 'state', is: 'folder', holds: 'state', mayBeAbsent: true },
    anew: 'See `gw doctor` for what the gateway begins anew.',
  },
};

/** How each entry of `stateDir` is kept. The socket for local commands is of the running process. Project decision. */
export const stateKinds: Readonly<Record<string, 'clear' | 'secret' | 'not'>> = {
  ...{ cloud: 'clear', 'cloud-faults.json': 'clear', 'cloud-link.json': 'clear', 'cloud-seen.json': 'clear' },
  ...{ 'cloud-shadow.json': 'clear', 'failed-drive.json': 'clear', incidents: 'clear', support: 'clear' },
  deliveries: 'clear',
  ...{ 'pose-alarm.json': 'clear', 'stop-latch.json': 'clear', 'checklist-runs': 'clear', 'map-backups': 'clear' },
  ...{ records: 'clear', 'heartbeat-boots.json': 'clear', 'heartbeat-received.json': 'clear', local: 'not' },
  // The key by which the tablet knows this gateway.
  ...{ adb: 'secret', 'tablet.json': 'clear', 'robot.json': 'clear', robots: 'clear' },
  ...{ 'replacement-chassis.json': 'clear', 'replacement-gateway.json': 'clear', 'replacement-tablet.json': 'clear' },
};

/** A file or a folder that the site file names. */
export interface Source extends Kind {
  readonly key: string;
  readonly path: string;
}

/** The named files and folders of a loaded site; credentials of systemd are made by it when the service starts. */
export function sourcesOf(site: Site): Source[] {
  const sources = Object.entries(fileKeys).flatMap(([key, kind]) =>
    valuesAt(site, key).map((path): Source => {
      const isLeft = kind.treat === 'secret' && isCredential(path);
      return { ...kind, key, path, ...(isLeft && { anew: 'Name its source in the unit (LoadCredential=).' }) };
    }),
  );
  const trials: Source = {
    ...{ key: 'evidenceFile', treat: 'clear', is: 'folder', holds: 'reports of trials', mayBeAbsent: true },
    ...{ path: attachmentFolder(site.evidenceFile), anew: 'Repeat the trials with `gw evidence verify`.' },
  };
  const { passwordFile } = site.operator;
  if (passwordFile === undefined || isCredential(passwordFile)) return [...sources, trials];
  const former: Source = {
    ...{ key: 'operator.passwordFile', treat: 'secret', is: 'file', holds: 'hashes of former device passwords' },
    ...{ mayBeAbsent: true, path: formerHashesPath(passwordFile) },
    anew: 'Nothing: whether a password is a new one is then not checked.',
  };
  return [...sources, trials, former];
}

function valuesAt(site: Site, key: string): string[] {
  let at: unknown = site;
  for (const part of key.split('.')) at = (at as Readonly<Record<string, unknown>> | undefined)?.[part];
  return (Array.isArray(at) ? at : [at]).filter((value) => typeof value === 'string');
}

/** Files of an archive that the site file in it does not name: gw makes no such archive. */
export function strangersOf(
  site: Site,
  files: readonly { readonly path: string }[],
  secrets: readonly { readonly path: string }[],
): string[] {
  const sources = sourcesOf(site);
  const belongs = (path: string, isSecret: boolean) => {
    const to = placeOf(site.dir, path);
    if (!isSecret && (to === site.path || isOwnChecklist(path))) return true;
    return sources.some((source) => isOf(source, to, isSecret));
  };
  return [
    ...files.filter(({ path }) => !belongs(path, false)),
    ...secrets.filter(({ path }) => !belongs(path, true)),
  ].map(({ path }) => `${quote(path)} is named by no key of its site file`);
}

const isOwnChecklist = (path: string) => /^(?:checklists\/)?[^/]+\.ya?ml$/.test(path);

function isOf({ treat, is, path }: Source, to: string, isSecret: boolean): boolean {
  if (treat === 'not') return false;
  if (is === 'file') return to === path && isSecret === (treat === 'secret');
  if (!to.startsWith(`${path}/`)) return false;
  if (treat !== 'state') return isSecret === (treat === 'secret');
  const [name = ''] = to.slice(path.length + 1).split('/');
  return stateKinds[name.replace(/~\d+$/, '')] === (isSecret ? 'secret' : 'clear');
}
