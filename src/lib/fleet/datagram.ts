import { type Degrees, degrees } from '../angle/index.ts';
import type { HeartbeatKey, KeyRing } from './keys.ts';
import {
  at,
  MAGIC,
  MAP_BYTES,
  MAX_BYTES,
  MAX_SERIAL_BYTES,
  MAX_SOFTWARE_BYTES,
  MAX_UINT32,
  purposes,
  SIGNATURE_BYTES,
  threeValued,
  UNKNOWN_INT32,
  UNKNOWN_PERCENT,
  VERSION,
} from './wire.ts';

/** State of a robot as known to its gateway: null is 'unknown', never 'no'. */
export interface CoarseState {
  readonly moving: boolean | null;
  readonly stopped: boolean | null;
  /** 0 to 100, whole. */
  readonly batteryPercent: number | null;
  /** Metres of its map, to the millimetre, and degrees to a thousandth. */
  readonly pose: { readonly xM: number; readonly yM: number; readonly yawDeg: Degrees } | null;
  /** `mapMark` of the map and its version in which the pose counts, 16 hex digits. */
  readonly map: string | null;
  /** Version of the chassis software; '' when not known. */
  readonly software: string;
}

/** One heartbeat. */
export interface Heartbeat {
  readonly serial: string;
  /** Increments with every start of the heartbeat. */
  readonly bootCounter: number;
  /** Increments with every heartbeat, from 0 at each boot. */
  readonly sequence: number;
  /** Random per boot, so that two devices with one serial differ in it. 16 hex digits. */
  readonly instance: string;
  /** Of the gateway, in whole seconds. */
  readonly uptimeS: number;
  readonly state: CoarseState;
}

/**
 * Why a datagram is rejected. `malformed`: not a heartbeat, or inconsistent. `otherVersion`: a heartbeat of an unsupported
 * version. `otherKey`: signed with a key that is not accepted. `forged`: the signature does not match the named key.
 */
export const noRejection = { malformed: 0, otherVersion: 0, otherKey: 0, forged: 0 };
export type Rejections = typeof noRejection;

/** 'test': sent by `gw heartbeat send`. Only 'heartbeat' describes a robot. */
export type DecodedDatagram =
  | { readonly kind: 'heartbeat' | 'test'; readonly heartbeat: Heartbeat }
  | { readonly kind: keyof Rejections };

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const CONTROL = /\p{Cc}/u;
const MARK = /^[0-9a-f]{16}$/;
const SERIAL = /^[A-Za-z0-9:_-]{1,128}$/;
const MM = 1000;
const MILLI = 1000;
const MAX_INT32 = 0x7fffffff;

/** Encodes and signs a heartbeat. A value that does not fit its field is sent as unknown; a long software version is truncated. */
export function encodeHeartbeat(
  { serial, bootCounter, sequence, instance, uptimeS, state }: Heartbeat,
  key: HeartbeatKey,
  purpose: keyof typeof purposes = 'robot',
): Buffer {
  const serialBytes = Buffer.from(serial, 'latin1');
  // Text of a device; a control character in it would make the whole heartbeat malformed.
  const software = cutText(CONTROL.test(state.software) ? '' : state.software, MAX_SOFTWARE_BYTES);
  const mapAt = at.serial + serialBytes.length + 1 + software.length;
  const signedBytes = mapAt + MAP_BYTES;
  const bytes = Buffer.alloc(signedBytes + SIGNATURE_BYTES);
  bytes.writeUInt32BE(MAGIC, at.magic);
  bytes[at.version] = VERSION;
  bytes.writeUInt16BE(signedBytes, at.signedBytes);
  bytes.writeUInt32BE(key.id, at.keyId);
  bytes.writeUInt32BE(bootCounter, at.bootCounter);
  bytes.writeUInt32BE(sequence, at.sequence);
  bytes.write(instance, at.instance, 'hex');
  bytes.writeUInt32BE(Math.min(Math.max(0, Math.floor(uptimeS)), MAX_UINT32), at.uptimeS);
  bytes[at.moving] = threeValuedOf(state.moving);
  bytes[at.stopped] = threeValuedOf(state.stopped);
  bytes[at.batteryPercent] = percentOf(state.batteryPercent);
  bytes[at.purpose] = purposes[purpose];
  const pose = poseOf(state.pose);
  bytes.writeInt32BE(pose?.[0] ?? UNKNOWN_INT32, at.poseXMm);
  bytes.writeInt32BE(pose?.[1] ?? UNKNOWN_INT32, at.poseYMm);
  bytes.writeInt32BE(pose?.[2] ?? UNKNOWN_INT32, at.poseYawMilliDeg);
  bytes[at.serialBytes] = serialBytes.length;
  serialBytes.copy(bytes, at.serial);
  bytes[at.serial + serialBytes.length] = software.length;
  software.copy(bytes, at.serial + serialBytes.length + 1);
  if (state.map !== null && MARK.test(state.map)) bytes.write(state.map, mapAt, 'hex');
  key.sign(bytes.subarray(0, signedBytes)).copy(bytes, signedBytes);
  return bytes;
}

/**
 * Decodes and verifies a datagram. Never throws, keeps no state for a datagram that is not verified. Without keys a
 * 'heartbeat' is an unverified claim: for display only, never for a decision.
 */
export function decodeHeartbeat(bytes: Buffer, keys: KeyRing | null): DecodedDatagram {
  // The frame that all versions share: magic, version, length and the place of the signature.
  if (bytes.length > MAX_BYTES || bytes.length < at.keyId + SIGNATURE_BYTES) return { kind: 'malformed' };
  const signedBytes = bytes.readUInt16BE(at.signedBytes);
  if (bytes.readUInt32BE(at.magic) !== MAGIC || signedBytes + SIGNATURE_BYTES !== bytes.length) {
    return { kind: 'malformed' };
  }
  if (bytes[at.version] !== VERSION) return { kind: 'otherVersion' };
  // At least a serial of one character and an empty software version.
  if (signedBytes < at.serial + 2) return { kind: 'malformed' };
  if (keys !== null) {
    const key = keys.byId(bytes.readUInt32BE(at.keyId));
    if (key === undefined) return { kind: 'otherKey' };
    if (!key.verifies(bytes.subarray(0, signedBytes), bytes.subarray(signedBytes))) return { kind: 'forged' };
  }
  const heartbeat = fieldsOf(bytes, signedBytes);
  if (heartbeat === null) return { kind: 'malformed' };
  return { kind: bytes[at.purpose] === purposes.robot ? 'heartbeat' : 'test', heartbeat };
}

/** The fields of this version; one that an earlier writer lacks is unknown, and later fields are ignored. */
function fieldsOf(bytes: Buffer, signedBytes: number): Heartbeat | null {
  const serialBytes = bytes[at.serialBytes] ?? 0;
  const softwareAt = at.serial + serialBytes + 1;
  if (serialBytes > MAX_SERIAL_BYTES || softwareAt > signedBytes) return null;
  const softwareBytes = bytes[softwareAt - 1] ?? 0;
  if (softwareBytes > MAX_SOFTWARE_BYTES || softwareAt + softwareBytes > signedBytes) return null;
  const serial = bytes.toString('latin1', at.serial, at.serial + serialBytes);
  const software = textOf(bytes.subarray(softwareAt, softwareAt + softwareBytes));
  const moving = bytes[at.moving] ?? 0;
  const stopped = bytes[at.stopped] ?? 0;
  if (!SERIAL.test(serial) || software === null) return null;
  const percent = bytes[at.batteryPercent] ?? UNKNOWN_PERCENT;
  const xMm = bytes.readInt32BE(at.poseXMm);
  const yMm = bytes.readInt32BE(at.poseYMm);
  const yawMilliDeg = bytes.readInt32BE(at.poseYawMilliDeg);
  const isPlaced = xMm !== UNKNOWN_INT32 && yMm !== UNKNOWN_INT32 && yawMilliDeg !== UNKNOWN_INT32;
  return {
    serial,
    bootCounter: bytes.readUInt32BE(at.bootCounter),
    sequence: bytes.readUInt32BE(at.sequence),
    instance: bytes.toString('hex', at.instance, at.uptimeS),
    uptimeS: bytes.readUInt32BE(at.uptimeS),
    state: {
      moving: booleanOf(moving),
      stopped: booleanOf(stopped),
      batteryPercent: percent <= 100 ? percent : null,
      map: markOf(bytes.subarray(softwareAt + softwareBytes, signedBytes)),
      pose: isPlaced ? { xM: xMm / MM, yM: yMm / MM, yawDeg: degrees(yawMilliDeg / MILLI) } : null,
      software,
    },
  };
}

function threeValuedOf(value: boolean | null): number {
  if (value === null) return threeValued.unknown;
  return value ? threeValued.yes : threeValued.no;
}

/** Values of later versions count as unknown. */
function booleanOf(written: number): boolean | null {
  if (written === threeValued.yes) return true;
  return written === threeValued.no ? false : null;
}

function percentOf(percent: number | null): number {
  if (percent === null || !(percent >= 0 && percent <= 100)) return UNKNOWN_PERCENT;
  return Math.round(percent);
}

/** null when any value does not fit its field. */
function poseOf(pose: CoarseState['pose']): readonly [number, number, number] | null {
  if (pose === null) return null;
  const [x, y, yaw] = [Math.round(pose.xM * MM), Math.round(pose.yM * MM), Math.round(pose.yawDeg * MILLI)];
  return [x, y, yaw].every((value) => Math.abs(value) <= MAX_INT32) ? [x, y, yaw] : null;
}

/** Of the fields after the software version; null where there is none. */
function markOf(fields: Buffer): string | null {
  const mark = fields.subarray(0, MAP_BYTES);
  return mark.length === MAP_BYTES && mark.some((byte) => byte !== 0) ? mark.toString('hex') : null;
}

/** As UTF-8, truncated at a character boundary. */
function cutText(text: string, maxBytes: number): Buffer {
  let bytes = Buffer.from(text.toWellFormed());
  if (bytes.length <= maxBytes) return bytes;
  let end = maxBytes;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  bytes = bytes.subarray(0, end);
  return bytes;
}

/** null for invalid UTF-8 and for text with control characters. */
function textOf(bytes: Uint8Array): string | null {
  try {
    const text = utf8.decode(bytes);
    return CONTROL.test(text) ? null : text;
  } catch {
    return null;
  }
}
