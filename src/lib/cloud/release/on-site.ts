import { isDeepStrictEqual } from 'node:util';
import { asGwError, GwError } from '../../error/index.ts';
import { assertOwnFolder } from '../../lifecycle/index.ts';
import { installedFolders, readCurrent, switchCurrent, versionOfFolder } from './folder.ts';
import { keyFingerprint, type ReleaseKeys } from './keys.ts';
import type { InstalledVersion, ReleaseRun } from './model.ts';
import { type Installation, isFinal, MAX_STARTS, type ReleaseState, readState, writeState } from './state.ts';
import { verifyInstalled } from './unpack.ts';
import { previousOf, viewRun } from './view.ts';

/** A release folder, read without the running gateway. */
export interface ReleaseFolder {
  /** What the launcher starts next; the link `current` may still name a version that is being rolled back. */
  readonly current: InstalledVersion;
  /** What a rollback would restore, once a rollback that is in progress has ended; null: none. */
  readonly previous: InstalledVersion | null;
  readonly installed: readonly InstalledVersion[];
  readonly run: ReleaseRun | null;
  readonly onSite: ReleaseState['onSite'];
}

/** Reads and verifies a release folder. Throws FILE_UNREADABLE. */
export async function readReleaseFolder(dir: string, keys: ReleaseKeys): Promise<ReleaseFolder> {
  const [state, current, folders] = await Promise.all([readState(dir), readCurrent(dir), installedFolders(dir)]);
  const installed: InstalledVersion[] = [];
  for (const folder of folders) installed.push(await inspect(dir, folder, keys));
  const view = async (folder: string | null) =>
    folder === null
      ? { folder, version: null, problem: null, signedBy: null }
      : (installed.find((each) => each.folder === folder) ?? (await inspect(dir, folder, keys)));
  const next = startsNext(state, current);
  const isRollingBack = state.run?.phase === 'rolling-back';
  const previous = isRollingBack ? other(state.previous, next) : targetOf(state, current);
  return {
    current: await view(next),
    previous: previous === null ? null : await view(previous.folder),
    installed,
    run: state.run === null ? null : viewRun(state.run, null),
    onSite: state.onSite,
  };
}

async function inspect(dir: string, folder: string, keys: ReleaseKeys): Promise<InstalledVersion> {
  const version = versionOfFolder(folder);
  try {
    const verified = await verifyInstalled(dir, folder, { keys });
    return { folder, version: verified.version, problem: null, signedBy: keyFingerprint(verified.signer) };
  } catch (error) {
    return { folder, version, problem: asGwError(error).message, signedBy: null };
  }
}

/** What `packaging/boot.js` starts next. */
function startsNext({ run }: ReleaseState, current: string | null): string | null {
  if (run === null) return current;
  const isGivenUp = run.phase === 'switched' && run.to.folder === current && run.starts >= MAX_STARTS;
  return run.phase === 'rolling-back' || isGivenUp ? run.from.folder : current;
}

function other(installation: Installation | null, folder: string | null): Installation | null {
  return installation?.folder === folder ? null : installation;
}

/** The version before the current one. After an interrupted rollback on site, the other one of it. */
function targetOf(state: ReleaseState, current: string | null): Installation | null {
  const { onSite } = state;
  const candidates = [previousOf(state), onSite?.to ?? null, onSite?.from ?? null];
  return candidates.find((each) => each !== null && each.folder !== current) ?? null;
}

/** What is wanted of a rollback. `toBase`: back to the base installation. */
interface RollbackWish {
  readonly toBase: boolean;
  /** Of the base installation: that of the command, which belongs to it. */
  readonly baseVersion: string;
}

interface RollbackPlan {
  readonly from: Installation;
  readonly to: Installation;
  /** Whether a release is waiting for its confirmation: its job is reported as failed. */
  readonly isUnconfirmed: boolean;
}

/**
 * What a rollback on site would do. Throws RELEASE_REFUSED when a release is in progress, when there is nothing to go
 * back to, and when the files of the target are not those that were signed.
 */
export async function planRollback(
  dir: string,
  { keys, ...wish }: RollbackWish & { readonly keys: ReleaseKeys },
): Promise<RollbackPlan> {
  await assertOwnFolder(dir);
  const plan = decide(await readState(dir), await readCurrent(dir), wish);
  const { to } = plan;
  if (to.folder !== null) {
    await verifyInstalled(dir, to.folder, { keys }).catch((cause) => {
      const reason = asGwError(cause).message;
      throw new GwError('RELEASE_REFUSED', `Version ${to.version} cannot be restored: ${reason}`, {
        cause,
        remedy: 'Go back to the base installation with `gw release rollback --base --yes`.',
      });
    });
  }
  return plan;
}

function decide(state: ReleaseState, current: string | null, { toBase, baseVersion }: RollbackWish): RollbackPlan {
  const { run } = state;
  if (run !== null && !isFinal(run.phase) && run.phase !== 'switched') {
    throw new GwError('RELEASE_REFUSED', `Release ${run.to.version} is in progress (${run.phase}).`, {
      remedy:
        run.phase === 'rolling-back'
          ? 'It is being rolled back: restart gw, then see `gw release status`.'
          : 'Wait for its end, or have its job cancelled in the cloud; then see `gw release status`.',
    });
  }
  // Not as it was recorded: the base installation may have been updated below a release.
  const base: Installation = { folder: null, version: baseVersion };
  const target = targetOf(state, current);
  const to = toBase || target?.folder === null ? base : target;
  if (to === null || to.folder === current) {
    const problem = toBase ? 'The base installation is the current version.' : 'There is no version to go back to.';
    throw new GwError('RELEASE_REFUSED', problem, { remedy: 'See the versions with `gw release status`.' });
  }
  const from = current === null ? base : { folder: current, version: versionOfFolder(current) ?? current };
  return { from, to, isUnconfirmed: run?.phase === 'switched' && run.to.folder === current };
}

/**
 * Switches as planned, and records it. The running gw is not restarted. Throws RELEASE_REFUSED when the running gw has
 * changed the state since the plan was made, because verifying the files takes time; FILE_UNWRITABLE.
 */
export async function carryOutRollback(
  dir: string,
  plan: RollbackPlan,
  { at, ...wish }: RollbackWish & { readonly at: string },
): Promise<void> {
  const state = await readState(dir);
  const now = decide(state, await readCurrent(dir), wish);
  if (!isDeepStrictEqual(now, plan)) {
    throw new GwError('RELEASE_REFUSED', 'The running gw has changed the release folder meanwhile; nothing was done.', {
      remedy: 'See `gw release status`, then repeat the rollback if it is still wanted.',
    });
  }
  const { from, to, isUnconfirmed } = plan;
  const { run } = state;
  const reason = 'Rolled back on site before the new version was confirmed.';
  await writeState(dir, {
    ...state,
    previous: previousAfter(state, plan),
    onSite: { at, from, to },
    run:
      isUnconfirmed && run !== null
        ? { ...run, phase: 'rolling-back', from: to, failure: { phase: 'switched', reason } }
        : run,
  });
  await switchCurrent(dir, to.folder);
}

/** The version to go back to after a rollback; one that was never confirmed is none. */
function previousAfter(
  { previous, run }: ReleaseState,
  { from, to, isUnconfirmed }: RollbackPlan,
): Installation | null {
  if (!isUnconfirmed || run === null) return from;
  // The last confirmed version, unless it is the target itself.
  return run.from.folder === to.folder ? previous : run.from;
}
