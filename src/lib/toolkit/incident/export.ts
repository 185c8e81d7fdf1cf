import { incidentFileName } from '../../incident/index.ts';
import { writeDocument } from '../document-file.ts';
import type { GatewayWay } from '../operator/signed-in-access.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import type { ExportedIncident } from './incident.result.ts';
import { fetchIncident } from './show.ts';

export interface ExportOptions extends GatewayWay {
  readonly id: number;
  /** By default a name with the serial number and the id, in the current folder. */
  readonly out?: string | undefined;
  readonly force: boolean;
}

/** Writes the file of an incident as the gateway keeps it. Throws FILE_EXISTS, FILE_UNWRITABLE and as `showIncident`. */
export async function exportIncident(
  toolkit: Toolkit,
  { id, out, force, ...way }: ExportOptions,
  context: CheckContext,
): Promise<ExportedIncident> {
  const { text, incident } = await fetchIncident(toolkit, id, way, context);
  const { head, sha256 } = incident;
  const path = out ?? incidentFileName(head.serial, id);
  return { path, bytes: await writeDocument(path, text, { force }), sha256, head };
}
