import { isDeepStrictEqual } from 'node:util';
import { type Fact, type Mark, markText } from './fact.ts';
import { disagreementsAbout, type FactId, factById } from './ledger.ts';
import type { EvidenceRecord } from './record.ts';

/** The device of an order, and its records. */
export interface DeviceEvidence {
  /** As the chassis reports it; null while unknown. */
  readonly serial: string | null;
  readonly software: string | null;
  /** The device reports to be a simulator. Absent: unknown; then no movement relies on simulator records. */
  readonly simulated?: boolean;
  /** The site's evidence file. */
  readonly records: readonly EvidenceRecord[];
}

/** Origin of the evidence for a fact that a movement relies on; `nothing`: it must not rely on it. */
export const supports = ['this-device', 'simulator', 'another-device', 'nothing'] as const;
type Support = (typeof supports)[number];

/** Whether a movement on this device may rely on a fact. */
export interface Reliance {
  readonly fact: string;
  readonly mark: Mark;
  /** The newest record for exactly this serial and software says that it holds. */
  readonly verifiedHere: boolean;
  /** The newest record for exactly this serial and software says that it does not hold. */
  readonly contradictedHere: boolean;
  readonly usable: boolean;
  readonly support: Support;
  /** Only a verification on this device is missing, which a trial can provide. */
  readonly lacksVerification: boolean;
  /** One sentence for the user. */
  readonly why: string;
}

export interface RelianceOptions {
  /** `motion.requireVerified` of the site file: measurements on another device do not count here. */
  readonly requireVerified?: boolean | undefined;
}

/**
 * Decides whether a movement may rely on a fact. BELEGT: when it was measured on a device, or is stated and supported
 * by a measurement of the same field, unless the site requires a verification here; HINWEIS: only when verified on this
 * serial with this software; VORSICHT and OFFEN: never, whatever was recorded. A contradicting record and a lost
 * disagreement exclude the fact. Throws EVIDENCE_UNKNOWN.
 */
export function relianceOn(factId: FactId, device: DeviceEvidence, options: RelianceOptions = {}): Reliance {
  const fact = factById(factId);
  const found = recordFor(fact, device);
  const verifiedHere = found !== undefined && confirms(found, fact);
  const contradictedHere = found !== undefined && !verifiedHere;
  const result = (support: Support, why: string, lacksVerification = false): Reliance => ({
    fact: fact.id,
    mark: fact.mark,
    verifiedHere,
    contradictedHere,
    usable: support !== 'nothing',
    support,
    lacksVerification,
    why,
  });
  const unusable = (why: string) => result('nothing', why);

  if (fact.mark === 'VORSICHT') return unusable(`${fact.id} is only assumed (VORSICHT); no record changes that.`);
  if (fact.mark === 'OFFEN') return unusable(`${fact.id} is open (OFFEN); no record changes that.`);
  if (fact.basis === 'disagreement') return unusable(`${fact.id} is a disagreement; no order may rely on it.`);
  // Measured on the operator server with a chassis simulator: no evidence about a chassis.
  if (fact.basis === 'simulated') return unusable(`${fact.id} is simulated, not measured on a device.`);
  const lost = disagreementsAbout(fact.id).find(({ wins }) => wins !== fact.id);
  if (lost) return unusable(`${fact.id} is overruled by ${lost.wins} (${lost.id}).`);
  if (contradictedHere) {
    const wayBack = `When its cause is removed, record a check of your own: \`gw evidence record ${fact.id}\`.`;
    return unusable(`${fact.id} was contradicted on this device on ${found.when} by ${found.who}. ${wayBack}`);
  }
  if (verifiedHere) {
    return found.simulated === true
      ? result('simulator', `${fact.id} was verified on this simulator on ${found.when} by ${found.who}.`)
      : result('this-device', `${fact.id} was verified on this device on ${found.when} by ${found.who}.`);
  }
  if (fact.mark === 'HINWEIS') {
    return result('nothing', `${fact.id} is from a vendor description (HINWEIS) and ${missing(device)}.`, true);
  }
  return elsewhere(fact, device, options, result);
}

/** For a BELEGT fact not verified here: the measurement on the one test device, which the specification does not name. */
function elsewhere(
  fact: Fact,
  device: DeviceEvidence,
  { requireVerified = false }: RelianceOptions,
  result: (support: Support, why: string, lacksVerification?: boolean) => Reliance,
): Reliance {
  const observation = fact.basis === 'stated' && fact.observedBy !== undefined ? factById(fact.observedBy) : null;
  if (fact.basis !== 'measured' && observation === null) {
    return result('nothing', `${fact.id} is ${fact.basis}, not measured on a device.`);
  }
  const against = observation === null ? undefined : recordFor(observation, device);
  if (observation !== null && against !== undefined && !confirms(against, observation)) {
    return result(
      'nothing',
      `${fact.id} is stated and rests on ${observation.id}, which was contradicted on this device on ${against.when} by ${against.who}.`,
    );
  }
  const seen =
    observation === null
      ? `${fact.id} was measured on another device or version (${markText(fact)})`
      : `${fact.id} is ${markText(fact)}, supported by ${observation.id} (${markText(observation)}) on another device or version`;
  if (requireVerified) {
    const asked = 'motion.requireVerified requires a verification on this device';
    return result('nothing', `${seen}, and ${asked}: it ${missing(device)}.`, true);
  }
  return result('another-device', `${seen}.`);
}

/** The newest record for exactly this device; the file is appended to, so the last line is the newest. */
function recordFor(fact: Fact, { serial, software, simulated, records }: DeviceEvidence): EvidenceRecord | undefined {
  if (!serial || !software) return undefined;
  return records.findLast(
    (record) =>
      record.fact === fact.id &&
      record.serial === serial &&
      record.software === software &&
      (record.simulated !== true || simulated === true),
  );
}

/** With a value in the ledger the measured one must be the same; without one, `false` and `null` mean 'it does not hold'. */
export function confirms(record: Pick<EvidenceRecord, 'value'>, fact: Fact): boolean {
  if (fact.value !== undefined && record.value !== true) return isDeepStrictEqual(record.value, fact.value);
  return record.value !== false && record.value !== null;
}

function missing({ serial, software }: DeviceEvidence): string {
  if (!serial) return 'was not verified on this device: the serial number of this chassis is not known yet';
  if (!software) return 'was not verified on this device: the software version of this chassis is unknown';
  return `was not verified on ${serial} with software ${software}`;
}
