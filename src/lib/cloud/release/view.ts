import type { ReleaseAgentOptions } from './agent-model.ts';
import type { ReleaseRun, ReleaseView } from './model.ts';
import type { RunStore } from './run-store.ts';
import { isFinal, type ReleaseState, type RunState } from './state.ts';

/** The state of the agent for `GET /api/cloud`. */
export function viewRelease({
  release,
  store,
  launched,
  version,
  isManaged,
  isStarted,
  progress,
}: Pick<ReleaseAgentOptions, 'release' | 'launched' | 'version'> & {
  readonly store: RunStore | null;
  readonly isManaged: boolean;
  readonly isStarted: boolean;
  readonly progress: string | null;
}): ReleaseView {
  const state = store?.current() ?? null;
  const base = {
    runningVersion: version,
    installed: store?.installed() ?? [],
    previous: state === null ? null : (previousOf(state)?.version ?? null),
    run: state?.run ? viewRun(state.run, progress) : null,
  };
  if (release === undefined || store === null) {
    return {
      ...base,
      status: 'not-configured',
      detail: 'The site file has no cloud.release: every release is rejected.',
      remedy: 'Add `release:` with `keyFile:` below `cloud:`; see docs/site-file.md.',
    };
  }
  const failure = store.failure();
  if (failure !== null) return { ...base, status: 'failing', detail: failure.message, remedy: failure.remedy };
  if (!isStarted || state === null) {
    // Before its state was read, an earlier release would appear as a new one later.
    return { ...base, status: 'failing', detail: 'The release agent is not running.', remedy: 'Restart gw.' };
  }
  if (!isManaged) {
    return {
      ...base,
      status: 'unmanaged',
      detail: unmanagedReason(release.dir, launched?.dir ?? null),
      remedy:
        'Releases need the unit of docs/install.md, with the release folder of the site file: end this process, then run `sudo systemctl enable --now gw`.',
    };
  }
  return { ...base, status: 'ready', detail: detailOf(state, version, progress), remedy: null };
}

/** What a rollback would restore: the version before an unconfirmed one, else the one before the current one. */
export function previousOf({ run, previous }: ReleaseState) {
  return run?.phase === 'switched' || run?.phase === 'rolling-back' ? run.from : previous;
}

export function viewRun(run: RunState, progress: string | null): ReleaseRun {
  const { jobId, executionNumber, phase, from, to, since, detail, starts, isReported, hasJobEnded } = run;
  const shown = isFinal(phase) ? detail : (progress ?? detail);
  return {
    jobId,
    executionNumber,
    phase,
    fromVersion: from.version,
    toVersion: to.version,
    stage: run.stage,
    documentParameters: run.documentParameters,
    since,
    detail: shown,
    starts,
    isReported: isReported && !hasJobEnded,
    hasJobEnded,
  };
}

function detailOf(state: ReleaseState | null, version: string, progress: string | null): string {
  const run = state?.run ?? null;
  if (run === null) return `Version ${version} runs; no release was received yet.`;
  if (!isFinal(run.phase)) {
    return `Version ${version} runs; release ${run.to.version} is in progress (${run.phase})${progress === null ? '' : `: ${progress}`}`;
  }
  return `Version ${version} runs; the last release, ${run.to.version}, ended: ${run.phase}.${reportText(run)}`;
}

function reportText({ isReported, hasJobEnded }: RunState): string {
  if (hasJobEnded) return ' Its job had ended in the cloud before, which took no final status.';
  return isReported ? '' : ' The cloud has not acknowledged its final status yet.';
}

/** Why a switch would have no effect. */
export function unmanagedReason(dir: string, launchedDir: string | null): string {
  return launchedDir === null
    ? 'gw was not started by its launcher (packaging/launch.sh), so that a release could not be switched to.'
    : `The launcher uses ${launchedDir}, the site file ${dir}.`;
}
