import { realpath } from 'node:fs/promises';
import { asGwError, type GwError } from '../../error/index.ts';
import type { ReleaseAgentOptions, ReleaseStep } from './agent-model.ts';
import { installedFolders, versionOfFolder } from './folder.ts';
import type { ReleasePhase } from './model.ts';
import { type ReleaseState, type RunState, readState, writeState } from './state.ts';

/** The state was changed by another process, `gw release rollback`: the agent reads it again. */
export class StateChanged extends Error {}

/** The state of the release folder in memory and on the disk. */
export interface RunStore {
  readonly dir: string;
  /** The last state that was read or written; null before `load`. */
  current(): ReleaseState | null;
  /** Versions in the release folder, by the last look. */
  installed(): readonly string[];
  /** The last failure of the disk; null after a success. */
  failure(): GwError | null;
  load(): Promise<ReleaseState>;
  /** Replaces the run. Throws StateChanged, FILE_UNWRITABLE. */
  place(run: RunState): Promise<void>;
  /** Changes the run, which must be in this phase on the disk. Throws StateChanged, FILE_UNWRITABLE. */
  change(phase: ReleasePhase, patch: Partial<RunState>, others?: Partial<ReleaseState>): Promise<RunState>;
}

export function createRunStore(dir: string): RunStore {
  let state: ReleaseState | null = null;
  let installed: readonly string[] = [];
  let failure: GwError | null = null;

  async function tracked<T>(work: () => Promise<T>): Promise<T> {
    try {
      const value = await work();
      failure = null;
      return value;
    } catch (error) {
      if (!(error instanceof StateChanged)) failure = asGwError(error);
      throw error;
    }
  }

  async function put(next: ReleaseState): Promise<void> {
    await writeState(dir, next);
    await look();
    state = next;
  }

  async function look(): Promise<void> {
    const folders = await installedFolders(dir).catch(() => []);
    installed = [...new Set(folders.map((name) => versionOfFolder(name) ?? name))];
  }

  return {
    dir,
    current: () => state,
    installed: () => installed,
    failure: () => failure,
    load: () =>
      tracked(async () => {
        state = await readState(dir);
        await look();
        return state;
      }),
    place: (run) =>
      tracked(async () => {
        await put({ ...(await readState(dir)), run });
      }),
    change: (phase, patch, others = {}) =>
      tracked(async () => {
        const before = await readState(dir);
        if (before.run === null || before.run.phase !== phase || before.run.jobId !== state?.run?.jobId) {
          state = before;
          throw new StateChanged();
        }
        const run = { ...before.run, ...patch };
        await put({ ...before, ...others, run });
        return run;
      }),
  };
}

/** Whether the launcher that started this process uses the release folder of the site file. */
export async function isLaunchedFrom(dir: string, launched: ReleaseAgentOptions['launched']): Promise<boolean> {
  if (launched === null) return false;
  const [own, used] = await Promise.all([dir, launched.dir].map((path) => realpath(path).catch(() => path)));
  return own === used;
}

export type OnStep = (step: ReleaseStep) => Promise<void>;
