import { GwError } from '../../error/index.ts';
import { PERIOD_MS, readKeyRing, sendTestBeats } from '../../fleet/index.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import { fleetOf } from './fleet.ts';
import type { HeartbeatSend } from './send.result.ts';

export interface HeartbeatSendOptions {
  /** Only to these addresses; absent: as the site file says, by broadcast and to its list. */
  readonly to?: readonly string[] | undefined;
  /** For how long, one every 2 s; absent: one. */
  readonly seconds?: number | undefined;
}

/**
 * Sends beats that are marked as a test, to try a path. Throws SITE_FILE_INVALID without `fleet` in the site file,
 * SECRET_UNREADABLE, and USAGE when there is nowhere to send to.
 */
export async function sendHeartbeat(
  { site, clock }: Toolkit,
  { to, seconds }: HeartbeatSendOptions,
  { signal, onProgress }: CheckContext,
): Promise<HeartbeatSend> {
  const fleet = fleetOf(site);
  const { signing } = await readKeyRing(fleet);
  const times = seconds === undefined ? 1 : Math.floor((seconds * 1_000) / PERIOD_MS) + 1;
  onProgress(times === 1 ? 'sending' : `sending ${times} beats`);
  const { serial, ways } = await sendTestBeats({
    key: signing,
    broadcast: to === undefined && fleet.broadcast,
    unicast: to ?? fleet.unicast,
    times,
    clock,
    signal,
  });
  if (ways.length === 0) {
    throw new GwError('USAGE', 'There is nowhere to send to: no interface broadcasts, and no address is named.', {
      remedy: 'Name one: gw heartbeat send --once --to ADDRESS.',
    });
  }
  return { serial, times, ways: ways.map((way) => ({ ...way })) };
}
