import { type ChassisLink, type Obstacle, obstaclesIn, type PoseUnit } from '../../chassis/index.ts';
import type { Clock } from '../../lifecycle/index.ts';
import { onAbort } from '../../lifecycle/index.ts';
import { frameNow, leftFrame } from '../map-frame.ts';

/** One message of `/tracked_pose` during a trial. */
export interface PoseSample {
  /** Since the trial began, by the monotonic clock; negative before it. */
  readonly atMs: number;
  readonly xM: number;
  readonly yM: number;
  /** The number as received: its unit is on trial. */
  readonly ori: number;
  /** It may have been measured this long before it arrived. */
  readonly lateMs?: number;
  /** The stream shows changes so coarsely that only a rest of this time shows that the robot stands. */
  readonly restMs?: number;
  /** It repeats poses, and renews them in single steps. */
  readonly isStepwise?: true;
}

/** One message of `/planning_state` during a trial. */
export interface PlanSample {
  readonly atMs: number;
  readonly actionId: number;
  readonly moveState: string;
  readonly failReason: number;
}

/** An action or response during a trial: `cancel sent`, `GET of move 7: moving`. */
interface EventSample {
  readonly atMs: number;
  readonly what: string;
}

/** Of samples that arrive together the newest is kept, and samples beyond the maximum are counted. Project decisions. */
const MIN_GAP_MS = 40;
/** More than the longest trial has at this gap: without new poses nothing is known of the robot. */
const MAX_SAMPLES = 6_000;

export interface Sampler extends Disposable {
  /** Those that the link still has from before the trial come first: they show whether the robot stood. */
  readonly poses: readonly PoseSample[];
  /** Unit of `ori` as far as it is known now. */
  readonly unit: PoseUnit;
  readonly plans: readonly PlanSample[];
  readonly events: readonly EventSample[];
  /** Number of samples that were not kept. */
  readonly dropped: number;
  /** The first event that invalidated the samples, in one sentence; null without one. */
  readonly invalidatedBy: string | null;
  /** Milliseconds since the trial began. */
  now(): number;
  note(what: string): void;
  /** Waits until `holds` returns true, at most `ms`; returns whether it did. Never rejects; an abort ends it. */
  until(holds: () => boolean, ms: number, signal?: AbortSignal): Promise<boolean>;
}

/**
 * Records what the chassis reports during a trial. A new value object of the link is a new message, also with the same
 * content; times are by the monotonic clock.
 */
export function createSampler(
  link: ChassisLink,
  clock: Clock,
  { onChange = () => {} }: { readonly onChange?: (sampler: Sampler) => void } = {},
): Sampler {
  const beganMs = clock.monotonicMs();
  const { values: first, poses: earlier } = link.snapshot();
  const map = frameNow(first);
  const poses: PoseSample[] = earlier.map((pose) => ({ ...pose, atMs: pose.atMs - beganMs }));
  const plans: PlanSample[] = [];
  const events: EventSample[] = [];
  // A value received earlier is no new message.
  let lastPose: unknown = first.pose.status === 'received' ? first.pose.value : null;
  let lastPlan: unknown = first.planning.status === 'received' ? first.planning.value : null;
  let dropped = 0;
  /** The first of the poses that arrived together with the newest one. */
  let together: Pick<PoseSample, 'atMs' | 'lateMs'> = { atMs: Number.NEGATIVE_INFINITY };
  let invalidatedBy: string | null = null;
  const waiting = new Set<() => void>();
  const now = () => clock.monotonicMs() - beganMs;

  function sample(): void {
    const snapshot = link.snapshot();
    const { pose, planning } = snapshot.values;
    if (pose.status === 'received' && pose.value !== lastPose) {
      lastPose = pose.value;
      const { xM, yM, yawDeg } = pose.value;
      const atMs = now();
      const added = { ...snapshot.poses.at(-1), atMs, xM, yM, ori: yawDeg };
      const isTogether = atMs - together.atMs < MIN_GAP_MS;
      if (!isTogether) together = added;
      const isReplaced = isTogether && (together.lateMs === undefined || poses.at(-1) !== together);
      if (isReplaced) poses.pop();
      if (isReplaced || poses.length >= MAX_SAMPLES) dropped += 1;
      if (poses.length < MAX_SAMPLES) poses.push(added);
    }
    if (planning.status === 'received' && planning.value !== lastPlan) {
      lastPlan = planning.value;
      const { actionId, moveState, failReason } = planning.value;
      if (plans.length >= MAX_SAMPLES) dropped += 1;
      else plans.push({ atMs: now(), actionId, moveState, failReason });
    }
    if (snapshot.link.kind !== 'connected') invalidatedBy ??= 'the connection to the chassis was lost';
    if (snapshot.unitContradicted) invalidatedBy ??= `/tracked_pose carries radians: ${snapshot.poseUnit.reason}`;
    else if (snapshot.poseUnit.doubt !== null) {
      invalidatedBy ??= `unit of /tracked_pose is in doubt (degrees were measured): ${snapshot.poseUnit.doubt}`;
    }
    if (map !== null) {
      const about = { isConnected: snapshot.link.kind === 'connected', linkForMs: snapshot.linkForMs };
      invalidatedBy ??= leftFrame(map, snapshot.values, about);
    }
    for (const obstacle of obstaclesIn(snapshot.values)) invalidatedBy ??= invalidation(obstacle);
  }

  const subscription = link.subscribe(() => {
    sample();
    onChange(sampler);
    for (const wake of [...waiting]) wake();
  });

  const sampler: Sampler = {
    poses,
    get unit() {
      return link.snapshot().poseUnit.verdict;
    },
    plans,
    events,
    get dropped() {
      return dropped;
    },
    get invalidatedBy() {
      return invalidatedBy;
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
  sample();
  return sampler;
}

function invalidation(obstacle: Obstacle): string {
  switch (obstacle.kind) {
    case 'emergency-stop':
      return 'the emergency stop was pressed';
    case 'wheels-released':
      return 'the wheels were released';
    case 'control-mode':
      return `the control mode changed to '${obstacle.mode}'`;
    case 'position-lost':
      return `the robot lost its position (localisation '${obstacle.state}')`;
    case 'mapping':
      return 'the robot began to map';
    case 'position-poor':
      return 'the robot was not sure of its position';
    case 'unreadable':
      return `a message of ${obstacle.topic} could not be read: ${obstacle.why}`;
  }
}
