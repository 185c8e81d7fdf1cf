/** What is known of the unit of `ori` on this device. 'not-decided' is neither green nor an error. */
export type PoseUnit = 'degrees' | 'radians' | 'not-decided';

/** One message of `/tracked_pose`, with its arrival time by the monotonic clock. */
export interface PoseSample {
  /** As received: its unit is what is judged. */
  readonly ori: number;
  readonly xM: number;
  readonly yM: number;
  readonly atMs: number;
  /** It may have been measured this long before it arrived; absent: it came as regularly as the others. */
  readonly lateMs?: number;
  /** All of this connection were under way for up to this long when it arrived; absent or 0: not known, or at once. */
  readonly delayMs?: number;
  /** The stream shows changes so coarsely that only a rest of this time shows that the robot stands; absent: it does not. */
  readonly restMs?: number;
  /** It repeats poses, and renews them in single steps: a pose may be older than it is. */
  readonly isStepwise?: true;
}
