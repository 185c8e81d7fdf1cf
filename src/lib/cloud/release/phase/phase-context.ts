import { GwError } from '../../../error/index.ts';
import type { ReleaseDocumentWire } from '../../wire.ts';
import type { ReleaseAgentOptions, ReleaseLimits } from '../agent-model.ts';
import type { Jobs } from '../job/jobs.ts';
import type { VerifiedPackage } from '../read-package.ts';
import type { OnStep, RunStore } from '../run-store.ts';
import type { Installation, RunState } from '../state.ts';
import { compareVersions } from '../version.ts';

/** The job ended in the cloud: cancelled, timed out or removed. */
export class JobEnded extends Error {}

/** What the phases work with. */
export interface PhaseContext {
  readonly options: ReleaseAgentOptions & { readonly release: NonNullable<ReleaseAgentOptions['release']> };
  readonly limits: ReleaseLimits;
  readonly store: RunStore;
  readonly jobs: Jobs;
  /** What runs in this process. */
  readonly running: Installation;
  readonly step: OnStep;
  readonly signal: AbortSignal;
  /** One sentence on what the run waits for. */
  readonly onProgress: (detail: string | null) => void;
  /** Document of the run while it is in memory: it holds the URL, which is kept in no file. */
  readonly document: () => ReleaseDocumentWire | null;
  /** Whether the cloud has offered another job meanwhile; true once for each. */
  readonly takeOtherOffer: () => boolean;
  /** The end of the run was reported, or needed no report. */
  readonly onReported: () => void;
}

/** Status details of a run under way. */
function details(run: RunState, detail: string | null): Record<string, string | null> {
  const { phase, to, from, stage, documentParameters } = run;
  return {
    phase,
    version: to.version,
    fromVersion: from.version,
    stage: stage === null ? null : String(stage),
    documentParameters,
    detail,
  };
}

/** Reports that the run is in progress. Throws JobEnded when it has ended in the cloud. */
export async function announce(
  { jobs, signal, onProgress }: PhaseContext,
  run: RunState,
  detail: string | null,
): Promise<void> {
  onProgress('Waits until the cloud has acknowledged the status of the job.');
  if ((await jobs.report(run, 'IN_PROGRESS', details(run, detail), signal)) === 'ended') throw new JobEnded();
}

/** Compares a package with its job document. Throws RELEASE_INVALID, RELEASE_REFUSED. */
export function assertPackage(run: RunState, { bytes, sha256, manifest }: VerifiedPackage): void {
  const expected = expectedPackage(run);
  if (sha256 !== expected.sha256 || bytes !== expected.bytes) {
    throw new GwError(
      'RELEASE_INVALID',
      `The package has ${bytes} bytes and SHA-256 ${sha256}, expected ${expected.bytes} bytes and ${expected.sha256} by the job document.`,
    );
  }
  if (manifest.version !== run.to.version) {
    throw new GwError(
      'RELEASE_INVALID',
      `The package is version ${manifest.version}, expected ${run.to.version} by the job document.`,
    );
  }
  if (compareVersions(run.from.version, manifest.minimumVersion) < 0) {
    throw new GwError(
      'RELEASE_REFUSED',
      `The package replaces version ${manifest.minimumVersion} or newer; ${run.from.version} runs.`,
    );
  }
}

/** The package of a run by its job document. */
export function expectedPackage(run: RunState): NonNullable<RunState['package']> {
  if (run.package === null) throw new GwError('INTERNAL', 'A release under way without a package.');
  return run.package;
}
