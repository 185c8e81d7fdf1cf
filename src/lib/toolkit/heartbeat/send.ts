import { GwError } from '../../error/index.ts';
import { PERIOD_MS, readKeyRing, sendTestHeartbeats } from '../../fleet/index.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import { fleetOf } from './fleet.ts';
import type { HeartbeatSend } from './heartbeat.result.ts';

export interface HeartbeatSendOptions {
  /** Only to these addresses; absent: broadcast and fleet.unicast of the site file. */
  readonly to?: readonly string[] | undefined;
  /** For how long, one every 2 s; absent: one. */
  readonly seconds?: number | undefined;
}

/**
 * Sends test heartbeats, to check a network path. Throws SITE_FILE_INVALID without `fleet` in the site file,
 * SECRET_UNREADABLE, and USAGE without a destination.
 */
export async function sendHeartbeat(
  { site, clock }: Toolkit,
  { to, seconds }: HeartbeatSendOptions,
  { signal, onProgress }: CheckContext,
): Promise<HeartbeatSend> {
  const fleet = fleetOf(site);
  const { signing } = await readKeyRing(fleet);
  const times = seconds === undefined ? 1 : Math.floor((seconds * 1_000) / PERIOD_MS) + 1;
  onProgress(times === 1 ? 'sending' : `sending ${times} heartbeats`);
  const { serial, ways } = await sendTestHeartbeats({
    key: signing,
    broadcast: to === undefined && fleet.broadcast,
    unicast: to ?? fleet.unicast,
    times,
    clock,
    signal,
  });
  if (ways.length === 0) {
    throw new GwError('USAGE', 'No destination: no broadcast interface, no address.', {
      remedy: 'Give an address: gw heartbeat send --once --to ADDRESS',
    });
  }
  return { serial, times, ways };
}
