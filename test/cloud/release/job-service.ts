import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import type { Answer, CloudRequest, Requester } from '../../../src/lib/cloud/gate/model.ts';
import type { JobExecutionWire, JobStatusWire } from '../../../src/lib/cloud/wire.ts';
import { GwError } from '../../../src/lib/error/index.ts';

interface Kept extends JobExecutionWire {
  history: { status: string; details: Record<string, string> }[];
}

const terminal = new Set<string>(['SUCCEEDED', 'FAILED', 'REJECTED', 'CANCELED', 'TIMED_OUT', 'REMOVED']);

/** The job service of the vendor's description, in a file, so that several processes share it. */
export function createJobService(file: string) {
  const read = (): Kept[] => (existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : []);
  const write = (jobs: Kept[]) => {
    writeFileSync(`${file}.draft`, JSON.stringify(jobs));
    renameSync(`${file}.draft`, file);
  };
  const find = (jobs: Kept[], topic: string) => jobs.find(({ jobId }) => topic.includes(`/${jobId}/`));
  const bare = ({ history: _, ...execution }: Kept): JobExecutionWire => execution;
  const rejected = (code: string): Answer => ({ kind: 'rejected', rejected: { code, message: code } });

  function answer({ kind, topic, body }: CloudRequest): Answer {
    const jobs = read();
    if (kind === 'job-start') {
      const next =
        jobs.find(({ status }) => status === 'IN_PROGRESS') ?? jobs.find(({ status }) => status === 'QUEUED');
      if (next === undefined) return { kind: 'job', execution: null };
      next.status = 'IN_PROGRESS';
      write(jobs);
      return { kind: 'job', execution: bare(next) };
    }
    const job = find(jobs, topic);
    if (job === undefined) return rejected('ResourceNotFound');
    if (kind === 'job-get') return { kind: 'job', execution: bare(job) };
    if (body.executionNumber !== job.executionNumber) return rejected('ResourceNotFound');
    if (terminal.has(job.status)) return rejected('TerminalStateReached');
    job.status = body.status as JobStatusWire;
    job.history.push({ status: job.status, details: body.statusDetails as Record<string, string> });
    write(jobs);
    return { kind: 'job-updated' };
  }

  return {
    add(jobId: string, jobDocument: unknown, executionNumber = 1): JobExecutionWire {
      const job: Kept = {
        ...{ jobId, jobDocument, status: 'QUEUED', queuedAt: 0, lastUpdatedAt: 0, versionNumber: 1, executionNumber },
        history: [],
      };
      write([...read(), job]);
      return bare(job);
    },
    set(jobId: string, change: Partial<Kept>) {
      write(read().map((job) => (job.jobId === jobId ? { ...job, ...change } : job)));
    },
    job: (jobId: string) => read().find((job) => job.jobId === jobId),
    /** `before` may throw, or answer in place of the service; `after` sees the request that was carried out. */
    requester({
      before = () => undefined,
      after = () => {},
    }: {
      before?: (request: CloudRequest) => Answer | undefined;
      after?: (request: CloudRequest) => void;
    } = {}): Requester {
      return {
        async ask(request, { signal }) {
          signal.throwIfAborted();
          const given = before(request) ?? answer(request);
          after(request);
          return given;
        },
      };
    },
  };
}
export type JobService = ReturnType<typeof createJobService>;

export const notConnected = () => new GwError('CLOUD_NOT_CONNECTED', 'not connected');
