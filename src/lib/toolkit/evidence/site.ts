import { GwError } from '../../error/index.ts';
import {
  compareWithFact,
  countingRecords,
  type DeviceEvidence,
  type EvidenceRecord,
  type Fact,
  markHere,
  readEvidenceFile,
  scopeOf,
  tableOf,
} from '../../evidence/index.ts';
import type { Ssh } from '../../net/index.ts';
import { chassisAccess } from '../chassis/access.ts';
import { type CheckContext, openToolkit, type Toolkit } from '../toolkit.ts';
import type { EvidenceEntry, Here } from './evidence.result.ts';

/** The evidence records of one site. */
export interface EvidenceSite extends DeviceEvidence {
  /** The site file. */
  readonly path: string;
  readonly evidenceFile: string;
  /** Every record of that file, also those that do not count. */
  readonly lines: readonly EvidenceRecord[];
  /** From the site file; verified where the chassis was asked. */
  readonly serial: string;
  /** null: the chassis was not asked. */
  readonly software: string | null;
}

export interface EvidenceSiteOptions {
  readonly sitePath: string;
  /** A person named the site file, so it must be there. */
  readonly siteNamed: boolean;
  /** Read the present software version from the chassis. */
  readonly live: boolean;
  /** Connect through this host. */
  readonly ssh?: Ssh | undefined;
}

/**
 * The records of the site, and with `live` the software of its chassis; null where there is no site file and none
 * was named. Throws SITE_FILE_NOT_FOUND, SITE_FILE_INVALID, EVIDENCE_FILE_INVALID, what `askDevice` throws.
 */
export async function openEvidenceSite(
  { sitePath, siteNamed, live, ssh }: EvidenceSiteOptions,
  context: CheckContext,
): Promise<EvidenceSite | null> {
  const toolkit = await openToolkit(sitePath, ssh).catch((error: unknown) => {
    if (!siteNamed && !live && error instanceof GwError && error.code === 'SITE_FILE_NOT_FOUND') return null;
    throw error;
  });
  if (toolkit === null) return null;
  const { path, chassis, evidenceFile } = toolkit.site;
  const lines = await readEvidenceFile(evidenceFile);
  const records = await countingRecords(evidenceFile, lines);
  const asked = live ? await askDevice(toolkit, context) : null;
  const software = asked?.software ?? null;
  return {
    path,
    evidenceFile,
    lines,
    serial: chassis.serial,
    software,
    records,
    ...(asked && { simulated: asked.simulated }),
  };
}

/**
 * Serial number and software as the chassis reports them: a record counts for these, and they are never typed.
 * Throws what the chassis client throws, CHASSIS_BAD_ANSWER when the chassis names no software.
 */
export async function askDevice(
  toolkit: Toolkit,
  { signal, onProgress }: CheckContext,
): Promise<{ readonly serial: string; readonly software: string; readonly simulated: boolean }> {
  const { createChassisClient, isSimulated } = await import('../../chassis/index.ts');
  const access = await chassisAccess(toolkit);
  onProgress(`Reading device information from ${access.endpoint.host}:${access.endpoint.port} …`);
  await using client = createChassisClient(access);
  const identity = await client.identity(signal);
  const { serial, software } = identity;
  if (software !== null && software !== '') return { serial, software, simulated: isSimulated(identity) };
  throw new GwError('CHASSIS_BAD_ANSWER', 'The chassis reports no software version, so no record can count for it.', {
    tried: { address: access.endpoint.host, port: access.endpoint.port, action: 'GET /device/info' },
    remedy: 'Run `gw chassis probe`; without a software version no fact can be verified on this chassis.',
  });
}

/** Mark of a fact, or of one entry of a table, on this device. */
export function hereOf(fact: Fact, device: DeviceEvidence, entry?: string): Here {
  const { mark, basis, verdict, expired } = markHere(fact.id, device, entry);
  if (verdict !== 'as-marked') return { mark, basis, verdict };
  const [first, ...rest] = entry === undefined ? entriesOf(fact, device).map(({ here }) => here.verdict) : [];
  if (first !== undefined)
    return {
      mark,
      basis,
      verdict:
        rest.every((other) => other === first) && first !== 'verified' && first !== 'contradicted' ? first : 'in-part',
    };
  if (expired !== null) return { mark, basis, verdict: 'expired' };
  const isOpen = device.records.some(
    (record) =>
      record.fact === fact.id &&
      scopeOf(record, device) === 'not-checked' &&
      compareWithFact(record.value, fact, entry) !== 'undecided',
  );
  return { mark, basis, verdict: isOpen ? 'not-checked' : 'as-marked' };
}

/** The entries of a table whose verdict differs from the others. */
export function entriesOf(fact: Fact, device: DeviceEvidence): EvidenceEntry[] {
  const table = tableOf(fact.value) ?? {};
  const entries = Object.entries(table).map(([entry, value]) => ({
    entry,
    value: String(value),
    here: hereOf(fact, device, entry),
  }));
  const verdicts = new Set(entries.map(({ here }) => here.verdict));
  return verdicts.size > 1 ? entries.filter(({ here }) => here.verdict !== 'as-marked') : [];
}
