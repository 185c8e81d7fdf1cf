import type { RunnerOptions, SessionRobot } from '../../checklist/index.ts';
import type { Clock } from '../../lifecycle/index.ts';
import type { Site } from '../../site/index.ts';
import type { CatalogueOptions } from '../catalogue.ts';
import type { CheckContext } from '../toolkit.ts';
import type { Prerequisite } from './run.result.ts';

export interface ChecklistRunOptions
  extends Pick<RunnerOptions, 'motionAllowed' | 'ask' | 'decide' | 'onStep' | 'onResult'>,
    Pick<CheckContext, 'signal' | 'onProgress'> {
  readonly nameOrFile: string;
  /** Folder of the built-in checklists. */
  readonly dir: string;
  /** One site file for each robot of this run; journal and record go to the state folder of the first. */
  readonly sitePaths: readonly [string, ...string[]];
  readonly answersPath?: string | undefined;
  /** Where report files go; none are written without it. */
  readonly outDir?: string | undefined;
  /** Ids of steps and sections: these alone, and what they need. */
  readonly only?: readonly string[] | undefined;
  /** Id of a step or section: from here to the end, and what that needs. */
  readonly from?: string | undefined;
  /** Goes on with the newest run of this list for these robots. */
  readonly resume?: boolean | undefined;
  /** Where the record goes; `<stateDir>/records/<name>-<serial>-<time>.json` without it. */
  readonly recordPath?: string | undefined;
  readonly technician?: { readonly name: string | null; readonly initials: string | null } | undefined;
  /** Stands in records, and in the backups that a step takes. */
  readonly gwVersion: string;
  readonly clock: Clock;
  /** What the checks are made with, beside site file and version. */
  readonly checks?: Omit<CatalogueOptions, 'sitePath' | 'gwVersion'> | undefined;
  /** Something that the person has to know and that is no error. */
  readonly onWarning?: ((text: string) => void) | undefined;
  readonly onRobot?: (event: { readonly site: string; readonly serial: string; readonly index: number }) => void;
  /** Called before the first step, when something is missing. */
  readonly onPrerequisites?: (missing: readonly Prerequisite[]) => void;
  /** Asks for the device password, when steps of this sitting can use it; null: those are asked as questions. */
  readonly askPassword?: ((signal: AbortSignal) => Promise<string | null>) | undefined;
}

/** A robot of this run. `site` is null when its file cannot be read, which is for a step to find. */
export interface RunRobot extends SessionRobot {
  readonly site: Site | null;
}
