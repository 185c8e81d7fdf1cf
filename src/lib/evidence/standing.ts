import { isDeepStrictEqual } from 'node:util';
import { markText } from './basis.ts';
import type { Fact } from './fact.ts';
import { disagreementsAbout, type FactId, factById } from './ledger.ts';
import type { Mark } from './mark.ts';
import type { EvidenceRecord } from './record.ts';

/** The device that an order is for, and what was verified on it. */
export interface DeviceEvidence {
  /** As the chassis itself gave it; null while it is not known. */
  readonly serial: string | null;
  readonly software: string | null;
  /** The device says of itself that it is a simulator. Absent: not known; no movement then rests on such a record. */
  readonly simulated?: boolean;
  /** The site's evidence file. */
  readonly records: readonly EvidenceRecord[];
}

/** What a movement rests on that relies on a fact; `nothing`: it must not rely on it. */
export const supports = ['this-device', 'simulator', 'another-device', 'nothing'] as const;
type Support = (typeof supports)[number];

/** Whether a fact may carry a movement on this device. */
export interface Standing {
  readonly fact: string;
  readonly mark: Mark;
  /** The newest record for exactly this serial and software says that it holds. */
  readonly verifiedHere: boolean;
  /** The newest record for exactly this serial and software says that it does not hold. */
  readonly contradictedHere: boolean;
  readonly usable: boolean;
  readonly support: Support;
  /** Nothing speaks against it: only a verification on this very device is missing, which a trial may bring. */
  readonly lacksVerification: boolean;
  /** One sentence for a person. */
  readonly why: string;
}

export interface StandingOptions {
  /** `motion.requireVerified` of the site file: what was measured on another device carries nothing here. */
  readonly requireVerified?: boolean | undefined;
}

/**
 * Decides whether a movement may rely on a fact. BELEGT carries it when it was measured on a device, or is stated with
 * a measurement of the same field beside it, unless the site asks for a verification here; HINWEIS only when it was
 * verified on this serial with this software; VORSICHT and OFFEN never, whatever was recorded. A record that
 * contradicts the fact, and a lost disagreement, close it. Throws EVIDENCE_UNKNOWN.
 */
export function standing(factId: FactId, device: DeviceEvidence, options: StandingOptions = {}): Standing {
  const fact = factById(factId);
  const found = recordFor(fact, device);
  const verifiedHere = found !== undefined && confirms(found, fact);
  const contradictedHere = found !== undefined && !verifiedHere;
  const say = (support: Support, why: string, lacksVerification = false): Standing => ({
    fact: fact.id,
    mark: fact.mark,
    verifiedHere,
    contradictedHere,
    usable: support !== 'nothing',
    support,
    lacksVerification,
    why,
  });
  const no = (why: string) => say('nothing', why);

  if (fact.mark === 'VORSICHT') return no(`${fact.id} is only assumed (VORSICHT); no record changes that.`);
  if (fact.mark === 'OFFEN') return no(`${fact.id} is open (OFFEN); no record changes that.`);
  if (fact.basis === 'disagreement') return no(`${fact.id} is a disagreement: it warns, it carries nothing.`);
  // Measured on the operator server: it says nothing about a chassis, and a record names a chassis.
  if (fact.basis === 'simulated') return no(`${fact.id} is simulated, not measured on a device.`);
  const lost = disagreementsAbout(fact.id).find(({ wins }) => wins !== fact.id);
  if (lost) return no(`${fact.id} is overruled by ${lost.wins} (${lost.id}).`);
  if (contradictedHere) return no(`${fact.id} was contradicted on this device on ${found.when} by ${found.who}.`);
  if (verifiedHere) {
    return found.simulated === true
      ? say('simulator', `${fact.id} was verified on this simulator on ${found.when} by ${found.who}.`)
      : say('this-device', `${fact.id} was verified on this device on ${found.when} by ${found.who}.`);
  }
  if (fact.mark === 'HINWEIS') {
    return say('nothing', `${fact.id} is from a vendor description (HINWEIS) and ${missing(device)}.`, true);
  }
  return elsewhere(fact, device, options, say);
}

/** Of a BELEGT fact that nobody verified here: what was seen on the one test device, which the platform does not name. */
function elsewhere(
  fact: Fact,
  device: DeviceEvidence,
  { requireVerified = false }: StandingOptions,
  say: (support: Support, why: string, lacksVerification?: boolean) => Standing,
): Standing {
  const observation = fact.basis === 'stated' && fact.observedBy !== undefined ? factById(fact.observedBy) : null;
  if (fact.basis !== 'measured' && observation === null) {
    return say('nothing', `${fact.id} is ${fact.basis}, not measured on a device.`);
  }
  const against = observation === null ? undefined : recordFor(observation, device);
  if (observation !== null && against !== undefined && !confirms(against, observation)) {
    return say(
      'nothing',
      `${fact.id} is stated and rests on ${observation.id}, which was contradicted on this device on ${against.when} by ${against.who}.`,
    );
  }
  const seen =
    observation === null
      ? `${fact.id} was measured on another device or version (${markText(fact)})`
      : `${fact.id} is ${markText(fact)}, borne out by ${observation.id} (${markText(observation)}) on another device or version`;
  if (requireVerified) {
    const asked = 'motion.requireVerified asks for a verification here';
    return say('nothing', `${seen}, and ${asked}: it ${missing(device)}.`, true);
  }
  return say('another-device', `${seen}.`);
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
  if (!serial) return 'was not verified here: the serial number of this chassis is not known yet';
  if (!software) return 'was not verified here: the software version of this chassis is not known';
  return `was not verified on ${serial} with software ${software}`;
}
