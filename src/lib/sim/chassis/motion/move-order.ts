import type { Point } from '../floor/grid.ts';
import { isRecord } from '../maps/map-store.ts';
import { isReal, notSimulated, type RestReply, refuse } from '../rest/rest-reply.ts';

/** A move order as it came, checked. Every target is optional to the vendor's client (HINWEIS). */
export interface MoveOrder {
  readonly creator: string;
  readonly type: string;
  /** Metres on the current map. */
  readonly target_x?: number | null;
  readonly target_y?: number | null;
  readonly target_z?: number | null;
  /** Taken for radians, whatever number comes (specification, 'Angles'). */
  readonly target_ori?: number | null;
  /** Metres. */
  readonly target_accuracy?: number | null;
  /** The move has arrived as soon as it is within `target_accuracy`. */
  readonly use_target_zone?: boolean | null;
  readonly charge_retry_count?: number | null;
  /** `x1, y1, x2, y2` in metres. */
  readonly route_coordinates?: string | null;
  /** Metres, as far as anybody knows: the vendor names no unit. */
  readonly detour_tolerance?: number | null;
}

const SIMULATED = ['standard', 'charge', 'along_given_route'];
/** Moves of the vendor's list that are not simulated, with the reason that the answer gives. */
const lackingTypes: Readonly<Record<string, string>> = {
  return_to_elevator_waiting_point: 'lifts',
  enter_elevator: 'lifts',
  leave_elevator: 'lifts',
  align_with_rack: 'racks',
  to_unload_point: 'racks',
  follow_target: 'targets that it could follow',
};
const NUMBERS = ['target_x', 'target_y', 'target_z', 'target_ori', 'target_accuracy', 'detour_tolerance'] as const;
/** More would only keep the planner busy. */
const MOST_ROUTE_POINTS = 10_000;

/** Reads a move request, or gives its refusal. Unknown fields are let through, as vendors do. */
export function readOrder(body: unknown): { readonly order: MoveOrder } | { readonly refusal: RestReply } {
  const bad = (text: string) => ({ refusal: refuse(400, text) });
  if (!isRecord(body)) return bad('body must be an object');
  const { creator = '', type } = body;
  if (typeof creator !== 'string') return bad('creator must be a string');
  if (typeof type !== 'string') return bad('type must be a string');
  const lacking = Object.hasOwn(lackingTypes, type) ? lackingTypes[type] : undefined;
  if (lacking !== undefined) return { refusal: notSimulated(`moves of the type ${type}; there are no ${lacking}`) };
  if (!SIMULATED.includes(type)) return bad(`type must be one of ${SIMULATED.join(', ')}`);
  const has = (key: string) => body[key] !== undefined && body[key] !== null;
  for (const key of NUMBERS) if (has(key) && !isReal(body[key])) return bad(`${key} must be a number or null`);
  if (has('charge_retry_count') && !Number.isInteger(body.charge_retry_count)) {
    return bad('charge_retry_count must be an integer');
  }
  if (has('use_target_zone') && typeof body.use_target_zone !== 'boolean') {
    return bad('use_target_zone must be a boolean or null');
  }
  if (has('route_coordinates') && typeof body.route_coordinates !== 'string') {
    return bad('route_coordinates must be a string "x1, y1, x2, y2"');
  }
  if (has('target_x') !== has('target_y')) return bad('target_x and target_y belong together');
  if (type === 'standard' && !has('target_x')) return bad('a standard move needs target_x and target_y');
  return { order: { ...(body as unknown as MoveOrder), creator, type } };
}

/** Where an order leads by its own words. */
export function targetOf({ target_x: xM, target_y: yM }: MoveOrder): Point | undefined {
  return typeof xM === 'number' && typeof yM === 'number' ? { xM, yM } : undefined;
}

/** The points of a given route; undefined where they are none: an odd count, less than two, or no numbers. */
export function readRoute(text: string | null | undefined): readonly Point[] | undefined {
  const numbers = (text ?? '').split(',').map((part) => (part.trim() === '' ? Number.NaN : Number(part)));
  if (numbers.length < 4 || numbers.length % 2 !== 0 || numbers.length > 2 * MOST_ROUTE_POINTS) return undefined;
  if (!numbers.every(isReal)) return undefined;
  return Array.from({ length: numbers.length / 2 }, (_, i) => ({
    xM: numbers[2 * i] ?? 0,
    yM: numbers[2 * i + 1] ?? 0,
  }));
}
