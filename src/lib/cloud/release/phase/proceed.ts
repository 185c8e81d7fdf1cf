import { StateChanged } from '../run-store.ts';
import type { RunState } from '../state.ts';
import { downloadPhase } from './download-phase.ts';
import { endPhase } from './end-phase.ts';
import type { PhaseContext } from './phase-context.ts';
import { confirmPhase, endBeforeSwitch, rollbackPhase, switchPhase, unpackPhase } from './phases.ts';

/** Does the work of the phase that a run is in. `bootMs`: when this process started, by the monotonic clock. */
export async function proceed(context: PhaseContext, run: RunState, bootMs: number): Promise<void> {
  const { store, running } = context;
  switch (run.phase) {
    case 'downloading':
    case 'unpacking':
    case 'ready':
      if (run.from.folder !== running.folder || run.from.version !== running.version) {
        // The base installation was updated meanwhile.
        await store.change(run.phase, { from: running });
        return;
      }
      try {
        if (run.phase === 'downloading') await downloadPhase(context, run);
        else if (run.phase === 'unpacking') await unpackPhase(context, run);
        else await switchPhase(context, run);
      } catch (error) {
        context.signal.throwIfAborted();
        if (error instanceof StateChanged) throw error;
        const reached = store.current()?.run;
        // After the switch the end is decided by the rollback.
        if (reached?.phase === 'switched') throw error;
        await endBeforeSwitch(context, reached ?? run, error);
      }
      return;
    case 'switched':
      return await confirmPhase(context, run, bootMs);
    case 'rolling-back':
      return await rollbackPhase(context, run);
    default:
      return await endPhase(context, run);
  }
}
