import type { ChassisClient } from '../chassis/index.ts';
import { movesOf } from '../chassis/moves.ts';

/**
 * Cancels the current move directly at the chassis, without gateway, gate or latch: for a stop that no gateway answers.
 * Throws as the client does; CHASSIS_REFUSED with the status in its details when the chassis refuses the cancel.
 */
export async function cancelAtChassis(client: ChassisClient, signal?: AbortSignal): Promise<void> {
  await movesOf(client).cancelCurrent(signal);
}
