/**
 * The heartbeat datagram, byte by byte (docs/heartbeat.md). All numbers are big-endian. The specification gives port,
 * period and signature (BELEGT); what stands before the signature is not shown, and is a decision of ours.
 */

/** @source specification, 'Limits' (BELEGT) */
export const PERIOD_MS = 2000;
/** @source specification, 'Cloud and other network paths' (BELEGT) */
export const BROADCAST_ADDRESS = '255.255.255.255';

/** Decision of ours: fits into one frame of any network, whatever it is wrapped in. */
export const MOST_BYTES = 511;
export const VERSION = 1;
/** 'GWHB'. */
export const MAGIC = 0x47574842;
/** HMAC-SHA256. @source specification, 'Authentication' (BELEGT) */
export const SIGNATURE_BYTES = 32;

/** Where each field begins. What has a fixed size comes first. */
export const at = {
  magic: 0,
  version: 4,
  /** Reserved: 0 when sent, not looked at when received. */
  reserved: 5,
  /** Bytes before the signature; what follows the fields of this version in them belongs to a later one. */
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

/** Whether a robot speaks. Any value but that of a robot is none. */
export const purposes = { robot: 0, test: 1 } as const;

/** How yes and no are written where nobody may know. */
export const threeValued = { unknown: 0, no: 1, yes: 2 } as const;
export const UNKNOWN_PERCENT = 255;
export const UNKNOWN_INT32 = -0x80000000;
export const MOST_UINT32 = 0xffffffff;
export const MOST_SERIAL_BYTES = 128;
export const MOST_SOFTWARE_BYTES = 64;
