import type { Degrees } from '../angle/index.ts';
import { sendChecked } from './checked-order.ts';
import { accepted, insideOf, parseReply } from './client.ts';
import { decodeTargetOri, encodePoseOri, encodeTargetOri } from './codec.ts';
import type { ChassisClient } from './model.ts';
import { moveCreatedSchema, moveSchema } from './schema.ts';
import { limits } from './transport.ts';
import { type MoveRequestWire, type PoseRequestWire, paths } from './wire.ts';

/**
 * The calls that move the robot or change where it believes to be. Only the motion room imports this file: it is
 * the one door to movement and asks its gate first.
 */
interface MoveRequest {
  readonly type: 'standard' | 'charge';
  /** Metres on the current map. */
  readonly xM: number;
  readonly yM: number;
  /** Absent: the chassis chooses. */
  readonly yawDeg?: Degrees;
  /** How near is near enough, in metres. */
  readonly accuracyM?: number;
}

interface PoseRequest {
  readonly xM: number;
  readonly yM: number;
  readonly yawDeg: Degrees;
  /** Lets the lidar correct small errors. Always sent: what the chassis does without it is undefined. */
  readonly adjust: boolean;
}

interface MoveReport {
  readonly moveId: number;
  /** The chassis' own word, passed through: `moving`, `succeeded`, …; null when it names none. */
  readonly state: string | null;
  /** Passed through; only 103 has a measured meaning. Valid only when the move failed. */
  readonly failReason: number | null;
  /** For people; spellings differ between versions, so nothing compares it. */
  readonly failReasonText: string | null;
  readonly yawDeg: Degrees | null;
}

export interface ChassisMoves {
  /** Throws as the client does; CHASSIS_NOT_CONNECTED after sending leaves open whether the order was taken. */
  move(request: MoveRequest, signal?: AbortSignal): Promise<{ readonly moveId: number }>;
  setPose(request: PoseRequest, signal?: AbortSignal): Promise<void>;
  readMove(moveId: number, signal?: AbortSignal): Promise<MoveReport>;
  /** CHASSIS_REFUSED with the status in its details when the chassis has nothing to cancel or will not. */
  cancelCurrent(signal?: AbortSignal): Promise<void>;
}

/**
 * The moving side of a client. An order travels over a connection of its own on which the serial number was asked
 * first: an address that has changed hands since the last look must not move another robot.
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
    async cancelCurrent(signal) {
      // Stopping asks nobody first: not the gate, not the serial number.
      const path = paths.currentMove;
      const body = { state: 'cancelled' };
      await transport.overOwnConnection(async (send) => {
        const reply = await send({ method: 'PATCH', path, body, limits: limits.document, signal });
        await accepted(send, reply, path, signal);
      });
    },
  };
}
