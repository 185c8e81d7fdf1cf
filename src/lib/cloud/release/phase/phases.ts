import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { asGwError, GwError } from '../../../error/index.ts';
import { onDisk } from '../../storage/partial-file.ts';
import { isThere, packagePath, readCurrent, removeUnfinished, switchCurrent } from '../folder.ts';
import { readReleaseKeys } from '../keys.ts';
import type { RunState } from '../state.ts';
import { unpackPackage, verifyInstalled } from '../unpack.ts';
import { announce, assertPackage, expectedPackage, JobEnded, type PhaseContext } from './phase-context.ts';

/** Unpacks the package beside the installed versions. */
export async function unpackPhase(context: PhaseContext, run: RunState): Promise<void> {
  const { store, step, options, signal, onProgress } = context;
  const { folder } = run.to;
  if (folder === null) throw new GwError('INTERNAL', 'A release without a folder.');
  await announce(context, run, 'The package was verified; it is unpacked.');
  onProgress('Unpacks the package.');
  const { sha256 } = expectedPackage(run);
  const path = packagePath(store.dir, sha256);
  if (!(await isThere(path))) {
    await store.change('unpacking', { phase: 'downloading', to: { ...run.to, folder: null } });
    return;
  }
  // Left by an earlier release, or by a power cut after it was put in place.
  await rm(join(store.dir, folder), { recursive: true, force: true });
  const keys = await readReleaseKeys(options.release.keyFile);
  const verified = await onDisk(join(store.dir, folder), () =>
    unpackPackage(path, { keys, dir: store.dir, folder, signal, onStep: step }),
  );
  assertPackage(run, verified);
  await step('unpacked');
  await store.change('unpacking', { phase: 'ready' });
  await step('phase-ready');
}

/** Waits until the robot stands, announces the switch, switches and restarts. Returns only after an abort. */
export async function switchPhase(context: PhaseContext, run: RunState): Promise<void> {
  const { store, step, options, signal } = context;
  await removeUnfinished(store.dir);
  await step('package-removed');
  const folder = run.to.folder ?? '';
  const keys = await readReleaseKeys(options.release.keyFile);
  await verifyInstalled(store.dir, folder, { keys, signal });
  await announce(context, run, 'The new version is installed; the switch waits until the robot stands.');
  do {
    await untilAtRest(context, run);
    await step('at-rest');
    // A job that was cancelled meanwhile is not switched to.
    await announce(context, run, 'The robot stands; the new version is started.');
  } while (options.isMoving() !== false);
  await step('switch-announced');
  await store.change('ready', { phase: 'switched' });
  await step('phase-switched');
  await switchCurrent(store.dir, folder);
  await step('link-switched');
  await restartForever(context, `release ${run.to.version}`, 'Switched; the restart waits until the robot stands.');
}

async function untilAtRest(context: PhaseContext, run: RunState): Promise<void> {
  const { options, limits, signal, onProgress, takeOtherOffer } = context;
  for (;;) {
    const isMoving = options.isMoving();
    if (isMoving === false) return;
    onProgress(
      isMoving
        ? 'Installed; the switch waits until the robot stands.'
        : 'Installed; the switch waits: whether the robot moves is not known.',
    );
    if (takeOtherOffer()) await announce(context, run, 'The switch waits until the robot stands.');
    await options.clock.sleep(limits.pollMs, signal);
  }
}

const RESTART_AGAIN_MS = 60_000;

/** Waits only for a robot that is known to move: a version without its chassis link could never be left otherwise. */
async function restartForever(context: PhaseContext, reason: string, waiting: string): Promise<never> {
  const { options, limits, signal, onProgress } = context;
  for (;;) {
    while (options.isMoving() === true) {
      onProgress(waiting);
      await options.clock.sleep(limits.pollMs, signal);
    }
    onProgress(null);
    options.restart(reason);
    await options.clock.sleep(RESTART_AGAIN_MS, signal);
    options.log.warn({ reason }, 'gw was not restarted for a release; it is tried again');
  }
}

/** In the new version: confirms it when it is healthy in time, else begins the rollback. */
export async function confirmPhase(context: PhaseContext, run: RunState, bootMs: number): Promise<void> {
  const { store, step, options, limits, signal, onProgress } = context;
  const current = await readCurrent(store.dir);
  if (current !== run.to.folder) {
    // The power was cut before the switch.
    await store.change('switched', { phase: 'ready', starts: 0 });
    return;
  }
  const problem = startProblem(context, run);
  if (problem !== null) return await beginRollback(context, run, problem);
  await step('new-version-started');
  const { clock } = options;
  const deadlineMs = bootMs + run.healthWithinS * 1_000;
  let healthySinceMs: number | null = null;
  let missing: string | null = null;
  while (clock.monotonicMs() < deadlineMs) {
    const health = options.health();
    const nowMs = clock.monotonicMs();
    if (!health.isHealthy) {
      healthySinceMs = null;
      missing = health.missing;
    } else healthySinceMs ??= nowMs;
    if (healthySinceMs !== null && nowMs - healthySinceMs >= limits.healthyForMs) {
      await step('healthy');
      await store.change(
        'switched',
        { phase: 'confirmed', outcome: 'SUCCEEDED', detail: 'The new version runs and is healthy.' },
        { previous: run.from },
      );
      await step('phase-confirmed');
      return;
    }
    onProgress(health.isHealthy ? 'The new version is healthy; it is confirmed soon.' : `Waits: ${health.missing}`);
    await clock.sleep(limits.pollMs, signal);
  }
  const reason = `The new version was not healthy within ${run.healthWithinS} s: ${missing ?? 'it was healthy with interruptions'}`;
  await beginRollback(context, run, reason);
}

function startProblem({ options: { launched, version } }: PhaseContext, run: RunState): string | null {
  if (launched?.folder !== run.to.folder) {
    return `The launcher did not start the new version: ${launched?.folder ?? 'the base installation'} runs.`;
  }
  if (version !== run.to.version) return `The new version reports ${version}, expected ${run.to.version}.`;
  return null;
}

async function beginRollback({ store, step }: PhaseContext, run: RunState, reason: string): Promise<void> {
  await store.change('switched', { phase: 'rolling-back', failure: { phase: run.phase, reason } });
  await step('phase-rolling-back');
}

/**
 * Restores the old version, restarts when the new one runs and the robot does not move, and records the end in the old
 * version.
 */
export async function rollbackPhase(context: PhaseContext, run: RunState): Promise<void> {
  const { store, step, options } = context;
  const { from, to } = run;
  // A rollback on site has restored it already.
  if ((await readCurrent(store.dir)) !== from.folder) {
    await switchCurrent(store.dir, from.folder);
    await step('link-restored');
  }
  const { launched, version } = options;
  if (launched?.folder === to.folder) {
    const waiting = 'The rollback waits until the robot stands.';
    await restartForever(context, `rollback to ${from.version}`, waiting);
  }
  const reason = run.failure?.reason ?? 'The new version was not confirmed.';
  const instead = launched?.folder === from.folder ? '' : ` ${from.version} could not be started; ${version} runs.`;
  await store.change('rolling-back', { phase: 'rolled-back', outcome: 'FAILED', detail: `${reason}${instead}` });
  await step('phase-rolled-back');
}

/** Ends a run before its switch, for a reason or because the job ended. */
export async function endBeforeSwitch(context: PhaseContext, run: RunState, error: unknown): Promise<void> {
  const { store, step, options } = context;
  // First the files, because the state can be written only with free space.
  await removeUnfinished(store.dir).catch(() => {});
  if (error instanceof JobEnded) {
    const detail = 'The job ended in the cloud before the switch; nothing was changed.';
    await store.change(run.phase, {
      phase: 'rejected',
      outcome: 'CANCELED',
      detail,
      isReported: true,
      hasJobEnded: true,
    });
  } else {
    const { code, message } = asGwError(error);
    if (code === 'INTERNAL') options.log.error({ err: error }, 'a release failed for an internal error');
    const outcome = code === 'RELEASE_REFUSED' ? 'REJECTED' : 'FAILED';
    const failure = { phase: run.phase, reason: message };
    await store.change(run.phase, { phase: 'rejected', outcome, detail: message, failure });
  }
  await step('phase-rejected');
}
