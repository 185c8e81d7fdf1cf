import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { GwError, systemReason } from '../../error/index.ts';
import { quoted } from '../../text/index.ts';
import { tabletCommand } from '../adb/command.ts';
import { type PackageList, parseDigest, parseFreeBytes, parsePackages } from '../adb/command-output.ts';
import { UNREADABLE_REMEDY } from '../adb/sync-send.ts';
import { commandRefused, type Tablet } from '../adb/tablet.ts';
import type { KioskProfile } from '../profile.ts';
import { notReported } from './setting-steps.ts';
import type { CheckResult, Step, StepContext } from './step.ts';

/** Minimum free space beside the package and its copy. Project decision. */
const MIN_SPARE_BYTES = 64 * 1024 * 1024;
const INSTALL_TIMEOUT_MS = 10 * 60_000;
const DIGEST_TIMEOUT_MS = 5 * 60_000;

/** The kiosk shell is installed in the version of the profile. */
export function packageStep({ app }: KioskProfile): Step {
  const { name, versionCode, file, sha256 } = app;
  return {
    id: 'package',
    title: `Package ${name}`,
    expected: `version code ${versionCode}`,
    remedy:
      file === undefined
        ? 'Add app.file and app.sha256 to the profile, or install the package by hand.'
        : 'Compare app.name and app.versionCode of the profile with the package file.',
    async check({ tablet }) {
      const list = await readPackages(tablet);
      const found = list.packages.get(name);
      if (found === null || (found === undefined && !isWhole(list))) return packagesNotReported(list);
      if (found === undefined) return { verdict: 'differs', found: 'not installed' };
      return { verdict: found === versionCode ? 'ok' : 'differs', found: `version code ${found}` };
    },
    ...(file !== undefined && sha256 !== undefined && { apply: (context) => install(context, name, file, sha256) }),
  };
}

export async function readPackages(tablet: Tablet): Promise<PackageList> {
  return parsePackages(await tablet.read(tabletCommand`pm list packages --user ${0} --show-versioncode`));
}

/** Whether a package that is not in the list is not installed; every Android has packages. */
export const isWhole = ({ packages, unread }: PackageList) => packages.size > 0 && unread === null;

export function packagesNotReported({ unread }: PackageList): CheckResult {
  if (unread === null) return notReported('its packages');
  return { verdict: 'not-checked', found: `no package in a line of its list of packages: ${quoted(unread)}` };
}

async function install(context: StepContext, name: string, file: string, sha256: string): Promise<void> {
  const { tablet, onProgress } = context;
  const bytes = await checkAppFile(file, sha256);
  const target = `/data/local/tmp/gw-${sha256.slice(0, 16)}.apk`;
  // A transfer that completed before the connection was lost is not repeated.
  if ((await digestOnTablet(context, target)) !== sha256) {
    await checkSpace(context, bytes);
    await tablet.push(file, target, progressOf(bytes, onProgress));
    const received = await digestOnTablet(context, target);
    if (received !== sha256) {
      await tablet.run(tabletCommand`rm -f ${target}`);
      throw new GwError('TABLET_LOST', 'The SHA-256 of the package differs after the transfer.');
    }
  }
  onProgress(`Installing ${name}`);
  const command = tabletCommand`pm install -r --user ${0} ${target}`;
  const { stdout, stderr, exitCode } = await tablet.run(command, { timeoutMs: INSTALL_TIMEOUT_MS });
  await tablet.run(tabletCommand`rm -f ${target}`);
  if (!/^Success\b/m.test(stdout)) throw installRefused(`${stdout}\n${stderr}`, exitCode);
}

/** Remedies for common failure codes of `pm install`. */
const installRemedies: Readonly<Record<string, string>> = {
  INSTALL_FAILED_UPDATE_INCOMPATIBLE: 'Remove the installed package of the same name first: it has another signature.',
  INSTALL_FAILED_VERSION_DOWNGRADE: 'Remove the newer version from the tablet, or use a newer package and profile.',
  INSTALL_FAILED_OLDER_SDK: 'Use a package for the Android version of this tablet.',
  INSTALL_FAILED_NO_MATCHING_ABIS: 'Use a package for the processor of this tablet.',
  INSTALL_PARSE_FAILED_NOT_APK: 'Get the file from its vendor again: it is not an Android package.',
  INSTALL_PARSE_FAILED_NO_CERTIFICATES: 'Get the package from its vendor again: it is not signed.',
  INSTALL_FAILED_VERIFICATION_FAILURE: 'Allow the package in the verification prompt on the tablet.',
};

function installRefused(output: string, exitCode: number): GwError {
  const reason = /\b(INSTALL_[A-Z_]+)/.exec(output)?.[1];
  if (reason === 'INSTALL_FAILED_INSUFFICIENT_STORAGE') {
    return new GwError('TABLET_NO_SPACE', 'Not enough free space on the tablet to install the package.');
  }
  const error = commandRefused('pm install', output, exitCode);
  const remedy = reason === undefined ? undefined : installRemedies[reason];
  return new GwError(error.code, error.message, { remedy, details: { ...error.details, reason: reason ?? null } });
}

/** The size of the package file in bytes. Throws KIOSK_PACKAGE_DIFFERS, FILE_UNREADABLE. */
export async function checkAppFile(file: string, sha256: string): Promise<number> {
  try {
    const stats = await stat(file);
    // A pipe would be waited for.
    if (!stats.isFile()) throw Object.assign(new Error('not a file'), { code: 'it is not a regular file' });
    const hash = createHash('sha256');
    for await (const chunk of createReadStream(file, { highWaterMark: 1024 * 1024 })) hash.update(chunk as Buffer);
    const found = hash.digest('hex');
    if (found === sha256) return stats.size;
    throw new GwError('KIOSK_PACKAGE_DIFFERS', `${file} has the SHA-256 ${found}; the profile requires ${sha256}.`, {
      details: { expected: sha256, found },
    });
  } catch (cause) {
    if (cause instanceof GwError) throw cause;
    const { code } = cause as NodeJS.ErrnoException;
    throw new GwError('FILE_UNREADABLE', `The package file ${file} cannot be read (${systemReason({ code })}).`, {
      remedy: UNREADABLE_REMEDY,
      cause,
    });
  }
}

async function checkSpace({ tablet }: StepContext, bytes: number): Promise<void> {
  const free = parseFreeBytes(await tablet.read(tabletCommand`df -k ${'/data'}`));
  const needed = 2 * bytes + MIN_SPARE_BYTES;
  // Without a reported value the installation itself reports missing space.
  if (free === null || free >= needed) return;
  throw new GwError(
    'TABLET_NO_SPACE',
    `The tablet has ${megabytes(free)} free; the package and its copy need ${megabytes(needed)}.`,
    { details: { freeBytes: free, neededBytes: needed } },
  );
}

async function digestOnTablet({ tablet }: StepContext, target: string): Promise<string | null> {
  const { stdout, exitCode } = await tablet.run(tabletCommand`sha256sum ${target}`, { timeoutMs: DIGEST_TIMEOUT_MS });
  return exitCode === 0 ? parseDigest(stdout) : null;
}

/** Reports every whole percent once. */
function progressOf(bytes: number, onProgress: (text: string) => void): (sent: number) => void {
  let reported = -1;
  return (sent) => {
    const percent = bytes === 0 ? 100 : Math.floor((sent / bytes) * 100);
    if (percent === reported) return;
    reported = percent;
    onProgress(`Sending the package: ${megabytes(sent)} of ${megabytes(bytes)} (${percent} %)`);
  };
}

function megabytes(bytes: number): string {
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}
