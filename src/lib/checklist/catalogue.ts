import type { z } from 'zod';
import type { RobotRecord } from './record.result.ts';

/** The software of a chassis, as it was read from it. */
export type SoftwareRead = NonNullable<RobotRecord['software']>;

/** What a check is told while it runs. */
export interface StepContext {
  readonly signal: AbortSignal;
  /** One line for a person about what happens now. */
  readonly onProgress: (text: string) => void;
}

/**
 * What a technician may give a run beside the site file: a second host to look from, and the device password. A check
 * that needs it cannot be made without.
 */
export const givens = ['second-host', 'password'] as const;
export type Given = (typeof givens)[number];

/** Something that a check needs and that the site file does not have: known before the first step. */
export interface Missing {
  /** The key of the site file, or the flag. */
  readonly key: string;
  /** What is missing, as a sentence. */
  readonly what: string;
  readonly remedy: string;
}

/**
 * One check that checklists may name. What stands under `with` in a step is data for its schema and then for a
 * function; it never becomes a command line.
 */
export interface CatalogueEntry {
  readonly summary: string;
  /** true when it moves the robot: then it runs only with the person's word for it. */
  readonly moves: boolean;
  /** The shape of `with`; every field has its description. */
  readonly with: z.ZodType;
  /** Where its result tells the software of the chassis; null when it does not this time. */
  readonly software?: (data: object) => SoftwareRead | null;
  /** What this run was given of what the check can use. Absent: nothing. */
  readonly given?: readonly Given[];
  /** What the check needs of the site file and does not find there. Reads files at most, contacts nothing. */
  readonly missing?: (options: unknown) => Promise<readonly Missing[]>;
  /** Gives a plain object, into which `expect` looks. Throws GwError. `options` has passed the schema above. */
  run(options: unknown, context: StepContext): Promise<object>;
}

export type Catalogue = Readonly<Record<string, CatalogueEntry>>;
