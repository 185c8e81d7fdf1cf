import type { Degrees } from '../angle/index.ts';
import { sendChecked } from './checked-order.ts';
import { accepted, insideOf, parseReply } from './client.ts';
import { decodeTargetOri, encodePoseOri, encodeTargetOri } from './codec.ts';
import type { ChassisClient, CurrentMap } from './model.ts';
import { moveCreatedSchema, moveSchema } from './schema.ts';
import { limits } from './transport.ts';
import { type MoveRequestWire, type PoseRequestWire, paths } from './wire.ts';

/**
 * The calls that move the robot or set its pose. Only the motion module imports this file: it is the single path to
 * movement and checks its gate first.
 */
interface MoveRequest {
  readonly type: 'standard' | 'charge';
  /** Metres on the current map. */
  readonly xM: number;
  readonly yM: number;
  /** Absent: the chassis chooses the heading. */
  readonly yawDeg?: Degrees;
  /** Accepted distance from the target, in metres. */
  readonly accuracyM?: number;
}

interface PoseRequest {
  readonly xM: number;
  readonly yM: number;
  readonly yawDeg: Degrees;
  /** Allows the lidar to correct small errors. Always sent: without it the behaviour of the chassis is undefined. */
  readonly adjust: boolean;
}

interface MoveReport {
  readonly moveId: number;
  /** State as the chassis reports it, passed through: `moving`, `succeeded`, …; null when it reports none. */
  readonly state: string | null;
  /** Passed through; only 103 has a measured meaning. Valid only when the move failed. */
  readonly failReason: number | null;
  /** For display only: spellings differ between versions. */
  readonly failReasonText: string | null;
  readonly yawDeg: Degrees | null;
}

export interface ChassisMoves {
  /** Throws as the client does; after CHASSIS_NOT_CONNECTED it is unknown whether the order was accepted. */
  move(request: MoveRequest, signal?: AbortSignal): Promise<{ readonly moveId: number }>;
  setPose(request: PoseRequest, signal?: AbortSignal): Promise<void>;
  readMove(moveId: number, signal?: AbortSignal): Promise<MoveReport>;
  /** The map that the chassis uses now, on which the metres of an order count; null when it uses none. */
  readMap(signal?: AbortSignal): Promise<CurrentMap | null>;
  /** CHASSIS_REFUSED with the status in its details when the chassis has nothing to cancel or will not. */
  cancelCurrent(signal?: AbortSignal): Promise<void>;
}

/**
 * The movement calls of a client. An order is sent over a connection of its own on which the serial number is
 * verified first: an address that was reassigned since the last check must not move another robot.
 * @source paths and angle units: specification, 'Chassis interface', 'Angles'; other fields: vendor (HINWEIS)
 */
export function movesOf(client: ChassisClient): ChassisMoves {
  const { transport } = insideOf(client);
  const order = (path: string, body: object, signal: AbortSignal | undefined) =>
    sendChecked(client, { method: 'POST', path, body, limits: limits.document, signal });

  return {
    async move(request, signal) {
      const body: MoveRequestWire = {
        creator: 'gw',
        type: request.type,
        target_x: request.xM,
        target_y: request.yM,
        target_z: 0,
        ...(request.yawDeg !== undefined && { target_ori: encodeTargetOri(request.yawDeg) }),
        ...(request.accuracyM !== undefined && { target_accuracy: request.accuracyM }),
      };
      const { value } = parseReply(await order(paths.moves, body, signal), moveCreatedSchema);
      return { moveId: value.id };
    },
    async setPose(request, signal) {
      const body: PoseRequestWire = {
        position: [request.xM, request.yM, 0],
        ori: encodePoseOri(request.yawDeg),
        adjust_position: request.adjust,
      };
      await order(paths.pose, body, signal);
    },
    async readMove(moveId, signal) {
      const path = `${paths.moves}/${moveId}`;
      const reply = await transport.send({ method: 'GET', path, limits: limits.document, signal });
      const { value } = parseReply(await accepted(transport.send, reply, path, signal), moveSchema);
      return {
        moveId: value.id,
        state: value.state ?? null,
        failReason: value.fail_reason ?? null,
        failReasonText: value.fail_reason_str,
        yawDeg: typeof value.target_ori === 'number' ? decodeTargetOri(value.target_ori) : null,
      };
    },
    readMap: (signal) => client.currentMap(signal),
    async cancelCurrent(signal) {
      // A stop is sent without any check: neither the gate nor the serial number.
      const path = paths.currentMove;
      const body = { state: 'cancelled' };
      await transport.overOwnConnection(async (send) => {
        const reply = await send({ method: 'PATCH', path, body, limits: limits.document, signal });
        await accepted(send, reply, path, signal);
      });
    },
  };
}
