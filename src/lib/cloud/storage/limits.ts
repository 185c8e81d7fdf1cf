import type { TransferLimits } from './model.ts';

/**
 * Project decision. A link with less than 1 KiB/s would take a day for a release; the transfer is then resumed over a
 * new connection instead of held open.
 */
export const transferLimits: TransferLimits = {
  maxTries: 8,
  maxExpired: 3,
  firstBackoffMs: 1_000,
  maxBackoffMs: 60_000,
  idleMs: 30_000,
  windowMs: 60_000,
  minWindowBytes: 60 * 1024,
  progressBytes: 64 * 1024,
};
