import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { nearest } from '../../document/index.ts';
import { endOfIdentity, identityFolderProblem, loadIdentity } from '../../enrolment/index.ts';
import { GwError } from '../../error/index.ts';
import { facts, findFact, loadEvidenceFile } from '../../evidence/index.ts';
import { keyName, readKeyRing } from '../../fleet/index.ts';
import { folderProblem } from '../../lifecycle/index.ts';
import { isAbsentCredential, readSecret, type Site } from '../../site/index.ts';
import { plural } from '../../text/index.ts';
import type { SiteCheck } from './site.result.ts';

type Finding = SiteCheck['findings'][number];
type Judged = Pick<Finding, 'verdict' | 'detail' | 'remedy'>;
/** An error that it throws is its finding. */
type Check = (site: Site, now: Date) => Promise<Judged>;

const ok = (detail: string): Judged => ({ verdict: 'ok', detail, remedy: null });
const wrong = (detail: string, remedy: string): Judged => ({ verdict: 'wrong', detail, remedy });
const open = (detail: string, remedy: string | null = null): Judged => ({ verdict: 'not-checked', detail, remedy });
const notApplicable = (detail: string): Judged => ({ verdict: 'not-applicable', detail, remedy: null });

/** In the order of the site file. Every file that it names is opened and read as the program that uses it would. */
const checks: readonly { readonly id: string; readonly title: string; readonly check: Check }[] = [
  { id: 'operator-password', title: 'device password', check: checkPassword },
  { id: 'chassis-secret', title: 'secret of the chassis', check: checkChassisSecret },
  { id: 'heartbeat-key', title: 'key of the heartbeat', check: checkHeartbeatKey },
  { id: 'identity', title: 'identity in the cloud', check: checkIdentity },
  { id: 'ca-files', title: 'CA certificates', check: checkCaFiles },
  { id: 'release-key', title: 'key of releases', check: checkReleaseKey },
  { id: 'kiosk-profile', title: 'profile of the tablet', check: checkProfile },
  { id: 'evidence-file', title: 'evidence file', check: checkEvidence },
  { id: 'require-verified', title: 'verifications that orders need', check: checkRequired },
  { id: 'orders', title: 'limits of orders', check: checkOrders },
  { id: 'state-folder', title: 'state folder', check: checkStateFolder },
  {
    id: 'media-folder',
    title: 'media folder',
    check: (site) => checkFolder(site.operator.mediaDir, 'operator.mediaDir'),
  },
];

/** What is found of the files, folders and settings of a site file; null: it is invalid, and nothing was looked at. */
export async function findingsOf(site: Site | null, now: Date): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const { id, title, check } of checks) {
    const judged = site === null ? open('the site file is invalid') : await check(site, now).catch(asFinding);
    findings.push({ id, title, ...judged });
  }
  return findings;
}

function asFinding(error: unknown): Judged {
  if (!(error instanceof GwError)) throw error;
  // Whether it is right shows once the service runs.
  return isAbsentCredential(error) ? open(error.message, error.remedy) : wrong(error.message, error.remedy);
}

/** A file that is missing is made by its own command, not by hand. */
function madeBy(remedy: string): (error: unknown) => never {
  return (error) => {
    const isMissing =
      error instanceof GwError &&
      (error.cause as NodeJS.ErrnoException | undefined)?.code === 'ENOENT' &&
      !isAbsentCredential(error);
    throw isMissing ? new GwError(error.code, error.message, { remedy, cause: error.cause }) : error;
  };
}

async function checkPassword({ operator: { passwordFile } }: Site): Promise<Judged> {
  if (passwordFile === undefined) return notApplicable('none is configured, so sign-in is unavailable');
  const remedy = 'Set the password: `gw operator password`.';
  const text = await readSecret(passwordFile, 'operator.passwordFile').catch(madeBy(remedy));
  const { parsePasswordHash } = await import('../../operator/index.ts');
  if (parsePasswordHash(text) === null) return wrong(`${passwordFile} holds no password hash`, remedy);
  return ok(`${passwordFile} holds its hash, readable for its owner only`);
}

async function checkChassisSecret({ chassis: { secretFile } }: Site): Promise<Judged> {
  if (secretFile === undefined) return notApplicable('none is configured, so none is sent');
  await readSecret(secretFile, 'chassis.secretFile');
  return ok(`${secretFile} is readable for its owner only`);
}

async function checkCaFiles({ enrolment, cloud, time }: Site): Promise<Judged> {
  const named = [
    ['enrolment.caFile', enrolment?.caFile],
    ['cloud.caFile', cloud?.caFile],
    ['cloud.mqtt.caFile', cloud?.mqtt.caFile],
    ['time.caFile', time?.caFile],
  ] as const;
  const files = named.filter(([, path]) => path !== undefined);
  if (files.length === 0) return notApplicable('none is named, so the CAs that this machine trusts are used');
  const { readSiteCa } = await import('../../net/path/index.ts');
  const found: string[] = [];
  for (const [key, path] of files) {
    const { certificates = [], notes = [] } = (await readSiteCa(path, key)) ?? {};
    found.push([`${key} ${path} (${plural(certificates.length, 'certificate')})`, ...notes].join('; '));
  }
  return ok(found.join(', '));
}

async function checkReleaseKey({ cloud }: Site): Promise<Judged> {
  if (cloud?.release === undefined) return notApplicable('none is configured, so no release is accepted');
  const { readReleaseKeys } = await import('../../cloud/index.ts');
  await readReleaseKeys(cloud.release.keyFile);
  return ok(`${cloud.release.keyFile} is an Ed25519 public key`);
}

async function checkProfile({ tablet }: Site): Promise<Judged> {
  if (tablet === undefined) return notApplicable('no tablet is configured');
  const { checkAppFile, loadKioskProfile } = await import('../../kiosk/index.ts');
  const { name, app } = await loadKioskProfile(tablet.profileFile, tablet.serial);
  const { file, sha256 } = app;
  if (file === undefined || sha256 === undefined) return ok(`${tablet.profileFile} (${name}), which installs no app`);
  await checkAppFile(file, sha256);
  return ok(`${tablet.profileFile} (${name}), with its package file`);
}

async function checkHeartbeatKey({ fleet }: Site): Promise<Judged> {
  if (fleet === undefined) return notApplicable('none is configured, so no heartbeat is sent or received');
  const { signing } = await readKeyRing(fleet).catch(
    madeBy('Copy the key of the other robots of this site to it; for the first one make it: `gw heartbeat key new`.'),
  );
  // A key has no date of its own, so its age is shown as that of its file here, and is not judged.
  const written = await stat(fleet.keyFile).then(
    ({ mtime }) => `; this file was last written on ${mtime.toISOString().slice(0, 10)}`,
    () => '',
  );
  return ok(`${fleet.keyFile} holds key ${keyName(signing)}, readable for its owner only${written}`);
}

async function checkIdentity({ enrolment, chassis }: Site, now: Date): Promise<Judged> {
  if (enrolment === undefined) {
    return notApplicable('no enrolment is configured, so this device has no identity in the cloud');
  }
  const { identityDir } = enrolment;
  const problem = await identityFolderProblem(identityDir);
  if (problem) return wrong(`${identityDir}: ${problem.text}`, problem.remedy);
  const identity = await loadIdentity(identityDir);
  if (identity === null) return open('this device is not enrolled yet', 'Enrol it once: `gw enrol`.');
  if (identity.serial !== chassis.serial) {
    const detail = `${identityDir} holds the identity of ${identity.serial}, not of ${chassis.serial}`;
    return wrong(detail, 'Find out first which of the two serial numbers this device has.');
  }
  const { status, detail, remedy } = endOfIdentity(identity, now);
  if (status !== 'ok')
    return wrong(`enrolled as ${identity.serial}. ${detail}`, remedy ?? 'Renew it: `gw enrol --renew`.');
  return ok(`enrolled as ${identity.serial}. ${detail}`);
}

async function checkEvidence({ evidenceFile, chassis }: Site): Promise<Judged> {
  const records = await loadEvidenceFile(evidenceFile);
  const unknown = records.find((record) => findFact(record.fact) === undefined);
  if (unknown) {
    const ids = facts.map(({ id }) => id);
    const guess = nearest(unknown.fact, ids);
    const remedy = guess === undefined ? 'List the ids with `gw evidence list`.' : `Did you mean ${guess}?`;
    return wrong(`${evidenceFile} has an entry for the unknown fact '${unknown.fact}'`, remedy);
  }
  if (records.length === 0) return notApplicable(`${evidenceFile} is empty: no fact was verified on this device yet`);
  const here = records.filter(({ serial }) => serial === chassis.serial).length;
  return ok(`${plural(records.length, 'record')}, ${here} of them for ${chassis.serial}`);
}

/** Which of the facts that orders rely on have an entry of this serial number; only the chassis reports its software. */
async function checkRequired({ motion, evidenceFile, chassis: { serial } }: Site): Promise<Judged> {
  if (!motion.requireVerified) {
    return notApplicable(
      'motion.requireVerified is not set: facts that are BELEGT (measured) on another device or version are sufficient for orders',
    );
  }
  const { factsOfOrder } = await import('../../motion/index.ts');
  const records = await loadEvidenceFile(evidenceFile).catch(() => []);
  const ids = [...new Set<string>(Object.values(factsOfOrder).flat())];
  const missing = ids.filter((id) => !records.some((record) => record.fact === id && record.serial === serial));
  return missing.length > 0
    ? open(
        `motion.requireVerified is set, and ${serial} has no entry for ${missing.join(', ')}: orders that rely on it are refused`,
        'Verify each and record it: `gw evidence record FACT --holds --how "…" --who "…"`.',
      )
    : open(
        `motion.requireVerified is set, and all ${ids.length} facts have an entry; \`gw chassis probe\` compares it with the current software`,
      );
}

async function checkStateFolder({ stateDir }: Site): Promise<Judged> {
  const problem = await folderProblem(stateDir).catch(() => null);
  return problem === null ? checkFolder(stateDir, 'stateDir') : wrong(`${stateDir}: ${problem.text}`, problem.remedy);
}

/** The limits of orders in one line; a required sign-in without a password is an error. */
async function checkOrders({ motion, operator }: Site): Promise<Judged> {
  const detail = [
    `a move is cancelled after ${motion.moveLimitS} s`,
    motion.unownedMove === 'cancel'
      ? 'a move from before the start is cancelled'
      : 'a move from before the start continues, and the gate stays closed until it ends',
    operator.tourNeedsSignIn ? 'tours and drives require sign-in' : 'tours and drives require no sign-in',
  ].join('; ');
  if (!operator.tourNeedsSignIn || operator.passwordFile !== undefined) return ok(detail);
  return wrong(
    `${detail}; but no device password is configured, so sign-in on a tablet is impossible`,
    'Set one with `gw operator password` and name its file as operator.passwordFile.',
  );
}

async function checkFolder(path: string, key: string): Promise<Judged> {
  const there = await stat(path).catch(() => undefined);
  if (there && !there.isDirectory()) return wrong(`${path} is not a folder`, `Name a folder in ${key}.`);
  const existing = there ? path : await firstExisting(path);
  try {
    await access(existing, constants.W_OK | constants.X_OK);
  } catch {
    return wrong(`this user may not write to ${existing}`, `Make ${existing} writable for the user that runs gw.`);
  }
  return ok(there ? `${path} is writable` : `${path} will be created when needed`);
}

async function firstExisting(path: string): Promise<string> {
  for (let folder = dirname(path); folder !== dirname(folder); folder = dirname(folder)) {
    if (await stat(folder).catch(() => undefined)) return folder;
  }
  return '/';
}
