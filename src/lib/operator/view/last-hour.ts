import type { ChassisSnapshot } from '../../chassis/index.ts';
import type { Clock } from '../../lifecycle/index.ts';
import type { LastHour } from '../../pages/index.ts';

const SAMPLE_MS = 10_000;
/** One hour: the bound of its memory. */
const MAX_SAMPLES = 360;

interface Sample {
  readonly batteryPercent: number | null;
  readonly poseAgeMs: number | null;
  readonly speedMS: number | null;
  readonly roundTripMs: number | null;
  readonly connected: boolean | null;
}

const nothingKnown: Sample = {
  batteryPercent: null,
  poseAgeMs: null,
  speedMS: null,
  roundTripMs: null,
  connected: null,
};

export interface SampledHour extends Disposable {
  view(): LastHour;
}

/** Keeps one sample of the chassis link every 10 s in memory, for the charts of the technician page. */
export function createLastHour(read: () => ChassisSnapshot, clock: Pick<Clock, 'monotonicMs' | 'after'>): SampledHour {
  const beganMs = clock.monotonicMs();
  const samples: Sample[] = [];
  /** Number of the newest sample since the start. */
  let newest = -1;
  let takenMs = beganMs;
  let next: Disposable | undefined;

  function take(): void {
    const nowMs = clock.monotonicMs();
    // A timer may be early by a millisecond.
    const at = Math.round((nowMs - beganMs) / SAMPLE_MS);
    if (at > newest) {
      // After a suspended process nothing is known of the time between.
      for (let missed = Math.min(at - newest - 1, MAX_SAMPLES); missed > 0; missed -= 1) samples.push(nothingKnown);
      samples.push(sampleOf(read(), samples.at(-1) ?? nothingKnown, nowMs - takenMs));
      samples.splice(0, Math.max(0, samples.length - MAX_SAMPLES));
      [newest, takenMs] = [at, nowMs];
    }
    next = clock.after(dueMs(newest + 1) - nowMs, take);
  }

  const dueMs = (sample: number) => beganMs + sample * SAMPLE_MS;
  const column = <K extends keyof Sample>(key: K) => samples.map((sample) => sample[key]);
  take();
  return {
    view: () => ({
      sampleMs: SAMPLE_MS,
      ageMs: Math.max(0, clock.monotonicMs() - dueMs(newest)),
      batteryPercent: column('batteryPercent'),
      poseAgeMs: column('poseAgeMs'),
      speedMS: column('speedMS'),
      roundTripMs: column('roundTripMs'),
      connected: column('connected'),
    }),
    [Symbol.dispose]: () => next?.[Symbol.dispose](),
  };
}

/** What is known at this moment: a value that is not current is not. */
function sampleOf(snapshot: ChassisSnapshot, before: Sample, sinceBeforeMs: number): Sample {
  const { link, linkForMs, roundTripMs, standing, values } = snapshot;
  const { battery, pose } = values;
  const isConnected = link.kind === 'connected';
  const isBatteryKnown = battery.status === 'received' && !battery.stale && battery.value.orPercent === undefined;
  const isPoseKnown = isConnected && pose.status === 'received' && pose.staleReason !== 'not-received-since-reconnect';
  // An outage between two samples would be a connected hour otherwise.
  const wasAway = before.connected !== null && linkForMs < sinceBeforeMs;
  return {
    batteryPercent: isBatteryKnown ? battery.value.percent : null,
    poseAgeMs: isPoseKnown ? pose.ageMs : null,
    speedMS: isConnected ? speedOf(standing) : null,
    roundTripMs: isConnected ? roundTripMs : null,
    connected: link.kind === 'connecting' ? null : isConnected && !wasAway,
  };
}

/** By its poses; what is left of a robot that stands is their noise. */
function speedOf({ verdict, speedMS }: ChassisSnapshot['standing']): number | null {
  return verdict === 'stands' ? 0 : speedMS;
}
