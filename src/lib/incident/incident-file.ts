import type { z } from 'zod';
import { GwError } from '../error/index.ts';
import { quote, readJsonBytes } from '../json/index.ts';
import { sha256 } from '../lifecycle/index.ts';
import { type IncidentBody, type IncidentHead, incidentBodySchema, incidentHeadSchema } from '../pages/index.ts';

/**
 * One incident as a file of three lines: its head, its body, and the SHA-256 of both lines with their ends in hex digits, so
 * that `head -n 2 FILE | sha256sum` gives the third. The sum shows damage, not forgery, since it is not signed.
 */
export function encodeIncident(head: IncidentHead, body: IncidentBody): string {
  const lines = `${JSON.stringify(head)}\n${JSON.stringify(body)}\n`;
  return `${lines}${sha256(lines)}\n`;
}

/** Scenes, poses and log are bounded to less; a larger file is no incident. */
export const MAX_INCIDENT_BYTES = 2_000_000;
const LF = 0x0a;

export interface Incident {
  readonly head: IncidentHead;
  readonly body: IncidentBody;
  readonly sha256: string;
}

/** Reads the bytes of such a file. Throws INCIDENT_INVALID: damaged, incomplete, or another kind of file. */
export function decodeIncident(bytes: Uint8Array, place: string): Incident {
  const { headEnd, bodyEnd, sum } = checkSum(bytes, place);
  return {
    head: readPart(bytes.subarray(0, headEnd), incidentHeadSchema, `${place}, line 1`),
    body: readPart(bytes.subarray(headEnd + 1, bodyEnd), incidentBodySchema, `${place}, line 2`),
    sha256: sum,
  };
}

/** Ends of the first two lines, and the sum that both the third line and they themselves have. Throws INCIDENT_INVALID. */
export function checkSum(bytes: Uint8Array, place: string) {
  const headEnd = bytes.indexOf(LF);
  const bodyEnd = headEnd < 0 ? -1 : bytes.indexOf(LF, headEnd + 1);
  if (bodyEnd < 0) throw invalid(place, 'it has not the three lines of an incident');
  const stated = Buffer.from(bytes.subarray(bodyEnd + 1, bodyEnd + 80)).toString('latin1');
  if (!/^[0-9a-f]{64}\n$/.test(stated)) throw invalid(place, 'its last line is no SHA-256 sum');
  const sum = sha256(bytes.subarray(0, bodyEnd + 1));
  if (stated !== `${sum}\n`) throw invalid(place, 'its content does not have the SHA-256 sum of its last line');
  return { headEnd, bodyEnd, sum };
}

/** The first line alone. Throws INCIDENT_INVALID. */
export function decodeHead(line: Uint8Array, place: string): IncidentHead {
  return readPart(line, incidentHeadSchema, `${place}, line 1`);
}

function readPart<S extends z.ZodType>(bytes: Uint8Array, schema: S, place: string): z.infer<S> {
  const read = readJsonBytes(bytes, 'line');
  if (!read.ok) throw invalid(place, read.problem);
  const parsed = schema.safeParse(read.value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw invalid(place, `${quote(issue?.path.join('.') ?? '')}: ${issue?.message ?? 'another shape'}`);
}

function invalid(place: string, why: string): GwError {
  return new GwError('INCIDENT_INVALID', `${place} is no incident of gw: ${why}.`);
}
