import { isThere, keyFingerprint, readReleaseFolder, readReleaseKeys } from '../../cloud/index.ts';
import { asGwError, GwError } from '../../error/index.ts';
import { privateFolderProblem } from '../../lifecycle/index.ts';
import type { Line } from '../finding.result.ts';
import { notApplicable, notChecked, ok, wrong } from '../finding.ts';
import type { Toolkit } from '../toolkit.ts';
import { conclude } from '../verdict.ts';
import { releaseOf } from './key.ts';
import type { ReleaseStatus } from './release.result.ts';

type Folder = Awaited<ReturnType<typeof readReleaseFolder>>;

/**
 * The release folder of this gateway, read and verified without the running gateway. A broken folder is a result, not an
 * error. Throws SITE_FILE_INVALID without `cloud.release` in the site file.
 */
export async function readReleaseStatus({ site }: Pick<Toolkit, 'site'>): Promise<ReleaseStatus> {
  const { dir, keyFile } = releaseOf(site);
  const findings: Line[] = [];
  const access = { id: 'folder', title: 'The release folder is private to this user', spec: null };
  const problem = await privateFolderProblem(dir);
  // Without a folder there is no problem, and nothing that could be private.
  if (problem === null)
    findings.push((await isThere(dir)) ? ok(access, dir) : notApplicable(access, `${dir}: no such folder yet`));
  else findings.push(wrong(access, `${dir}: ${problem.text}`, problem.remedy));
  let folder: Folder | null = null;
  let fingerprints: readonly string[] = [];
  const key = { id: 'key', title: 'The release key is readable', spec: null };
  const state = { id: 'state', title: 'The release folder is readable', spec: null };
  try {
    const keys = await readReleaseKeys(keyFile);
    fingerprints = keys.map(keyFingerprint);
    findings.push(ok(key, `${keyFile}, SHA-256 ${fingerprints.join(' and ')}`));
    try {
      folder = await readReleaseFolder(dir, keys);
    } catch (error) {
      const { message, remedy } = asGwError(error);
      findings.push(wrong(state, message, remedy));
    }
  } catch (error) {
    if (!(error instanceof GwError)) throw error;
    findings.push(wrong(key, error.message, error.remedy));
    findings.push(notChecked(state, 'not read without the release key'));
  }
  if (folder !== null) findings.push(...keyChange(folder, fingerprints), ...findingsOf(folder));
  const onSite = folder?.onSite ?? null;
  return {
    verdict: conclude(findings),
    dir,
    current: folder?.current ?? null,
    previous: folder?.previous ?? null,
    installed: folder?.installed ?? [],
    keys: fingerprints,
    run: folder?.run ?? null,
    onSite: onSite && { at: onSite.at, fromVersion: onSite.from.version, toVersion: onSite.to.version },
    findings,
  };
}

/** While two keys hold, which of them an installed version still needs. */
function keyChange({ installed }: Folder, fingerprints: readonly string[]): Line[] {
  if (fingerprints.length < 2) return [];
  const start = { id: 'key-change', title: 'The release key is being changed', spec: null };
  const texts = fingerprints.map((fingerprint) => {
    const versions = installed.filter(({ signedBy }) => signedBy === fingerprint).map(({ folder }) => folder);
    return `${fingerprint.slice(0, 11)}… ${versions.length === 0 ? 'signed none of the installed versions' : `signed ${versions.join(', ')}`}`;
  });
  return [ok(start, `both keys are accepted: ${texts.join('; ')}`)];
}

function findingsOf({ current, previous, run }: Folder): Line[] {
  const findings: Line[] = [];
  const files = { id: 'current', title: 'The current version is complete', spec: null };
  if (current.folder === null) {
    findings.push(notApplicable(files, 'the base installation, which dpkg or npm installed and no release key signs'));
  } else if (current.problem === null) {
    findings.push(ok(files, `${current.folder}: signature and every file verified`));
  } else {
    findings.push(
      wrong(files, current.problem, 'Go back: gw release rollback --yes, or install it again by a release.'),
    );
  }
  const back = { id: 'previous', title: 'A rollback is possible', spec: null };
  if (run !== null && isRollbackRefused(run)) {
    findings.push(notChecked(back, `not while release ${run.toVersion} is in progress (${run.phase})`));
  } else if (previous === null) findings.push(notApplicable(back, 'no version before the current one'));
  else if (previous.problem !== null) {
    findings.push(
      wrong(back, previous.problem, 'Only the base installation can be restored: gw release rollback --base'),
    );
  } else if (previous.folder === null) {
    findings.push(notChecked(back, 'to the base installation, whose files are not verified'));
  } else findings.push(ok(back, `to ${previous.version}: signature and every file verified`));
  if (run !== null) findings.push(runFinding(run), reportFinding(run));
  return findings;
}

function isRollbackRefused({ phase }: NonNullable<Folder['run']>): boolean {
  return !['switched', 'confirmed', 'rolled-back', 'rejected'].includes(phase);
}

/** What a phase waits for; how far it is only the running gateway knows. */
const waits = {
  downloading: 'the package is downloaded and verified',
  unpacking: 'the package is unpacked',
  ready: 'the new version is installed; the switch waits until the robot stands and the cloud has acknowledged it',
  switched: 'the new version was switched to and is not confirmed yet: its start and its health are awaited',
  'rolling-back': 'the version before is being restored, and waits for a restart of gw',
} as const;

function runFinding({ phase, fromVersion, toVersion, jobId, detail, starts }: NonNullable<Folder['run']>): Line {
  const start = { id: 'run', title: 'The last release was installed', spec: null };
  const what = `${fromVersion} to ${toVersion}, job ${jobId}`;
  switch (phase) {
    case 'confirmed':
      return ok(start, `${what}: confirmed`);
    case 'rolled-back':
    case 'rejected':
      return wrong(start, `${what}: ${phase}. ${detail ?? ''}`.trim(), 'See the reason, and have a new release made.');
    default:
      return notChecked(
        start,
        `${what}: ${waits[phase]}${phase === 'switched' ? `; started ${starts} of 3 times` : ''}`,
        'See the progress in the running gateway: gw cloud status',
      );
  }
}

function reportFinding({ phase, isReported, hasJobEnded }: NonNullable<Folder['run']>): Line {
  const start = { id: 'report', title: 'The cloud knows how it ended', spec: null };
  if (hasJobEnded) {
    return notChecked(
      start,
      'the job had ended in the cloud before (cancelled, timed out or removed), and took no final status',
      'See the job in the cloud account.',
    );
  }
  if (isReported) return ok(start, 'the cloud has acknowledged its final status');
  if (phase === 'confirmed' || phase === 'rolled-back' || phase === 'rejected') {
    return notChecked(start, 'its final status was not acknowledged yet; gw repeats it', 'gw cloud status');
  }
  return notChecked(start, 'it has not ended yet');
}
