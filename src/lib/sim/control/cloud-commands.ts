import { resolve } from 'node:path';
import { GwError } from '../../error/index.ts';
import { type Clock, readWhole, systemClock } from '../../lifecycle/index.ts';
import type { CloudAction } from './cloud-actions.ts';
import type {
  SimCloudCancel,
  SimCloudJob,
  SimCloudJobs,
  SimCloudReceived,
  SimCloudRelease,
  SimCloudRestart,
  SimCloudSend,
  SimCloudStop,
} from './control.result.ts';
import { controlCloud, DEFAULT_DIR, defaultPointerFile } from './request.ts';

/** The simulator to control: by default that of ./gw-sim, or the last started one. */
export interface SimTarget {
  readonly dir?: string | undefined;
  readonly pointerFile?: string | undefined;
}

const POLL_MS = 500;
/** Above the limit of the broker, so that an oversized message can be sent. */
const MAX_PAYLOAD_BYTES = 512 * 1024;

/** All throw SIM_NOT_RUNNING, and USAGE when the simulator has no cloud. */
export async function askCloud<T>({ dir, pointerFile = defaultPointerFile() }: SimTarget, action: CloudAction) {
  const reply = await controlCloud(dir ?? DEFAULT_DIR, dir === undefined ? pointerFile : undefined, action);
  return { dir: reply.dir, ...(reply.result as T) };
}

export function simCloudStop(
  target: SimTarget,
  stop: {
    readonly reason?: string | undefined;
    readonly by?: string | undefined;
    readonly serial?: string | undefined;
  },
): Promise<SimCloudStop> {
  return askCloud<Omit<SimCloudStop, 'dir'>>(target, { action: 'stop', ...stop });
}

export interface SimReleaseOptions {
  readonly file: string;
  readonly version?: string | undefined;
  readonly stage?: number | undefined;
  readonly allowDowngrade: boolean;
  readonly serial?: string | undefined;
  /** How long to wait for the end of the job; undefined: not at all. */
  readonly waitMs?: number | undefined;
  readonly signal: AbortSignal;
  readonly onStatus?: (job: SimCloudJob) => void;
  readonly clock?: Clock;
}

/** Creates the job of a release. Throws FILE_UNREADABLE, INTERRUPTED as reason of the signal. */
export async function simCloudRelease(target: SimTarget, options: SimReleaseOptions): Promise<SimCloudRelease> {
  const { file, waitMs, signal, onStatus = () => {}, clock = systemClock, ...about } = options;
  const { version, stage, allowDowngrade, serial } = about;
  const made = await askCloud<Pick<SimCloudRelease, 'job' | 'connected'>>(target, {
    action: 'release',
    file: resolve(file),
    version,
    stage,
    allowDowngrade,
    serial,
  });
  let { job } = made;
  const endMs = clock.monotonicMs() + (waitMs ?? 0);
  while (!hasEnded(job) && clock.monotonicMs() < endMs) {
    onStatus(job);
    await clock.sleep(POLL_MS, signal);
    // By its folder: another simulator may have been started meanwhile.
    const { jobs } = await simCloudJobs({ dir: made.dir });
    const found = jobs.findLast(({ jobId, serial: of }) => jobId === job.jobId && of === job.serial);
    if (found === undefined) {
      throw new GwError('SIM_NOT_RUNNING', `The simulator in ${made.dir} has no job ${job.jobId} any more.`, {
        remedy: 'It was restarted: release the package again.',
      });
    }
    job = found;
  }
  return { dir: made.dir, job, connected: made.connected, waited: waitMs !== undefined, ended: hasEnded(job) };
}

function hasEnded({ status }: SimCloudJob): boolean {
  return status !== 'QUEUED' && status !== 'IN_PROGRESS';
}

/** Throws USAGE without exactly one of payload and file, or for one that is too large; FILE_UNREADABLE. */
export async function simCloudSend(
  target: SimTarget,
  message: {
    readonly topic: string;
    readonly payload?: string | undefined;
    readonly file?: string | undefined;
    readonly retain: boolean;
  },
): Promise<SimCloudSend> {
  const { topic, payload, file, retain } = message;
  if ((payload === undefined) === (file === undefined)) {
    throw new GwError('USAGE', 'Either a payload or --file is required.', {
      remedy: `For example: gw sim cloud send ${topic} '{"id":"a"}'`,
    });
  }
  if (!/^[^#+\0]{1,65535}$/.test(topic)) throw new GwError('USAGE', `'${topic}' is not a topic to publish to.`);
  const bytes = file === undefined ? Buffer.from(payload ?? '') : await readPayload(file);
  if (bytes.length > MAX_PAYLOAD_BYTES) {
    throw new GwError('USAGE', `The payload has ${bytes.length} bytes; at most ${MAX_PAYLOAD_BYTES} can be sent.`, {
      remedy: 'Send a smaller payload.',
    });
  }
  const payloadBase64 = Buffer.from(bytes).toString('base64');
  return askCloud<Omit<SimCloudSend, 'dir'>>(target, { action: 'send', topic, payloadBase64, retain });
}

export async function simCloudReceived(
  target: SimTarget,
  { topic, last }: { readonly topic?: string | undefined; readonly last: number },
): Promise<SimCloudReceived> {
  const found = await askCloud<Omit<SimCloudReceived, 'dir' | 'topic'>>(target, { action: 'received', topic, last });
  return { ...found, topic: topic ?? null };
}

export function simCloudRestart(target: SimTarget): Promise<SimCloudRestart> {
  return askCloud<Omit<SimCloudRestart, 'dir'>>(target, { action: 'restart' });
}

export function simCloudJobs(target: SimTarget): Promise<SimCloudJobs> {
  return askCloud<Omit<SimCloudJobs, 'dir'>>(target, { action: 'jobs' });
}

export function simCloudCancel(
  target: SimTarget,
  job: { readonly jobId: string; readonly force: boolean; readonly serial?: string | undefined },
): Promise<SimCloudCancel> {
  return askCloud<Omit<SimCloudCancel, 'dir'>>(target, { action: 'cancel', ...job });
}

async function readPayload(path: string): Promise<Uint8Array> {
  try {
    return await readWhole(path, MAX_PAYLOAD_BYTES);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new GwError('FILE_UNREADABLE', `${path} cannot be read (${code}).`, { cause: error });
  }
}
