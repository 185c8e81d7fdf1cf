import type { ChassisLink } from '../chassis/index.ts';
import type { CoarseState, FleetView } from '../fleet/index.ts';
import { frameNow, type Motion } from '../motion/index.ts';
import type { GatewayHealth, NeighboursView } from '../operator/index.ts';
import { mapMark } from '../site/index.ts';
import { robotMoves } from './robot-moves.ts';

/** Without a key no heartbeat is received, which is 'not checked' and not 'no other robots'. */
export const notListening: NeighboursView = {
  status: 'not-checked',
  detail: 'No heartbeat is received: the site file has no fleet.keyFile.',
  robots: [],
  rejected: null,
  isTableFull: null,
  ownSerialFrom: null,
  lastTest: null,
  sending: null,
  dropped: null,
};

/**
 * The other robots for the operator server; `why`: the reason while the heartbeat is not running. `ownMap`: the mark of the map
 * that this robot uses now; null: not known.
 */
export function neighboursView(
  { running, robots, rejected, isTableFull, lastTest, sending, dropped, ownSerialFrom }: FleetView,
  why: string | null,
  ownMap: string | null,
): NeighboursView {
  const counts = { alive: 0, late: 0, gone: 0 };
  for (const { presence } of robots) counts[presence] += 1;
  const cloned = robots.flatMap(({ serial, address, conflictWith }) =>
    conflictWith === null ? [] : [`${serial} from ${address} and ${conflictWith}`],
  );
  const clones = cloned.length === 0 ? '' : ` SERIAL CONFLICT: ${cloned.join(', ')}.`;
  const own = ownSerialFrom === null ? '' : ` Another device at ${ownSerialFrom} sends with the serial of this robot.`;
  const full =
    isTableFull === true
      ? ` The table of serials is full: of unknown robots only those of fleet.robots are received (${rejected.tableFull} heartbeats rejected).`
      : '';
  return {
    status: running ? 'listening' : 'not-checked',
    detail: running
      ? `${counts.alive} alive, ${counts.late} late, ${counts.gone} gone.${clones}${own}${full}`
      : `The heartbeat is not running, so none is sent or received: ${why ?? 'it is starting.'}`,
    robots: robots.map(({ serial, address, presence, ageMs, heartbeat, heartbeats, lost, conflictWith }) => ({
      serial,
      address,
      presence,
      ageMs: Math.round(ageMs),
      upForMs: heartbeat.uptimeS * 1000,
      moving: heartbeat.state.moving,
      stopped: heartbeat.state.stopped,
      batteryPercent: heartbeat.state.batteryPercent,
      pose: heartbeat.state.pose,
      map: heartbeat.state.map,
      isOnThisMap: ownMap === null || heartbeat.state.map === null ? null : heartbeat.state.map === ownMap,
      software: heartbeat.state.software === '' ? null : heartbeat.state.software,
      heartbeats,
      lost,
      conflictWith,
    })),
    rejected,
    isTableFull,
    ownSerialFrom,
    lastTest: lastTest === null ? null : { ...lastTest, ageMs: Math.round(lastTest.ageMs) },
    sending:
      sending === null
        ? null
        : { ...sending, lastAgeMs: sending.lastAgeMs === null ? null : Math.round(sending.lastAgeMs) },
    dropped,
  };
}

/** Two devices with one serial number: which of them a state, an order or a stop is about cannot be known. */
export function fleetHealth({ status, detail, robots, ownSerialFrom }: NeighboursView): GatewayHealth['fleet'] {
  if (status === 'not-checked') return { status, detail };
  const isConflict = ownSerialFrom !== null || robots.some(({ conflictWith }) => conflictWith !== null);
  return { status: isConflict ? 'conflict' : 'ok', detail };
}

/** The mark of the map that the robot uses now; null while that is not known. */
export function currentMapMark(link: ChassisLink): string | null {
  const map = frameNow(link.snapshot().values);
  return map === null ? null : mapMark(map);
}

/** The state of this robot for its heartbeat: only what the chassis has reported or its poses show. */
export function coarseState(link: ChassisLink, motion: Motion): CoarseState {
  const snapshot = link.snapshot();
  const { values, identity } = snapshot;
  const { pose, battery } = values;
  return {
    moving: robotMoves(snapshot),
    stopped: motion.status().stop.latched,
    batteryPercent:
      battery.status === 'received' && battery.value.orPercent === undefined ? battery.value.percent : null,
    pose: pose.status === 'received' ? pose.value : null,
    map: currentMapMark(link),
    software: identity?.software ?? '',
  };
}
