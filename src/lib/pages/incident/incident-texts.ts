import { eachOnce } from '../../text/index.ts';
import { textsOf } from '../texts/catalogue.ts';
import { causeText } from './cause-text.ts';
import { type IncidentEvent, incidentEvents } from './incident-events.ts';
import type { IncidentBody, IncidentHead } from './incident-model.ts';

/** The causes of an incident in English, for commands; one that occurred several times once, with their number. */
export function causeTexts({ causes, timeZone }: IncidentHead): readonly string[] {
  const { t, f } = textsOf('en', timeZone, 'technician');
  return eachOnce(causes.map((cause) => causeText(cause, t, f)));
}

/** What happened in an incident, in English. */
export function incidentEventTexts(head: IncidentHead, body: IncidentBody): readonly IncidentEvent[] {
  const { t, f } = textsOf('en', head.timeZone, 'technician');
  return incidentEvents({ head, body }, t, f);
}
