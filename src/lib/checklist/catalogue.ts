import type { z } from 'zod';
import type { RobotProtocol } from './protocol.result.ts';

/** The software of a chassis, as it was read from it. */
export type SoftwareRead = NonNullable<RobotProtocol['software']>;

/** What a check is told while it runs. */
export interface StepContext {
  readonly signal: AbortSignal;
  /** One line for a person about what happens now. */
  readonly onProgress: (text: string) => void;
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
  /** Gives a plain object, into which `expect` looks. Throws GwError. `options` has passed the schema above. */
  run(options: unknown, context: StepContext): Promise<object>;
}

export type Catalogue = Readonly<Record<string, CatalogueEntry>>;
