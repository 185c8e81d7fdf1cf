import type { RejectedWire, ShadowAcceptedWire } from '../../../cloud/wire.ts';
import type { Clock } from '../../../lifecycle/index.ts';
import { isRecord } from '../../chassis/maps/map-store.ts';
import { parseRequest, tokenOf, unknownKey } from './request.ts';

type State = Readonly<Record<string, unknown>>;

/** The shadow of one device. */
export interface ShadowView {
  readonly reported: State;
  readonly desired: State;
  /** Counts the updates; 0: there was none. */
  readonly version: number;
}

export interface ShadowOptions {
  /** Milliseconds since 1970 by the clock of the cloud. */
  readonly now: () => number;
  readonly clock: Pick<Clock, 'after'>;
  /** Time until an answer is sent; meanwhile its request counts as unacknowledged. */
  readonly answerMs: () => number;
  /** Whether each request fails with an internal error. */
  readonly isFailing: () => boolean;
  /** Sends below the start of the shadow topics of a device. */
  readonly send: (serial: string, suffix: string, body: object) => void;
}

/** @source vendor, quota pages (HINWEIS) */
const MAX_DOCUMENT_BYTES = 8 * 1024;
const MAX_DEPTH = 8;
const MAX_UNACKNOWLEDGED = 10;
const empty: ShadowView = { reported: {}, desired: {}, version: 0 };

/** The device shadow of a common vendor (HINWEIS), and stricter: unknown fields of a request are rejected. */
export function createShadows({ now, clock, answerMs, isFailing, send }: ShadowOptions) {
  const shadows = new Map<string, ShadowView>();
  const unacknowledged = new Map<string, number>();
  const seconds = () => Math.floor(now() / 1_000);
  const viewOf = (serial: string) => shadows.get(serial) ?? empty;

  /** Undefined: the request was accepted. */
  function update(serial: string, body: State): { code: number; message: string } | undefined {
    const unknown = unknownKey(body, ['state', 'clientToken', 'version']);
    if (unknown !== undefined) return { code: 400, message: `Unknown field '${unknown}'` };
    const { state, version } = body;
    if (!isRecord(state)) return { code: 400, message: 'Missing required node: state' };
    const part = unknownKey(state, ['reported', 'desired']);
    if (part !== undefined) return { code: 400, message: `Unknown field 'state.${part}'` };
    const { reported = {}, desired = {} } = state;
    if (!(isRecord(reported) || reported === null) || !(isRecord(desired) || desired === null)) {
      return { code: 400, message: 'State contains a value of the wrong type' };
    }
    if (depthOf(state) > MAX_DEPTH + 1) return { code: 400, message: `JSON contains more than ${MAX_DEPTH} levels` };
    const before = viewOf(serial);
    if (version !== undefined && version !== before.version) return { code: 409, message: 'Version conflict' };
    const after: ShadowView = {
      reported: reported === null ? {} : merge(before.reported, reported),
      desired: desired === null ? {} : merge(before.desired, desired),
      version: before.version + 1,
    };
    const { version: _, ...kept } = after;
    if (Buffer.byteLength(JSON.stringify(kept)) > MAX_DOCUMENT_BYTES) {
      return { code: 413, message: 'The payload exceeds the maximum size allowed' };
    }
    shadows.set(serial, after);
    const timestamp = seconds();
    const accepted: ShadowAcceptedWire = { state, version: after.version, timestamp, ...tokenOf(body) };
    send(serial, 'update/accepted', accepted);
    const delta = differenceOf(after.desired, after.reported);
    if (Object.keys(delta).length > 0) {
      send(serial, 'update/delta', { state: delta, version: after.version, timestamp });
    }
    return undefined;
  }

  function get(serial: string, body: State): { code: number; message: string } | undefined {
    const shadow = shadows.get(serial);
    if (shadow === undefined) return { code: 404, message: `No shadow exists with name: '${serial}'` };
    const { version, ...state } = shadow;
    send(serial, 'get/accepted', { state, version, timestamp: seconds(), ...tokenOf(body) });
    return undefined;
  }

  return {
    /** Answers a request on a topic below the start of the shadow topics; answers and other topics are ignored. */
    receive(serial: string, suffix: string, payload: Uint8Array): void {
      if (suffix !== 'update' && suffix !== 'get') return;
      const body = parseRequest(payload);
      const pending = unacknowledged.get(serial) ?? 0;
      const refusal = isFailing()
        ? { code: 500, message: 'Internal service failure' }
        : pending >= MAX_UNACKNOWLEDGED
          ? { code: 429, message: 'Too many requests' }
          : body === undefined
            ? { code: 400, message: 'Payload is not valid JSON' }
            : suffix === 'get'
              ? get(serial, body)
              : update(serial, body);
      if (refusal !== undefined) {
        const rejected: RejectedWire = { ...refusal, timestamp: seconds(), ...tokenOf(body) };
        send(serial, `${suffix}/rejected`, rejected);
      }
      const waitMs = answerMs();
      if (waitMs > 0) {
        unacknowledged.set(serial, pending + 1);
        clock.after(waitMs, () => unacknowledged.set(serial, (unacknowledged.get(serial) ?? 1) - 1));
      }
    },
    view: viewOf,
  };
}

/** `null` deletes a key. */
function merge(before: State, change: State): State {
  const after: Record<string, unknown> = { ...before };
  for (const [key, value] of Object.entries(change)) {
    const old = after[key];
    if (value === null) delete after[key];
    else after[key] = isRecord(value) ? merge(isRecord(old) ? old : {}, value) : value;
  }
  return after;
}

/** The desired values that are not reported. */
function differenceOf(desired: State, reported: State): State {
  const difference: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(desired)) {
    const own = reported[key];
    if (isRecord(value) && isRecord(own)) {
      const inner = differenceOf(value, own);
      if (Object.keys(inner).length > 0) difference[key] = inner;
    } else if (JSON.stringify(value) !== JSON.stringify(own)) difference[key] = value;
  }
  return difference;
}

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}
