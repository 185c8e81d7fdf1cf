import type { z } from 'zod';
import { quote, readJsonBytes } from '../json/index.ts';
import { type IncidentBody, type IncidentHead, incidentBodySchema, incidentHeadSchema } from '../pages/index.ts';
import { notAnIncident, readLines } from './incident-file.ts';

export interface Incident {
  readonly head: IncidentHead;
  readonly body: IncidentBody;
  readonly sha256: string;
}

/** Reads the bytes of a file that may be any. Throws INCIDENT_INVALID: damaged, incomplete, or another kind of file. */
export function decodeIncident(bytes: Uint8Array, place: string): Incident {
  const { head, body, sum } = readLines(bytes, place);
  return {
    head: readPart(head, incidentHeadSchema, `${place}, line 1`),
    body: readPart(body, incidentBodySchema, `${place}, line 2`),
    sha256: sum,
  };
}

function readPart<S extends z.ZodType>(bytes: Uint8Array, schema: S, place: string): z.infer<S> {
  const read = readJsonBytes(bytes, 'line');
  if (!read.ok) throw notAnIncident(place, read.problem);
  const parsed = schema.safeParse(read.value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw notAnIncident(place, `${quote(issue?.path.join('.') ?? '')}: ${issue?.message ?? 'another shape'}`);
}
