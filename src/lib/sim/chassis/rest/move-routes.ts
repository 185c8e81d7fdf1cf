import type { Faults } from '../../faults.ts';
import { isRecord } from '../maps/map-store.ts';
import { readOrder } from '../motion/move-order.ts';
import { moveWire } from '../motion/move-wire.ts';
import type { Move } from '../motion/moves.ts';
import type { Robot } from '../robot.ts';
import { created, isReal, notFound, ok, type RestReply, type RestRequest, type Route, refuse } from './rest-reply.ts';

/** `/chassis/moves` and `/chassis/pose` as vendor facts 1.3 and 1.4 describe them (HINWEIS). */
export function createMoveRoutes({ robot, faults }: { readonly robot: Robot; readonly faults: Faults }) {
  const { maps, moves } = robot;
  const full = (move: Move) => moveWire(move, 'full', succeededWord());

  function succeededWord(): string {
    return faults.is('unknown-state') ? 'finished' : 'succeeded';
  }

  function create({ body }: RestRequest): RestReply {
    const read = readOrder(body);
    if ('refusal' in read) return read.refusal;
    if (!maps.current()) return refuse(400, 'no current map');
    return created(full(robot.order(read.order)));
  }

  function setPose({ body }: RestRequest): RestReply {
    if (!isRecord(body)) return refuse(400, 'body must be an object');
    const { position, ori, adjust_position: adjust } = body;
    // The vendor's client sends two elements, its text shows three.
    if (!Array.isArray(position) || position.length < 2 || position.length > 3 || !position.every(isReal)) {
      return refuse(400, 'position must be [x, y, z] in metres');
    }
    if (!isReal(ori)) return refuse(400, 'ori must be a number');
    if (adjust !== undefined && typeof adjust !== 'boolean') return refuse(400, 'adjust_position must be a boolean');
    if (!maps.current()) return refuse(400, 'no current map');
    if (moves.isMoving()) return refuse(400, 'a move is running');
    const [xM, yM] = position as [number, number];
    // Radians, without a plausibility check (specification, 'Angles').
    robot.setPose({ xM, yM, yawRad: ori });
    return created({ position, ori, ...(adjust !== undefined && { adjust_position: adjust }) });
  }

  const one = (move: Move | undefined, what: string) => (move ? ok(full(move)) : notFound(what));

  const routes: readonly Route[] = [
    ['GET', /^\/chassis\/moves$/, () => ok(moves.list().map((move) => moveWire(move, 'item', succeededWord())))],
    ['POST', /^\/chassis\/moves$/, create],
    // Not described by the vendor; a public integrator polls it (HINWEIS). The running move, or the last one.
    ['GET', /^\/chassis\/moves\/current$/, () => one(moves.latest(), 'current move')],
    [
      'PATCH',
      /^\/chassis\/moves\/current$/,
      ({ body }) => {
        if (!isRecord(body) || body.state !== 'cancelled') return refuse(400, 'state must be cancelled');
        if (faults.is('cancel-refused') && moves.isMoving()) return refuse(500, 'internal error');
        return moves.cancel() ? ok({ state: 'cancelled' }) : notFound('current move');
      },
    ],
    ['GET', /^\/chassis\/moves\/(\d{1,9})$/, (_, id) => one(moves.get(Number(id)), 'move')],
    ['POST', /^\/chassis\/pose$/, setPose],
  ];
  return routes;
}
