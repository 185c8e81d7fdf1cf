import type { RunnerOptions, SessionRobot } from '../../checklist/index.ts';
import type { Clock } from '../../lifecycle/index.ts';
import type { Site } from '../../site/index.ts';
import type { CatalogueOptions } from '../catalogue/check.ts';
import type { CheckContext } from '../toolkit.ts';
import type { Prerequisite } from './checklist.result.ts';

export interface ChecklistRunOptions
  extends Pick<RunnerOptions, 'motionAllowed' | 'failFast' | 'dryRun' | 'ask' | 'decide' | 'onStep' | 'onResult'>,
    Pick<CheckContext, 'signal' | 'onProgress'> {
  readonly nameOrFile: string;
  /** Folder of the built-in checklists. */
  readonly dir: string;
  /** One site file for each robot of this run; journal and record go to the state folder of the first. */
  readonly sitePaths: readonly [string, ...string[]];
  readonly answersPath?: string | undefined;
  /** Reads the answers in place of a file. */
  readonly readAnswers?: (() => Promise<Uint8Array>) | undefined;
  /** Keeps nothing of the run: neither journal nor record. */
  readonly noRecord?: boolean | undefined;
  /** Folder of the report files; absent: none are written. */
  readonly outDir?: string | undefined;
  /** Ids of steps and sections: only these and what they need. */
  readonly only?: readonly string[] | undefined;
  /** Id of a step or section: from here to the end, with what that needs. */
  readonly from?: string | undefined;
  /** Resumes the newest run of this list for these robots. */
  readonly resume?: boolean | undefined;
  /** File of the record; default `<stateDir>/records/<name>-<serial>-<time>.json`. */
  readonly recordPath?: string | undefined;
  readonly technician?: { readonly name: string | null; readonly initials: string | null } | undefined;
  /** Written into records and map backups. */
  readonly gwVersion: string;
  readonly clock: Clock;
  /** Inputs of the checks beside site file and version. */
  readonly checks?: Omit<CatalogueOptions, 'sitePath' | 'gwVersion' | 'clock'> | undefined;
  /** Warnings for the technician. */
  readonly onWarning?: ((text: string) => void) | undefined;
  readonly onRobot?: (event: { readonly site: string; readonly serial: string; readonly index: number }) => void;
  /** Called before the first step when prerequisites are missing. */
  readonly onPrerequisites?: (missing: readonly Prerequisite[]) => void;
  /** Asks for the device password when steps of this session can use it; null: those steps become questions. */
  readonly askPassword?: ((signal: AbortSignal) => Promise<string | null>) | undefined;
}

/** A robot of this run. `site` is null when its file cannot be read, which a step reports. */
export interface RunRobot extends SessionRobot {
  readonly site: Site | null;
}
