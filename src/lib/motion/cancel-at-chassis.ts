import type { ChassisClient } from '../chassis/index.ts';
import { movesOf } from '../chassis/moves.ts';

/**
 * Cancels whatever the chassis drives, without any gateway, gate or latch: for a stop that no gateway answers. Throws as
 * the client does; CHASSIS_REFUSED with the status in its details when it has nothing to cancel or will not.
 */
export async function cancelAtChassis(client: ChassisClient, signal?: AbortSignal): Promise<void> {
  await movesOf(client).cancelCurrent(signal);
}
