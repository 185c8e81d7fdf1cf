/** Waits of the link, in milliseconds; all are project decisions. Tests pass shorter ones for those of minutes. */
export interface LinkTiming {
  /** Until the first unacknowledged message ends the connection: enough for a slow network. */
  readonly pubackMs: number;
  /** How often the identity is read. */
  readonly pollMs: number;
  /** Between two rounds of attempts: a fleet that lost its broker connects again within the minute, and not in step. */
  readonly retry: { readonly firstMs: number; readonly maxMs: number };
  /** Until a rejected certificate is tried again; each attempt may displace the session in use. */
  readonly renewalRetry: { readonly firstMs: number; readonly maxMs: number };
  /** Until the direct path is tried again from the fallback; a path that fails again after its return waits longer. */
  readonly directRetry: { readonly firstMs: number; readonly maxMs: number };
  /** A direct connection that lasted so long has healed. */
  readonly healedMs: number;
}

export const linkTiming: LinkTiming = {
  pubackMs: 20_000,
  pollMs: 5_000,
  retry: { firstMs: 1_000, maxMs: 30_000 },
  renewalRetry: { firstMs: 60_000, maxMs: 30 * 60_000 },
  directRetry: { firstMs: 5 * 60_000, maxMs: 4 * 3_600_000 },
  healedMs: 10 * 60_000,
};

/** A disk that does not answer must not keep a stop from coming in. */
export const DISK_MS = 500;
