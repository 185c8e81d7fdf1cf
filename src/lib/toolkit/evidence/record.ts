import { GwError } from '../../error/index.ts';
import {
  appendRecord,
  countingRecords,
  type EvidenceRecord,
  type Fact,
  isDisagreement,
  loadEvidenceFile,
  tableOf,
} from '../../evidence/index.ts';
import { readJson } from '../../json/index.ts';
import { factsOfOrder } from '../../motion/index.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import type { EvidenceRecorded } from './evidence.result.ts';
import { movementHere, namedFact, plainFact } from './list.ts';
import { askDevice, hereOf } from './site.ts';

export interface RecordOptions {
  /** Id of a fact. */
  readonly fact: string;
  /** The result: it holds, it does not, or the measured value as JSON or text. */
  readonly found: 'holds' | 'does-not-hold' | { readonly value: string };
  readonly how: string;
  readonly who: string;
}

/**
 * Records a fact that a person verified on this device: reads serial number and software from the chassis, and appends
 * one line to the site's evidence file. Throws EVIDENCE_UNKNOWN, USAGE for an invalid record,
 * EVIDENCE_FILE_INVALID, FILE_UNWRITABLE, what `askDevice` throws; nothing is written then.
 */
export async function recordEvidence(
  toolkit: Toolkit,
  { fact: id, found, how, who }: RecordOptions,
  context: CheckContext,
): Promise<EvidenceRecorded> {
  const fact = namedFact(id);
  const value = measuredValue(found);
  refuseUnfit(fact, value);
  const path = toolkit.site.evidenceFile;
  // Before the chassis is asked: an invalid file accepts no record.
  await loadEvidenceFile(path);
  const { serial, software, simulated } = await askDevice(toolkit, context);
  context.signal.throwIfAborted();
  const when = toolkit.clock.wall().toISOString();
  const record: EvidenceRecord = {
    ...{ fact: fact.id, value, serial, software, how, who, when },
    ...(simulated && { simulated }),
  };
  const { created, records, index } = await appendRecord(path, record);

  const counting = await countingRecords(path, records);
  const device = { serial, software, simulated, records: counting };
  // Records that other processes added meanwhile are in both.
  const earlier = { ...device, records: counting.filter((other) => other !== records[index]) };
  const movement = movementHere(fact, device);
  return {
    path,
    created,
    records: records.length,
    record,
    fact: plainFact(fact),
    before: hereOf(fact, earlier),
    now: hereOf(fact, device),
    entries: entriesIn(fact, value).map(([entry, known]) => ({
      entry,
      value: known,
      before: hereOf(fact, earlier, entry),
      now: hereOf(fact, device, entry),
    })),
    movement: {
      ...movement,
      before: movementHere(fact, earlier).usable,
      orders: Object.entries(factsOfOrder)
        .filter(([, needed]) => (needed as readonly string[]).includes(fact.id))
        .map(([order]) => order),
    },
    appliesTo: { display: 'now', gateway: movement.usable ? 'next-start' : 'within-a-second' },
  };
}

/** The value as JSON where it parses, otherwise as text. Throws USAGE for malformed JSON. */
function measuredValue(found: RecordOptions['found']): EvidenceRecord['value'] {
  if (found === 'holds') return true;
  if (found === 'does-not-hold') return false;
  const reading = readJson(found.value, 'value');
  if (reading.ok) return reading.value as EvidenceRecord['value'];
  if (!/^\s*["[{]/.test(found.value)) return found.value;
  throw new GwError('USAGE', `The value is not JSON: ${reading.problem}.`, {
    remedy: 'Write a table as JSON in single quotes, for example --value \'{"1":"no-go zone"}\'.',
  });
}

function refuseUnfit(fact: Fact, value: EvidenceRecord['value']): void {
  if (isDisagreement(fact)) {
    throw new GwError('USAGE', `${fact.id} is a disagreement and cannot be measured.`, {
      remedy: `Record a measurement of one of its sides: ${fact.between.join(' or ')}.`,
    });
  }
  const isBare = value === true || value === false || value === null;
  if (isBare && (fact.mark === 'VORSICHT' || fact.mark === 'OFFEN')) {
    const state = fact.mark === 'OFFEN' ? 'open (OFFEN)' : 'only assumed (VORSICHT)';
    throw new GwError('USAGE', `${fact.id} is ${state}: a yes or no does not raise it, only a measured value does.`, {
      remedy: 'Pass the measured value with --value.',
    });
  }
  const table = tableOf(fact.value);
  if (!table || isBare) return;
  const example = Object.entries(table)[0] ?? ['', ''];
  const remedy = `Name the measured entries, for example --value '${JSON.stringify(Object.fromEntries([example]))}', or use --holds for the whole table.`;
  if (typeof value !== 'object' || Array.isArray(value)) {
    throw new GwError('USAGE', `${fact.id} is a table; a single value does not apply.`, { remedy });
  }
  const strangers = Object.keys(value).filter((key) => !Object.hasOwn(table, key));
  if (strangers.length > 0 || Object.keys(value).length === 0) {
    const what = strangers.length > 0 ? `${strangers.slice(0, 5).join(', ')} in its table` : 'an empty table';
    throw new GwError('USAGE', `${fact.id} does not contain ${what}.`, { remedy });
  }
}

/** The entries of the fact's table in a recorded value, with the ledger's value of each. */
function entriesIn(fact: Fact, value: EvidenceRecord['value']): [entry: string, known: string][] {
  const table = tableOf(fact.value);
  if (!table || typeof value !== 'object' || value === null) return [];
  return Object.entries(table)
    .filter(([key]) => Object.hasOwn(value, key))
    .map(([key, known]) => [key, String(known)]);
}
