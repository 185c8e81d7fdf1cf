import { GwError } from '../error/index.ts';
import { sha256 } from '../lifecycle/index.ts';
import type { IncidentBody, IncidentHead } from '../pages/index.ts';

/** As its schema has it, which the daemon does not load. */
export const INCIDENT_FORMAT: IncidentHead['format'] = 'gw/incident/1';

/**
 * One incident as a file of three lines: its head, its body, and the SHA-256 of both lines with their ends in hex digits, so
 * that `head -n 2 FILE | sha256sum` gives the third. The sum shows damage, not forgery, since it is not signed.
 */
export function encodeIncident(head: IncidentHead, body: IncidentBody): string {
  const lines = `${JSON.stringify(head)}\n${JSON.stringify(body)}\n`;
  return `${lines}${sha256(lines)}\n`;
}

/** The name under which it leaves the gateway. */
export function incidentFileName(serial: string, id: number): string {
  return `incident-${serial.replace(/[^A-Za-z0-9_-]/g, '_')}-${id}.jsonl`;
}

/** Scenes, poses and log are bounded to less; a larger file is no incident. */
export const MAX_INCIDENT_BYTES = 2_000_000;
const LF = 0x0a;

/** The lines of such a file, and the sum that both the third line and the first two themselves have. Throws INCIDENT_INVALID. */
export function readLines(bytes: Uint8Array, place: string) {
  const headEnd = bytes.indexOf(LF);
  const bodyEnd = headEnd < 0 ? -1 : bytes.indexOf(LF, headEnd + 1);
  if (bodyEnd < 0) throw notAnIncident(place, 'it has not the three lines of an incident');
  const stated = Buffer.from(bytes.subarray(bodyEnd + 1, bodyEnd + 80)).toString('latin1');
  if (!/^[0-9a-f]{64}\n$/.test(stated)) throw notAnIncident(place, 'its last line is no SHA-256 sum');
  const sum = sha256(bytes.subarray(0, bodyEnd + 1));
  if (stated !== `${sum}\n`) throw notAnIncident(place, 'its content does not have the SHA-256 sum of its last line');
  return { head: bytes.subarray(0, headEnd), body: bytes.subarray(headEnd + 1, bodyEnd), sum };
}

export function notAnIncident(place: string, why: string): GwError {
  return new GwError('INCIDENT_INVALID', `${place} is no incident of gw: ${why}.`);
}
