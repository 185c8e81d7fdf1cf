import { isDeepStrictEqual } from 'node:util';
import type { Fact } from './fact.ts';
import type { Mark } from './known.ts';
import { disagreementsAbout, type FactId, factById } from './ledger.ts';
import type { EvidenceRecord } from './record.ts';

/** The device that an order is for, and what was verified on it. */
export interface DeviceEvidence {
  /** As the chassis itself gave it; null while it is not known. */
  readonly serial: string | null;
  readonly software: string | null;
  /** The site's evidence file. */
  readonly records: readonly EvidenceRecord[];
}

/** Whether a fact may carry a movement on this device. */
export interface Standing {
  readonly fact: string;
  readonly mark: Mark;
  /** The newest record for exactly this serial and software says that it holds. */
  readonly verifiedHere: boolean;
  readonly usable: boolean;
  /** One sentence for a person. */
  readonly why: string;
}

/**
 * Decides whether a movement may rely on a fact. BELEGT carries it when it was measured on a device; HINWEIS only
 * when it was verified on this serial with this software; VORSICHT and OFFEN never, whatever was recorded. A record
 * that contradicts the fact, and a lost disagreement, close it. Throws EVIDENCE_UNKNOWN.
 */
export function standing(factId: FactId, device: DeviceEvidence): Standing {
  const fact = factById(factId);
  const found = recordFor(fact, device);
  const verifiedHere = found !== undefined && confirms(found, fact);
  const say = (usable: boolean, why: string): Standing => ({
    fact: fact.id,
    mark: fact.mark,
    verifiedHere,
    usable,
    why,
  });

  if (fact.mark === 'VORSICHT') return say(false, `${fact.id} is only assumed (VORSICHT); no record changes that.`);
  if (fact.mark === 'OFFEN') return say(false, `${fact.id} is open (OFFEN); no record changes that.`);
  if (fact.basis === 'disagreement') return say(false, `${fact.id} is a disagreement: it warns, it carries nothing.`);
  const lost = disagreementsAbout(fact.id).find(({ wins }) => wins !== fact.id);
  if (lost) return say(false, `${fact.id} is overruled by ${lost.wins} (${lost.id}).`);
  if (found && !verifiedHere) {
    return say(false, `${fact.id} was contradicted on this device on ${found.when} by ${found.who}.`);
  }
  if (fact.mark === 'BELEGT') {
    return fact.basis === 'measured'
      ? say(true, `${fact.id} was measured (BELEGT).`)
      : say(false, `${fact.id} is ${fact.basis}, not measured on a device.`);
  }
  return verifiedHere
    ? say(true, `${fact.id} was verified on this device on ${found.when} by ${found.who}.`)
    : say(false, `${fact.id} is from a vendor description (HINWEIS) and ${missing(device)}.`);
}

/** The newest record for exactly this device; the file is appended to, so the last line is the newest. */
function recordFor(fact: Fact, { serial, software, records }: DeviceEvidence): EvidenceRecord | undefined {
  if (!serial || !software) return undefined;
  return records.findLast(
    (record) => record.fact === fact.id && record.serial === serial && record.software === software,
  );
}

/** With a value in the ledger the measured one must be the same; without one, `false` and `null` mean 'it does not hold'. */
function confirms(record: Pick<EvidenceRecord, 'value'>, fact: Fact): boolean {
  if (fact.value !== undefined && record.value !== true) return isDeepStrictEqual(record.value, fact.value);
  return record.value !== false && record.value !== null;
}

function missing({ serial, software }: DeviceEvidence): string {
  if (!serial) return 'the serial number of this chassis is not known yet';
  if (!software) return 'the software version of this chassis is not known';
  return `was not verified on ${serial} with software ${software}`;
}
