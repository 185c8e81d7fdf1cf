import type { CloudView } from '../../cloud/index.ts';
import { asGwError, GwError } from '../../error/index.ts';
import type { Finding } from '../finding.result.ts';
import { type FindingStart, notChecked, ok, wrong } from '../finding.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import type { ReleaseRehearsal } from './cloud.result.ts';
import { readCloudStatus } from './status.ts';

export interface ReleaseRehearsalOptions {
  /** How long to wait until a release was received, installed and reported, in milliseconds. */
  readonly withinMs: number;
  /** Plays the person at the cloud account; without it one follows the progress. */
  readonly release?: () => Promise<unknown>;
}

const POLL_MS = 250;

type Release = NonNullable<CloudView['release']>;
type Run = NonNullable<Release['run']>;

/**
 * Waits until a release that began during this call is confirmed on the gateway and its end is acknowledged by the cloud.
 * The gateway restarts meanwhile. A release of the running version counts; one that began before does not. Throws
 * OPERATOR_NOT_REACHABLE, CLOUD_NOT_CONNECTED.
 */
export async function rehearseRelease(
  toolkit: Toolkit,
  { withinMs, release }: ReleaseRehearsalOptions,
  context: CheckContext,
): Promise<ReleaseRehearsal> {
  const { clock, site } = toolkit;
  const { serial } = site.chassis;
  const before = await readCloudStatus(toolkit, {}, context);
  const ready = readyFinding(toolkit, before);
  const nothing = { serial, jobId: null, fromVersion: null, toVersion: null };
  if (ready.verdict !== 'ok') {
    const findings = [ready, ...judge(null, null, 0)];
    return {
      ...nothing,
      runningVersion: before.release?.runningVersion ?? null,
      waitedMs: 0,
      releasedMs: null,
      findings,
    };
  }
  if (before.status !== 'connected') {
    throw new GwError('CLOUD_NOT_CONNECTED', `No release can arrive: ${before.detail}`, {
      remedy: before.remedy ?? 'See `gw cloud status`.',
    });
  }
  context.onProgress(`Release a version to ${serial} in the cloud account now; that of the running version will do`);
  const beganMs = clock.monotonicMs();
  await release?.();
  const waitedMs = () => Math.round(clock.monotonicMs() - beganMs);
  const earlier = before.release?.run ?? null;
  let last: Release | null = before.release;
  let run: Run | null = null;
  while (!hasEnded(run) && waitedMs() < withinMs) {
    await clock.sleep(POLL_MS, context.signal);
    const now = await readOrNull(toolkit, context);
    if (now === null) continue;
    last = now;
    if (now.run === null || isSame(now.run, earlier)) continue;
    // A job that follows is another release.
    if (run !== null && !isSame(now.run, run)) break;
    run = now.run;
    context.onProgress(
      `${run.fromVersion} to ${run.toVersion}: ${run.phase}${run.detail === null ? '' : `, ${run.detail}`}`,
    );
  }
  const tookMs = waitedMs();
  const findings = [ready, ...judge(run, last, tookMs)];
  return {
    serial,
    jobId: run?.jobId ?? null,
    fromVersion: run?.fromVersion ?? null,
    toVersion: run?.toVersion ?? null,
    runningVersion: last?.runningVersion ?? null,
    waitedMs: tookMs,
    releasedMs: findings.every(({ verdict }) => verdict === 'ok') ? tookMs : null,
    findings,
  };
}

/** null while the gateway restarts. */
async function readOrNull(toolkit: Toolkit, context: CheckContext): Promise<Release | null> {
  try {
    return (await readCloudStatus(toolkit, {}, context)).release;
  } catch (error) {
    context.signal.throwIfAborted();
    if (asGwError(error).code !== 'OPERATOR_NOT_REACHABLE') throw error;
    return null;
  }
}

function isSame(run: Run, other: Run | null): boolean {
  return other !== null && run.jobId === other.jobId && run.executionNumber === other.executionNumber;
}

/** No more can follow. A confirmed release has ended when the cloud knows of it, or takes no status any more. */
function hasEnded(run: Run | null): boolean {
  if (run === null) return false;
  return (
    run.phase === 'rolled-back' ||
    run.phase === 'rejected' ||
    (run.phase === 'confirmed' && (run.isReported || run.hasJobEnded))
  );
}

function readyFinding({ site }: Toolkit, { release, detail, remedy }: CloudView): Finding {
  const start: FindingStart = { id: 'ready', title: 'The gateway can install releases', spec: 'Versioning' };
  if (release?.status === 'ready') return ok(start, release.detail);
  if (site.cloud?.release === undefined) {
    const key = site.cloud === undefined ? 'cloud' : 'cloud.release';
    const next = `Add ${key} to the site file (docs/site-file.md), and restart \`gw serve\`.`;
    return notChecked(start, `the site file has no ${key}, so every release is rejected`, next);
  }
  if (release === null) return wrong(start, detail, remedy ?? 'Restart `gw serve`, so that it reads the site file.');
  if (release.status === 'not-configured') {
    return wrong(
      start,
      release.detail,
      `${site.path} has \`cloud.release\`: restart \`gw serve\`, so that it reads it.`,
    );
  }
  return wrong(start, release.detail, release.remedy ?? 'See the log of `gw serve`.');
}

function judge(run: Run | null, release: Release | null, waitedMs: number): Finding[] {
  const received: FindingStart = {
    id: 'received',
    title: 'A release from the cloud arrives',
    spec: 'Core network rule',
  };
  const installed: FindingStart = {
    id: 'installed',
    title: 'It is installed, healthy and confirmed',
    spec: 'Versioning',
  };
  const reported: FindingStart = { id: 'reported', title: 'The cloud has acknowledged its end', spec: 'Versioning' };
  if (run === null || release === null) {
    const remedy = 'Release a version to this robot in the cloud account, then run this step again.';
    const detail = waitedMs === 0 ? 'not waited for' : `none began within ${Math.round(waitedMs / 1_000)} s`;
    const none = 'no release began';
    return [notChecked(received, detail, remedy), notChecked(installed, none), notChecked(reported, none)];
  }
  return [
    ok(received, `job ${run.jobId}, ${run.fromVersion} to ${run.toVersion}`),
    installedFinding(installed, run, release),
    reportedFinding(reported, run),
  ];
}

function reportedFinding(start: FindingStart, { phase, isReported, hasJobEnded }: Run): Finding {
  const remedy = 'See `gw cloud status`, and the job in the cloud account.';
  if (hasJobEnded) return notChecked(start, 'the job had ended in the cloud before, and took no final status', remedy);
  return isReported ? ok(start, `acknowledged: ${phase}`) : notChecked(start, 'not acknowledged yet', remedy);
}

function installedFinding(start: FindingStart, run: Run, { runningVersion }: Release): Finding {
  const { phase, detail, toVersion } = run;
  const remedy = 'See `gw cloud status` and the log of `gw serve`; correct the release, then run this step again.';
  switch (phase) {
    case 'confirmed':
      if (runningVersion === toVersion) return ok(start, `version ${toVersion} runs and is confirmed`);
      return wrong(start, `${toVersion} was confirmed, and ${runningVersion} runs`, remedy);
    case 'rolling-back':
    case 'rolled-back':
    case 'rejected':
      return wrong(start, `${phase}: ${detail ?? 'without a reason'}`, remedy);
    default:
      return notChecked(start, `still ${phase}${detail === null ? '' : `: ${detail}`}`, remedy);
  }
}
