/**
 * The heartbeat between the robots of a site: sent by every gateway, signed with the site key, and received by the others.
 * Port, period and signature are specified by the platform; the datagram is a project decision (docs/heartbeat.md).
 */
export type { CoarseState, Heartbeat, Rejections } from './datagram.ts';
export {
  BOOTS_FILE,
  bootsAfter,
  bootsIn,
  createFleet,
  type Fleet,
  type FleetOptions,
  type FleetView,
  readPortTable,
} from './fleet.ts';
export { keyName, readKeyRing } from './keys.ts';
export { presenceOf } from './neighbours.ts';
export { makeKey } from './new-key.ts';
export { createSniffer, type SniffView } from './sniffer.ts';
export { broadcastSources, closeSocket, openBesideOthers, openBroadcastsOnly } from './socket.ts';
export { sendTestHeartbeats } from './test-heartbeat.ts';
export { PERIOD_MS } from './wire.ts';
