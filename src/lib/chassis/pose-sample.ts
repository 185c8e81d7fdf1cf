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
}
