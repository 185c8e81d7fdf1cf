import { asGwError } from '../../../error/index.ts';
import type { JobExecutionWire, ReleaseDocumentWire } from '../../wire.ts';
import type { ReleaseAgentOptions } from '../agent-model.ts';
import { readReleaseKeys } from '../keys.ts';
import type { Installation, RunState } from '../state.ts';
import { compareVersions } from '../version.ts';
import { parametersText, readDocument } from './document.ts';

export type Acceptance =
  | { readonly ok: true; readonly run: RunState; readonly document: ReleaseDocumentWire }
  | { readonly ok: false; readonly run: RunState };

/** Judges a job execution. A version equal to the running one is accepted: a rehearsal is such a release. */
export async function acceptExecution(
  { jobId, executionNumber, jobDocument }: JobExecutionWire,
  {
    release,
    running,
    at,
  }: {
    readonly release: NonNullable<ReleaseAgentOptions['release']>;
    readonly running: Installation;
    readonly at: string;
  },
): Promise<Acceptance> {
  const reading = readDocument(jobDocument);
  const base = {
    jobId,
    executionNumber,
    from: running,
    since: at,
    starts: 0,
    healthWithinS: release.healthWithinS,
    isReported: false,
    hasJobEnded: false,
  };
  const reject = (reason: string, version: string | null, document: ReleaseDocumentWire | null): Acceptance => ({
    ok: false,
    run: {
      ...base,
      phase: 'rejected',
      to: { folder: null, version: version ?? 'unknown' },
      package: null,
      allowDowngrade: false,
      stage: document?.stage ?? null,
      documentParameters: document === null ? null : parametersText(document),
      detail: reason,
      failure: { phase: 'downloading', reason },
      outcome: 'REJECTED',
    },
  });
  if (!reading.ok) return reject(`Invalid job document: ${reading.problems.join('; ')}.`, reading.version, null);
  const { document } = reading;
  const { version, allowDowngrade = false } = document;
  if (!allowDowngrade && compareVersions(version, running.version) < 0) {
    const reason = `Version ${version} is older than the running version ${running.version}, and the job document does not allow a downgrade (allowDowngrade).`;
    return reject(reason, version, document);
  }
  const keyProblem = await problemOfKey(release.keyFile);
  if (keyProblem !== null) return reject(keyProblem, version, document);
  return {
    ok: true,
    document,
    run: {
      ...base,
      phase: 'downloading',
      to: { folder: null, version },
      package: { bytes: document.package.bytes, sha256: document.package.sha256 },
      allowDowngrade,
      stage: document.stage ?? null,
      documentParameters: parametersText(document),
      detail: null,
      failure: null,
      outcome: null,
    },
  };
}

async function problemOfKey(path: string): Promise<string | null> {
  return await readReleaseKeys(path).then(
    () => null,
    (error) => asGwError(error).message,
  );
}
