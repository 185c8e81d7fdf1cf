import { notSimulated, type RestReply } from './rest-reply.ts';

/**
 * Where the vendor's texts and client (HINWEIS) have endpoints: mapping, recordings, calibration, cargo devices, WLAN,
 * ROS and more. What is not simulated below them is answered by its name, never by 404.
 */
export const vendorRoots = [
  'mappings',
  'ros',
  'bags',
  'recording',
  'videos',
  'core_dumps',
  'collected_data',
  'hostnames',
  'app_store',
  'bluetooth',
  'wifi_setup',
  'rb-admin',
  'robot-params',
  'device',
  'services',
  'system',
] as const;

const VENDOR_PATH = new RegExp(`^/(${vendorRoots.join('|')})(/|$)`);

/** The answer to an endpoint that is not simulated; undefined where the vendor has none. */
export function notSimulatedReply(path: string): RestReply | undefined {
  return VENDOR_PATH.test(path) ? notSimulated(path) : undefined;
}
