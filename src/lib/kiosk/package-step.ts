import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { GwError } from '../error/index.ts';
import { readDigest, readFreeBytes, readPackages } from './answers.ts';
import { tabletCommand } from './command.ts';
import type { KioskProfile } from './profile.ts';
import { notTold } from './setting-steps.ts';
import type { Step, StepScene } from './step.ts';
import { refused } from './tablet.ts';

/** What must stay free beside the package and its copy, in bytes. Decision of ours. */
const SPARE_BYTES = 64 * 1024 * 1024;
const INSTALL_MS = 10 * 60_000;
const DIGEST_MS = 5 * 60_000;

/** The kiosk shell is installed in the version that the profile names. */
export function packageStep({ app }: KioskProfile): Step {
  const { name, versionCode, file, sha256 } = app;
  return {
    id: 'package',
    title: `Package ${name}`,
    expected: `version code ${versionCode}`,
    remedy:
      file === undefined
        ? 'The profile names no package file: write app.file and app.sha256 into it, or install the package by hand.'
        : 'Compare app.name and app.versionCode of the profile with what the package file holds.',
    async check({ tablet }) {
      const packages = readPackages(await tablet.read(tabletCommand`pm list packages --user ${0} --show-versioncode`));
      const found = packages.get(name);
      if (packages.size === 0 || found === null) return notTold('its packages');
      if (found === undefined) return { verdict: 'differs', found: 'not installed' };
      return { verdict: found === versionCode ? 'ok' : 'differs', found: `version code ${found}` };
    },
    ...(file !== undefined && sha256 !== undefined && { apply: (scene) => install(scene, name, file, sha256) }),
  };
}

async function install(scene: StepScene, name: string, file: string, sha256: string): Promise<void> {
  const { tablet, onProgress } = scene;
  const bytes = await checkFile(file, sha256);
  const target = `/data/local/tmp/gw-${sha256.slice(0, 16)}.apk`;
  // A transfer that came to its end before a cut need not be done again.
  if ((await digestOnTablet(scene, target)) !== sha256) {
    await checkSpace(scene, bytes);
    await tablet.push(file, target, progressOf(bytes, onProgress));
    const arrived = await digestOnTablet(scene, target);
    if (arrived !== sha256) {
      await tablet.run(tabletCommand`rm -f ${target}`);
      throw new GwError('TABLET_LOST', 'The package did not arrive as it was sent.');
    }
  }
  onProgress(`The tablet installs ${name}`);
  const command = tabletCommand`pm install -r --user ${0} ${target}`;
  const { stdout, stderr, exitCode } = await tablet.run(command, { timeoutMs: INSTALL_MS });
  await tablet.run(tabletCommand`rm -f ${target}`);
  if (!/^Success\b/m.test(stdout)) throw installRefused(`${stdout}\n${stderr}`, exitCode);
}

/** The reasons that a technician meets, in words; the others travel as Android says them. */
const installRemedies: Readonly<Record<string, string>> = {
  INSTALL_FAILED_UPDATE_INCOMPATIBLE:
    'Another package of this name, signed by somebody else, is on the tablet: remove that one first.',
  INSTALL_FAILED_VERSION_DOWNGRADE: 'A newer version is on the tablet: take a newer package and profile, or remove it.',
  INSTALL_FAILED_OLDER_SDK: 'The package needs a newer Android than this tablet has.',
  INSTALL_FAILED_NO_MATCHING_ABIS: 'The package is not made for the processor of this tablet.',
  INSTALL_PARSE_FAILED_NOT_APK: 'The file is no package: take it from its maker again.',
  INSTALL_PARSE_FAILED_NO_CERTIFICATES: 'The package is not signed: take it from its maker again.',
  INSTALL_FAILED_VERIFICATION_FAILURE: 'The tablet asks whether to check the package: look at it and allow it.',
};

function installRefused(said: string, exitCode: number): GwError {
  const reason = /\b(INSTALL_[A-Z_]+)/.exec(said)?.[1];
  if (reason === 'INSTALL_FAILED_INSUFFICIENT_STORAGE') {
    return new GwError('TABLET_NO_SPACE', 'The tablet has no room to install the package.');
  }
  const error = refused('pm install', said, exitCode);
  const remedy = reason === undefined ? undefined : installRemedies[reason];
  return new GwError(error.code, error.message, { remedy, details: { ...error.details, reason: reason ?? null } });
}

/** The size of the package file in bytes. Throws KIOSK_PACKAGE_DIFFERS, FILE_UNWRITABLE. */
async function checkFile(file: string, sha256: string): Promise<number> {
  try {
    const { size } = await stat(file);
    const hash = createHash('sha256');
    for await (const piece of createReadStream(file, { highWaterMark: 1024 * 1024 })) hash.update(piece as Buffer);
    const found = hash.digest('hex');
    if (found === sha256) return size;
    throw new GwError('KIOSK_PACKAGE_DIFFERS', `${file} has the SHA-256 ${found}, the profile names ${sha256}.`, {
      details: { expected: sha256, found },
    });
  } catch (cause) {
    if (cause instanceof GwError) throw cause;
    const { code } = cause as NodeJS.ErrnoException;
    throw new GwError('FILE_UNWRITABLE', `The package file ${file} cannot be read (${code ?? 'unknown reason'}).`, {
      remedy: 'Put the file where app.file of the kiosk profile says.',
      cause,
    });
  }
}

async function checkSpace({ tablet }: StepScene, bytes: number): Promise<void> {
  const free = readFreeBytes(await tablet.read(tabletCommand`df -k ${'/data'}`));
  const needed = 2 * bytes + SPARE_BYTES;
  // A tablet that does not tell its room says so itself when there is none.
  if (free === null || free >= needed) return;
  throw new GwError(
    'TABLET_NO_SPACE',
    `The tablet has ${megabytes(free)} free; ${megabytes(needed)} are needed for the package and its copy.`,
    { details: { freeBytes: free, neededBytes: needed } },
  );
}

async function digestOnTablet({ tablet }: StepScene, target: string): Promise<string | null> {
  const { stdout, exitCode } = await tablet.run(tabletCommand`sha256sum ${target}`, { timeoutMs: DIGEST_MS });
  return exitCode === 0 ? readDigest(stdout) : null;
}

/** Tells every whole percent once. */
function progressOf(bytes: number, onProgress: (text: string) => void): (sent: number) => void {
  let told = -1;
  return (sent) => {
    const percent = bytes === 0 ? 100 : Math.floor((sent / bytes) * 100);
    if (percent === told) return;
    told = percent;
    onProgress(`The package goes to the tablet: ${megabytes(sent)} of ${megabytes(bytes)} (${percent} %)`);
  };
}

function megabytes(bytes: number): string {
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}
