import type { Point } from '../floor/grid.ts';
import { isRecord } from '../maps/map-store.ts';
import { isReal, notSimulated, type RestReply, refuse } from '../rest/rest-reply.ts';

/** A validated move order. Every target is optional in the vendor's client (HINWEIS). */
export interface MoveOrder {
  readonly creator: string;
  readonly type: string;
  /** Metres on the current map. */
  readonly target_x?: number | null;
  readonly target_y?: number | null;
  readonly target_z?: number | null;
  /** Read as radians, whatever its value (specification, 'Angles'). */
  readonly target_ori?: number | null;
  /** Metres. */
  readonly target_accuracy?: number | null;
  /** The move succeeds as soon as it is within `target_accuracy`. */
  readonly use_target_zone?: boolean | null;
  readonly charge_retry_count?: number | null;
}

const SIMULATED = ['standard', 'charge'];
/** Types of the vendor that are not simulated, with what the answer names as missing. */
const unsupportedTypes: Readonly<Record<string, string>> = {
  along_given_route: 'given routes',
  return_to_elevator_waiting_point: 'lifts',
  enter_elevator: 'lifts',
  leave_elevator: 'lifts',
  align_with_rack: 'racks',
  to_unload_point: 'racks',
  follow_target: 'targets to follow',
};
const NUMBERS = ['target_x', 'target_y', 'target_z', 'target_ori', 'target_accuracy'] as const;

/** Parses a move request, or returns its refusal. Unknown fields are accepted. */
export function readOrder(body: unknown): { readonly order: MoveOrder } | { readonly refusal: RestReply } {
  const invalid = (text: string) => ({ refusal: refuse(400, text) });
  if (!isRecord(body)) return invalid('body must be an object');
  const { creator = '' } = body;
  const type = body.type ?? 'standard';
  if (typeof creator !== 'string') return invalid('creator must be a string');
  if (typeof type !== 'string') return invalid('type must be a string');
  const missing = Object.hasOwn(unsupportedTypes, type) ? unsupportedTypes[type] : undefined;
  if (missing !== undefined) return { refusal: notSimulated(`moves of the type ${type}; there are no ${missing}`) };
  if (!SIMULATED.includes(type)) return invalid(`type must be one of ${SIMULATED.join(', ')}`);
  const has = (key: string) => body[key] !== undefined && body[key] !== null;
  for (const key of NUMBERS) if (has(key) && !isReal(body[key])) return invalid(`${key} must be a number or null`);
  if (has('charge_retry_count') && !Number.isInteger(body.charge_retry_count)) {
    return invalid('charge_retry_count must be an integer');
  }
  if (has('use_target_zone') && typeof body.use_target_zone !== 'boolean') {
    return invalid('use_target_zone must be a boolean or null');
  }
  if (has('target_x') !== has('target_y')) return invalid('target_x and target_y must be given together');
  if (type === 'standard' && !has('target_x')) return invalid('a standard move needs target_x and target_y');
  return { order: { ...(body as unknown as MoveOrder), creator, type } };
}

/** The target of an order; undefined without one. */
export function targetOf({ target_x: xM, target_y: yM }: MoveOrder): Point | undefined {
  return typeof xM === 'number' && typeof yM === 'number' ? { xM, yM } : undefined;
}
