import { join } from 'node:path';
import { z } from 'zod';
import { GwError, systemReason } from '../../error/index.ts';
import { OTHER_VERSION_REMEDY, otherFormat, otherVersionText, readJsonBytes } from '../../json/index.ts';
import { readWhole, replaceFile } from '../../lifecycle/index.ts';
import { releasePhases } from './model.ts';

/**
 * `packaging/boot.js` reads and writes the same file without this module; a test compares the two. The boot.js of an
 * older base installation and the agent of the version before read what a newer agent wrote: fields may be added, which
 * they ignore, and none may be renamed.
 */
const STATE_NAME = 'state.json';
const STATE_SCHEMA = 'gw/release-state/1';
/** Starts of an unconfirmed version before `packaging/boot.js` restores the version before it. */
export const MAX_STARTS = 3;
const MAX_STATE_BYTES = 1024 * 1024;

const installation = z.object({
  /** In the release folder; null: the base installation. */
  folder: z
    .string()
    .regex(/^[0-9A-Za-z][0-9A-Za-z.+_-]{0,99}$/)
    .nullable(),
  version: z.string(),
});
/** An installed version. */
export type Installation = z.infer<typeof installation>;

const runState = z.object({
  jobId: z.string(),
  executionNumber: z.int(),
  phase: z.enum(releasePhases),
  from: installation,
  /** `folder` is null until the package is unpacked. */
  to: installation,
  /** Null when the document was rejected. */
  package: z.object({ bytes: z.int(), sha256: z.string() }).nullable(),
  allowDowngrade: z.boolean(),
  stage: z.int().nullable(),
  /** As text for a status detail. A version before this field wrote none. */
  documentParameters: z.string().nullable().default(null),
  /** UTC, for people. */
  since: z.string(),
  detail: z.string().nullable(),
  /** How often the launcher started the new version without its being confirmed. */
  starts: z.int(),
  healthWithinS: z.int(),
  failure: z.object({ phase: z.enum(releasePhases), reason: z.string() }).nullable(),
  /** Final status for the job; CANCELED: the job ended in the cloud, and nothing is reported. */
  outcome: z.enum(['SUCCEEDED', 'FAILED', 'REJECTED', 'CANCELED']).nullable(),
  /** Whether nothing is left to report: the status was acknowledged, or the job had ended before. */
  isReported: z.boolean(),
  /** Whether the job had ended in the cloud with another status before this one was reported. */
  hasJobEnded: z.boolean().default(false),
});
export type RunState = z.infer<typeof runState>;

const stateShape = z.object({
  schema: z.literal(STATE_SCHEMA),
  /** The version before the current one. */
  previous: installation.nullable(),
  run: runState.nullable(),
  /** The last rollback by a person on site. */
  onSite: z.object({ at: z.string(), from: installation, to: installation }).nullable(),
});
export type ReleaseState = z.infer<typeof stateShape>;

const noReleases: ReleaseState = { schema: STATE_SCHEMA, previous: null, run: null, onSite: null };

/** Reads the state of a release folder; without the file, that of a folder without releases. Throws FILE_UNREADABLE. */
export async function readState(dir: string): Promise<ReleaseState> {
  const path = statePath(dir);
  let bytes: Uint8Array;
  try {
    bytes = await readWhole(path, MAX_STATE_BYTES);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT') return noReleases;
    throw unreadable(path, systemReason({ code }), cause);
  }
  const reading = readJsonBytes(bytes, 'file');
  if (!reading.ok) throw unreadable(path, reading.problem);
  const parsed = stateShape.safeParse(reading.value);
  if (!parsed.success) {
    const format = otherFormat(reading.value, STATE_SCHEMA);
    if (format !== null)
      throw unreadable(path, otherVersionText(format, STATE_SCHEMA), undefined, OTHER_VERSION_REMEDY);
    throw unreadable(path, `not a state of releases: ${parsed.error.issues[0]?.message}`);
  }
  return parsed.data;
}

function statePath(dir: string): string {
  return join(dir, STATE_NAME);
}

/** Replaces the state durably. Throws FILE_UNWRITABLE. */
export async function writeState(dir: string, state: ReleaseState): Promise<void> {
  await replaceFile(statePath(dir), `${JSON.stringify(state, null, 1)}\n`, {
    mode: 0o600,
    folderMode: 0o700,
    durable: true,
  });
}

function unreadable(
  path: string,
  why: string,
  cause?: unknown,
  remedy = `Move ${path} away; gw then regards the version that runs as the current one.`,
): GwError {
  return new GwError('FILE_UNREADABLE', `${path} cannot be read (${why}).`, { cause, remedy });
}

/** Whether a phase is an end. */
export function isFinal(phase: RunState['phase']): boolean {
  return phase === 'confirmed' || phase === 'rolled-back' || phase === 'rejected';
}
