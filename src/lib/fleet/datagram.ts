import { type Degrees, degrees } from '../angle/index.ts';
import type { HeartbeatKey, KeyRing } from './keys.ts';
import {
  at,
  MAGIC,
  MOST_BYTES,
  MOST_SERIAL_BYTES,
  MOST_SOFTWARE_BYTES,
  MOST_UINT32,
  purposes,
  SIGNATURE_BYTES,
  threeValued,
  UNKNOWN_INT32,
  UNKNOWN_PERCENT,
  VERSION,
} from './wire.ts';

/** How a robot is, as far as its gateway knows: null is 'not known', never 'no'. */
export interface CoarseState {
  readonly moving: boolean | null;
  readonly stopped: boolean | null;
  /** 0 to 100, whole. */
  readonly batteryPercent: number | null;
  /** Metres of its map, to the millimetre, and degrees to a thousandth. Which map is not said. */
  readonly pose: { readonly xM: number; readonly yM: number; readonly yawDeg: Degrees } | null;
  /** Version of the chassis software; '' when not known. */
  readonly software: string;
}

/** One heartbeat. */
export interface Beat {
  readonly serial: string;
  /** Grows with every start of the gateway, and when the sequence is used up. */
  readonly bootCounter: number;
  /** Grows with every beat, from 0 after a start. */
  readonly sequence: number;
  /** Chosen by chance at every start: two devices with one serial differ in it. 16 hex digits. */
  readonly instance: string;
  /** Of the gateway, in whole seconds. */
  readonly uptimeS: number;
  readonly state: CoarseState;
}

/**
 * What a datagram turned out to be. 'malformed': no heartbeat at all, or one that contradicts itself. 'other-version':
 * a heartbeat that this version cannot read. 'other-key': signed with a key that is not accepted here. 'forged': the
 * key is named and the signature is not its. 'test': signed, and sent by a person to see whether a path works. Only
 * 'beat' holds anything that its sender may decide about.
 */
export type Opened =
  | { readonly kind: 'beat' | 'test'; readonly beat: Beat }
  | { readonly kind: 'malformed' | 'other-version' | 'other-key' | 'forged' };

const malformed: Opened = { kind: 'malformed' };
const otherVersion: Opened = { kind: 'other-version' };
const otherKey: Opened = { kind: 'other-key' };
const forged: Opened = { kind: 'forged' };

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const CONTROL = /\p{Cc}/u;
const SERIAL = /^[A-Za-z0-9:_-]{1,128}$/;
const MM = 1000;
const MILLI = 1000;
const MOST_INT32 = 0x7fffffff;

/** Signs and packs; `purpose` is a robot's unless it is said. What does not fit a field is sent as not known; a software version that is too long is cut. */
export function packBeat(
  { serial, bootCounter, sequence, instance, uptimeS, state }: Beat,
  key: HeartbeatKey,
  purpose: keyof typeof purposes = 'robot',
): Buffer {
  const serialBytes = Buffer.from(serial, 'latin1');
  // It comes from a device; with a control character in it the whole beat would be refused.
  const software = cutText(CONTROL.test(state.software) ? '' : state.software, MOST_SOFTWARE_BYTES);
  const signedBytes = at.serial + serialBytes.length + 1 + software.length;
  const bytes = Buffer.alloc(signedBytes + SIGNATURE_BYTES);
  bytes.writeUInt32BE(MAGIC, at.magic);
  bytes[at.version] = VERSION;
  bytes.writeUInt16BE(signedBytes, at.signedBytes);
  bytes.writeUInt32BE(key.id, at.keyId);
  bytes.writeUInt32BE(bootCounter, at.bootCounter);
  bytes.writeUInt32BE(sequence, at.sequence);
  bytes.write(instance, at.instance, 'hex');
  bytes.writeUInt32BE(Math.min(Math.max(0, Math.floor(uptimeS)), MOST_UINT32), at.uptimeS);
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
  key.sign(bytes.subarray(0, signedBytes)).copy(bytes, signedBytes);
  return bytes;
}

/** Looks at a datagram. Never throws, and keeps nothing: the cost of one that is not signed ends with this call. */
export function openDatagram(bytes: Buffer, keys: KeyRing): Opened {
  const framed = frameOf(bytes);
  if (typeof framed === 'string') return framed === 'malformed' ? malformed : otherVersion;
  const key = keys.byId(framed.keyId);
  if (key === undefined) return otherKey;
  const { signedBytes } = framed;
  if (!key.verifies(bytes.subarray(0, signedBytes), bytes.subarray(signedBytes))) return forged;
  const beat = fieldsOf(bytes, signedBytes);
  return beat === null ? malformed : { kind: bytes[at.purpose] === purposes.robot ? 'beat' : 'test', beat };
}

/**
 * The same without a key: a 'beat' is then what somebody says, true or not. Only for people who look at the network,
 * never for a decision.
 */
export function openUnverified(bytes: Buffer): Opened {
  const framed = frameOf(bytes);
  if (typeof framed === 'string') return framed === 'malformed' ? malformed : otherVersion;
  const beat = fieldsOf(bytes, framed.signedBytes);
  return beat === null ? malformed : { kind: bytes[at.purpose] === purposes.robot ? 'beat' : 'test', beat };
}

/** What every version shares: magic, version, length and the place of the signature. */
function frameOf(bytes: Buffer): { signedBytes: number; keyId: number } | 'malformed' | 'other-version' {
  if (bytes.length > MOST_BYTES || bytes.length < at.keyId + SIGNATURE_BYTES) return 'malformed';
  if (bytes.readUInt32BE(at.magic) !== MAGIC) return 'malformed';
  const signedBytes = bytes.readUInt16BE(at.signedBytes);
  if (signedBytes + SIGNATURE_BYTES !== bytes.length) return 'malformed';
  if (bytes[at.version] !== VERSION) return 'other-version';
  // Serial of one letter, no software version.
  if (signedBytes < at.serial + 2) return 'malformed';
  return { signedBytes, keyId: bytes.readUInt32BE(at.keyId) };
}

/** The fields of this version; what follows them is of a later one and is left alone. */
function fieldsOf(bytes: Buffer, signedBytes: number): Beat | null {
  const serialBytes = bytes[at.serialBytes] ?? 0;
  const softwareAt = at.serial + serialBytes + 1;
  if (serialBytes > MOST_SERIAL_BYTES || softwareAt > signedBytes) return null;
  const softwareBytes = bytes[softwareAt - 1] ?? 0;
  if (softwareBytes > MOST_SOFTWARE_BYTES || softwareAt + softwareBytes > signedBytes) return null;
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
      pose: isPlaced ? { xM: xMm / MM, yM: yMm / MM, yawDeg: degrees(yawMilliDeg / MILLI) } : null,
      software,
    },
  };
}

function threeValuedOf(value: boolean | null): number {
  if (value === null) return threeValued.unknown;
  return value ? threeValued.yes : threeValued.no;
}

/** A value of a later version is one that nobody here knows. */
function booleanOf(written: number): boolean | null {
  if (written === threeValued.yes) return true;
  return written === threeValued.no ? false : null;
}

function percentOf(percent: number | null): number {
  if (percent === null || !(percent >= 0 && percent <= 100)) return UNKNOWN_PERCENT;
  return Math.round(percent);
}

/** null when any of it does not fit. */
function poseOf(pose: CoarseState['pose']): readonly [number, number, number] | null {
  if (pose === null) return null;
  const [x, y, yaw] = [Math.round(pose.xM * MM), Math.round(pose.yM * MM), Math.round(pose.yawDeg * MILLI)];
  return [x, y, yaw].every((value) => Math.abs(value) <= MOST_INT32) ? [x, y, yaw] : null;
}

/** In UTF-8, cut between two characters. */
function cutText(text: string, mostBytes: number): Buffer {
  let bytes = Buffer.from(text.toWellFormed());
  if (bytes.length <= mostBytes) return bytes;
  let end = mostBytes;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  bytes = bytes.subarray(0, end);
  return bytes;
}

/** null for bytes that are no text, or text that would not stay on its line. */
function textOf(bytes: Uint8Array): string | null {
  try {
    const text = utf8.decode(bytes);
    return CONTROL.test(text) ? null : text;
  } catch {
    return null;
  }
}
