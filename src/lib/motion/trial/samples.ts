import type { ChassisLink } from '../../chassis/index.ts';
import type { Clock } from '../../lifecycle/index.ts';
import { onAbort } from '../../lifecycle/index.ts';

/** One message of `/tracked_pose` during a trial. */
export interface PoseSample {
  /** Since the trial began, by the monotonic clock. */
  readonly atMs: number;
  readonly xM: number;
  readonly yM: number;
  /** The number as it came: its unit is what is on trial. */
  readonly ori: number;
}

/** One message of `/planning_state` during a trial. */
export interface PlanSample {
  readonly atMs: number;
  readonly actionId: number;
  readonly moveState: string;
  readonly failReason: number;
}

/** What somebody did or the chassis said beside it: `cancel sent`, `read back`. */
interface EventSample {
  readonly atMs: number;
  readonly what: string;
}

/** Kept in full; what comes faster is thinned, what comes after is counted. Project decisions. */
const MIN_GAP_MS = 25;
const MAX_SAMPLES = 2_000;

export interface Sampler extends Disposable {
  readonly poses: readonly PoseSample[];
  readonly plans: readonly PlanSample[];
  readonly events: readonly EventSample[];
  /** Samples that were not kept, because there were too many. */
  readonly dropped: number;
  /** What made the samples worthless, in one sentence; null while nothing did. The first one stays. */
  readonly spoiled: string | null;
  /** Milliseconds since the trial began. */
  now(): number;
  note(what: string): void;
  /** Waits until it holds, at most `ms`; whether it held. Never rejects; an aborted signal ends it. */
  until(holds: () => boolean, ms: number, signal?: AbortSignal): Promise<boolean>;
}

/**
 * Keeps what the chassis reports during a trial. A new message is a new value object of the link, whatever it says;
 * ages are by the monotonic clock.
 */
export function createSampler(
  link: ChassisLink,
  clock: Clock,
  { onChange = () => {} }: { readonly onChange?: (sampler: Sampler) => void } = {},
): Sampler {
  const beganMs = clock.monotonicMs();
  const poses: PoseSample[] = [];
  const plans: PlanSample[] = [];
  const events: EventSample[] = [];
  const first = link.snapshot().values;
  // What was received before is no sample of this trial.
  let lastPose: unknown = first.pose.status === 'heard' ? first.pose.value : null;
  let lastPlan: unknown = first.planning.status === 'heard' ? first.planning.value : null;
  let dropped = 0;
  let spoiled: string | null = null;
  const waiting = new Set<() => void>();
  const now = () => clock.monotonicMs() - beganMs;

  function look(): void {
    const snapshot = link.snapshot();
    const { pose, planning, wheels, positioning } = snapshot.values;
    if (pose.status === 'heard' && pose.value !== lastPose) {
      lastPose = pose.value;
      const { xM, yM, yawDeg } = pose.value;
      const atMs = now();
      const isTooSoon = atMs - (poses.at(-1)?.atMs ?? Number.NEGATIVE_INFINITY) < MIN_GAP_MS;
      if (isTooSoon || poses.length >= MAX_SAMPLES) dropped += 1;
      else poses.push({ atMs, xM, yM, ori: yawDeg });
    }
    if (planning.status === 'heard' && planning.value !== lastPlan) {
      lastPlan = planning.value;
      const { actionId, moveState, failReason } = planning.value;
      if (plans.length >= MAX_SAMPLES) dropped += 1;
      else plans.push({ atMs: now(), actionId, moveState, failReason });
    }
    if (snapshot.link.kind !== 'connected') spoiled ??= 'the connection to the chassis was lost';
    if (snapshot.unitContradicted) spoiled ??= `/tracked_pose carries radians: ${snapshot.poseUnit.reason}`;
    else if (snapshot.poseUnit.doubt !== null) {
      spoiled ??= `it is in doubt whether /tracked_pose carries degrees: ${snapshot.poseUnit.doubt}`;
    }
    if (wheels.status === 'heard') {
      const { emergencyStopPressed, controlMode, wheelsReleased } = wheels.value;
      if (emergencyStopPressed) spoiled ??= 'the emergency stop was pressed';
      if (controlMode !== 'auto') spoiled ??= `the control mode became '${controlMode}'`;
      if (wheelsReleased === true) spoiled ??= 'the wheels were released';
    }
    if (positioning.status === 'heard' && !positioning.value.reliable) {
      spoiled ??= `the robot lost its position (localisation '${positioning.value.state}')`;
    }
  }

  const subscription = link.subscribe(() => {
    look();
    onChange(sampler);
    for (const awake of [...waiting]) awake();
  });

  const sampler: Sampler = {
    poses,
    plans,
    events,
    get dropped() {
      return dropped;
    },
    get spoiled() {
      return spoiled;
    },
    now,
    note(what) {
      if (events.length < MAX_SAMPLES) events.push({ atMs: now(), what });
    },
    async until(holds, ms, signal) {
      const untilMs = clock.monotonicMs() + ms;
      for (;;) {
        if (holds()) return true;
        const leftMs = untilMs - clock.monotonicMs();
        if (leftMs <= 0 || signal?.aborted === true) return false;
        const { promise, resolve } = Promise.withResolvers<void>();
        waiting.add(resolve);
        using _limit = clock.after(Math.min(200, leftMs), resolve);
        using _aborted = onAbort(signal, resolve);
        await promise;
        waiting.delete(resolve);
      }
    },
    [Symbol.dispose]: () => subscription[Symbol.dispose](),
  };
  look();
  return sampler;
}
