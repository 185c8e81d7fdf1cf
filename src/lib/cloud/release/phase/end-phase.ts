import { prune, readCurrent } from '../folder.ts';
import { isSameJob } from '../job/jobs.ts';
import type { RunState } from '../state.ts';
import type { PhaseContext } from './phase-context.ts';

/** After the end of a run: removes the releases that are not needed any more, and reports the end to the job service. */
export async function endPhase(context: PhaseContext, run: RunState): Promise<void> {
  await tidy(context);
  if (run.phase === 'confirmed') await context.step('pruned');
  await reportEnd(context, run);
}

/** The report does not depend on it; the next start tidies again. */
async function tidy(context: PhaseContext): Promise<void> {
  try {
    await prune(context.store.dir, await keptFolders(context));
  } catch (error) {
    context.options.log.warn({ err: error }, 'old releases could not be removed');
  }
}

/** What runs, what the launcher starts next, and what a rollback would restore. */
async function keptFolders({ store, running }: PhaseContext): Promise<readonly (string | null)[]> {
  return [running.folder, await readCurrent(store.dir), store.current()?.previous?.folder ?? null];
}

async function reportEnd(context: PhaseContext, run: RunState): Promise<void> {
  const { options, jobs, store, running, step, signal } = context;
  const { outcome, failure, stage, documentParameters, from, to, phase } = run;
  let hasJobEnded = false;
  if (outcome !== null && outcome !== 'CANCELED') {
    const result = await jobs.report(
      run,
      outcome,
      {
        phase: failure?.phase ?? phase,
        reason: failure?.reason ?? null,
        version: to.version,
        fromVersion: from.version,
        stage: stage === null ? null : String(stage),
        documentParameters,
        rolledBackTo: phase === 'rolled-back' ? running.version : null,
        runningVersion: running.version,
      },
      signal,
    );
    if (result === 'ended') {
      const execution = await jobs.get(run.jobId, signal);
      // With this status it was an earlier report that arrived, and its acknowledgement that was lost.
      hasJobEnded = execution === null || !isSameJob(execution, run) || execution.status !== outcome;
      if (hasJobEnded)
        options.log.warn({ jobId: run.jobId, outcome }, 'the job had ended in the cloud before its report');
    }
    await step('reported');
  }
  await store.change(phase, { isReported: true, hasJobEnded });
  await step('report-recorded');
  context.onReported();
}
