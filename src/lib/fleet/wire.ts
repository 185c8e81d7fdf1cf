/**
 * The heartbeat datagram, byte by byte (docs/heartbeat.md). All numbers are big-endian. The specification gives port,
 * period and signature (BELEGT stated); the content before the signature is not shown, and is a project decision.
 */

/** @source specification, 'Limits' (BELEGT stated) */
export const PERIOD_MS = 2000;
/** @source specification, 'Cloud and other network paths' (BELEGT stated) */
export const BROADCAST_ADDRESS = '255.255.255.255';

/** Project decision: fits into one frame of any network, with any encapsulation. */
export const MAX_BYTES = 511;
export const VERSION = 1;
/** 'GWHB'. */
export const MAGIC = 0x47574842;
/** HMAC-SHA256. @source specification, 'Authentication' (BELEGT stated) */
export const SIGNATURE_BYTES = 32;

/** Where each field begins. What has a fixed size comes first. */
export const at = {
  magic: 0,
  version: 4,
  /** Reserved: sent as 0, ignored on receipt. */
  reserved: 5,
  /** Bytes before the signature, including fields of later versions. */
  signedBytes: 6,
  keyId: 8,
  bootCounter: 12,
  sequence: 16,
  instance: 20,
  uptimeS: 28,
  moving: 32,
  stopped: 33,
  batteryPercent: 34,
  purpose: 35,
  poseXMm: 36,
  poseYMm: 40,
  poseYawMilliDeg: 44,
  serialBytes: 48,
  serial: 49,
} as const;

/** Purpose of the sender. Any value but `robot` is not a robot. */
export const purposes = { robot: 0, test: 1 } as const;

/** Encoding of a boolean that may be unknown. */
export const threeValued = { unknown: 0, no: 1, yes: 2 } as const;
export const UNKNOWN_PERCENT = 255;
export const UNKNOWN_INT32 = -0x80000000;
export const MAX_UINT32 = 0xffffffff;
export const MAX_SERIAL_BYTES = 128;
export const MAX_SOFTWARE_BYTES = 64;
/** Of the mark of the map, after the software version; all 0: unknown. */
export const MAP_BYTES = 8;
