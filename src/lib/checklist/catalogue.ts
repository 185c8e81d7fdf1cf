import type { z } from 'zod';
import type { RobotRecord } from './record.result.ts';

/** Chassis software as read from the chassis. */
export type SoftwareRead = NonNullable<RobotRecord['software']>;

/** What a running check receives. */
interface StepContext {
  readonly signal: AbortSignal;
  /** One line of progress. */
  readonly onProgress: (text: string) => void;
}

/**
 * Optional inputs of a run beside the site file: a second host to probe from, and the device password. A check
 * that needs one cannot run without it.
 */
export const givens = ['second-host', 'password'] as const;
export type Given = (typeof givens)[number];

/** A prerequisite of a check that the site file lacks; found before the first step. */
export interface Missing {
  /** The key of the site file, or the flag. */
  readonly key: string;
  /** What is missing, as a sentence. */
  readonly what: string;
  readonly remedy: string;
}

/**
 * One check that checklists may name. The `with` of a step is validated by its schema and passed to a function; it
 * never becomes a command line.
 */
export interface CatalogueEntry {
  readonly summary: string;
  /** true when it moves the robot: it then runs only with --robot-will-move. */
  readonly moves: boolean;
  /** The shape of `with`; every field has its description. */
  readonly with: z.ZodType;
  /** Reads the chassis software from its result; null when the result has none. */
  readonly software?: (data: object) => SoftwareRead | null;
  /** Reads from its result whether the device is a simulator; null when the result does not have it. */
  readonly simulated?: (data: object) => boolean | null;
  /** What the check found and from where, in a sentence beside the expectations. Absent: its findings say it. */
  readonly says?: (data: object) => string;
  /** Timeout of a step that has no `withinS`. Absent: 60 s. */
  readonly withinMs?: (options: unknown) => number;
  /** It changes nothing, so that a step may repeat it. */
  readonly repeatable?: boolean;
  /** Inputs of this run that the check can use. Absent: none. */
  readonly given?: readonly Given[];
  /**
   * Prerequisites that the site file lacks for a step that runs or reads this check and expects this of its result.
   * Reads files only, contacts no device.
   */
  readonly missing?: (options: unknown, expected: Readonly<Record<string, unknown>>) => Promise<readonly Missing[]>;
  /** Returns a plain object that `expect` is compared with. Throws GwError. `options` has passed the schema above. */
  run(options: unknown, context: StepContext): Promise<object>;
}

export type Catalogue = Readonly<Record<string, CatalogueEntry>>;
