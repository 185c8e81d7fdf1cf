/**
 * The heartbeat of a fleet: every gateway tells its neighbours that it lives, signed with the key of the site, and
 * hears them. Port, period and signature are the platform's; the datagram is ours (docs/heartbeat.md).
 */
export { broadcastSources } from './beacon.ts';
export type { Beat, CoarseState } from './datagram.ts';
export { createFleet, type Fleet, type FleetOptions, type FleetView } from './fleet.ts';
export { keyName, readKeyRing } from './keys.ts';
export { makeKey } from './new-key.ts';
export { readPortTable } from './port-table.ts';
export { createSniffer, type Noise, type SniffView } from './sniffer.ts';
export { closeSocket, openBesideOthers, openBroadcastsOnly } from './socket.ts';
export { sendTestBeats } from './test-beat.ts';
export { PERIOD_MS } from './wire.ts';
