import { type ErrorCode, errorTable, GwError } from '../lib/error/index.ts';

/** By command: remedies for the errors whose remedy is that command, which a person has just run. */
export const ownRemedies: Readonly<Record<string, Partial<Record<ErrorCode, string>>>> = {
  'chassis address': { CHASSIS_NOT_CONNECTED: 'Check power, network segment and the DHCP reservation.' },
  'chassis watch': { CHASSIS_BOOTING: 'Wait until its start is complete.' },
  'checklist show': { CHECKLIST_INVALID: 'Correct the lines listed above.' },
  'checklist verify': {
    RECORD_INVALID: 'Name the JSON file that `gw checklist run` wrote.',
    RECORD_ALTERED: 'Do not rely on it: ask for the original file.',
  },
  'cloud outbox': { OUTBOX_REFUSED: 'See the reason above; nothing that was accepted before is lost.' },
  'cloud status': { CLOUD_NOT_CONNECTED: 'Run `gw network check` on the gateway.' },
  'incident export': { INCIDENT_INVALID: 'Do not rely on it: the gateway has no sound copy of this incident.' },
  'map backup': { ARCHIVE_INVALID: 'Do not rely on it: make a new one on another disk, with --out FILE.' },
  'map verify': { ARCHIVE_INVALID: 'Do not rely on it: make a new one with `gw map backup`.' },
  'network check': {
    CLOUD_NOT_CONNECTED: 'See the reason with `gw cloud status`.',
    STORAGE_NOT_REACHABLE: 'Check cloud.storageUrl in the site file; a transfer is resumed.',
  },
  'release verify': { RELEASE_INVALID: 'Get the package again from who built it.' },
};

/** The error with a remedy that does not send a person back to the command that printed it. */
export function withOwnRemedy(error: GwError, command: string): GwError {
  const remedy = ownRemedies[command]?.[error.code];
  if (remedy === undefined || error.remedy !== errorTable[error.code].remedy) return error;
  const { code, message, tried, details, cause } = error;
  return new GwError(code, message, { tried, details, cause, remedy });
}
