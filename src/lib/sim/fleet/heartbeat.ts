import { createHash, createHmac } from 'node:crypto';

/**
 * Encoder of the heartbeat datagram, from the table in docs/heartbeat.md, without code of the decoder: a shared mistake
 * would stay hidden.
 */

export interface Heartbeat {
  readonly serial: string;
  readonly software: string;
  readonly bootCounter: number;
  readonly sequence: number;
  /** 8 bytes. */
  readonly instance: Uint8Array;
  readonly uptimeS: number;
  readonly moving: boolean;
  readonly stopped: boolean;
  readonly batteryPercent: number;
  readonly xM: number;
  readonly yM: number;
  readonly yawDeg: number;
}

/** A key with its id in the datagram. */
export interface HeartbeatKey {
  readonly secret: Uint8Array;
  /** 4 bytes. */
  readonly id: Uint8Array;
}

const FIXED_BYTES = 48;
const SIGNATURE_BYTES = 32;

export function heartbeatKey(secret: Uint8Array): HeartbeatKey {
  const hash = createHash('sha256').update('gw heartbeat key id').update(Uint8Array.of(0)).update(secret).digest();
  return { secret, id: hash.subarray(0, 4) };
}

export function encodeHeartbeat(heartbeat: Heartbeat, key: HeartbeatKey): Buffer {
  const serial = Buffer.from(heartbeat.serial, 'latin1');
  const software = Buffer.from(heartbeat.software, 'utf8');
  const signedBytes = FIXED_BYTES + 1 + serial.length + 1 + software.length;
  const bytes = Buffer.alloc(signedBytes + SIGNATURE_BYTES);
  bytes.write('GWHB', 0, 'latin1');
  bytes.writeUInt8(1, 4);
  bytes.writeUInt16BE(signedBytes, 6);
  bytes.set(key.id, 8);
  bytes.writeUInt32BE(heartbeat.bootCounter, 12);
  bytes.writeUInt32BE(heartbeat.sequence, 16);
  bytes.set(heartbeat.instance, 20);
  bytes.writeUInt32BE(heartbeat.uptimeS, 28);
  bytes.writeUInt8(heartbeat.moving ? 2 : 1, 32);
  bytes.writeUInt8(heartbeat.stopped ? 2 : 1, 33);
  bytes.writeUInt8(heartbeat.batteryPercent, 34);
  bytes.writeInt32BE(Math.round(heartbeat.xM * 1000), 36);
  bytes.writeInt32BE(Math.round(heartbeat.yM * 1000), 40);
  bytes.writeInt32BE(Math.round(heartbeat.yawDeg * 1000), 44);
  bytes.writeUInt8(serial.length, 48);
  bytes.set(serial, 49);
  bytes.writeUInt8(software.length, 49 + serial.length);
  bytes.set(software, 50 + serial.length);
  bytes.set(createHmac('sha256', key.secret).update(bytes.subarray(0, signedBytes)).digest(), signedBytes);
  return bytes;
}
