import type { CheckContext, Toolkit } from '../toolkit.ts';
import type { CloudDiscarded } from './cloud.result.ts';
import { type CloudOptions, readCloudStatus } from './status.ts';

/** The messages from the cloud that the running gateway has discarded, by reason. Throws OPERATOR_NOT_REACHABLE. */
export async function readCloudDiscarded(
  toolkit: Toolkit,
  options: CloudOptions,
  context: CheckContext,
): Promise<CloudDiscarded> {
  const { status, detail, remedy, received } = await readCloudStatus(toolkit, options, context);
  const link = { status, detail, remedy };
  if (received === null) return { link, total: null, byReason: null, accepted: null, last: [] };
  const { discarded: byReason, lastDiscarded: last, unsavedStops: _unsavedStops, ...accepted } = received;
  const total = Object.values(byReason).reduce((sum, count) => sum + count, 0);
  return { link, total, byReason, accepted, last };
}
