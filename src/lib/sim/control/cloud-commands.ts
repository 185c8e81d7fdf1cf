import { resolve } from 'node:path';
import { GwError } from '../../error/index.ts';
import { type Clock, readWhole, systemClock } from '../../lifecycle/index.ts';
import type { CloudAction, CloudResults } from './cloud-actions.ts';
import type { SimCloudJob, SimCloudRelease, SimCloudSend } from './control.result.ts';
import { callSim, DEFAULT_DIR, defaultPointerFile } from './request.ts';

/** The simulator to control: by default that of ./gw-sim, or the last started one. */
export interface SimTarget {
  readonly dir?: string | undefined;
  readonly pointerFile?: string | undefined;
}

const POLL_MS = 500;
/** Above the limit of the broker, so that an oversized message can be sent. */
const MAX_PAYLOAD_BYTES = 512 * 1024;

/** The simulator reads and hashes a package. */
const CLOUD_TIMEOUT_MS = 60_000;

/** Has the cloud of a running simulator do something. Throws SIM_NOT_RUNNING, USAGE, and the error of the action. */
export async function askCloud<A extends CloudAction>(
  { dir, pointerFile = defaultPointerFile() }: SimTarget,
  cloud: A,
): Promise<CloudResults[A['action']]> {
  const what = { action: 'control the simulated cloud', timeoutMs: CLOUD_TIMEOUT_MS };
  const reply = await callSim(dir ?? DEFAULT_DIR, dir === undefined ? pointerFile : undefined, { cloud }, what);
  return reply as unknown as CloudResults[A['action']];
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
  const made = await askCloud(target, { action: 'release', file: resolve(file), ...about });
  let { job } = made;
  const endMs = clock.monotonicMs() + (waitMs ?? 0);
  while (!hasEnded(job) && clock.monotonicMs() < endMs) {
    onStatus(job);
    await clock.sleep(POLL_MS, signal);
    // By its folder: another simulator may have been started meanwhile.
    const { jobs } = await askCloud({ dir: made.dir }, { action: 'jobs' });
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
  return askCloud(target, { action: 'send', topic, payloadBase64, retain });
}

async function readPayload(path: string): Promise<Uint8Array> {
  try {
    return await readWhole(path, MAX_PAYLOAD_BYTES);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new GwError('FILE_UNREADABLE', `${path} cannot be read (${code}).`, { cause: error });
  }
}
