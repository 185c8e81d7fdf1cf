/** One message of `/tracked_pose`, with when it arrived by the monotonic clock. */
export interface PoseSample {
  /** As it came: its unit is what is judged. */
  readonly ori: number;
  readonly xM: number;
  readonly yM: number;
  readonly atMs: number;
}
