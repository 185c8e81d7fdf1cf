import { X509Certificate } from 'node:crypto';
import { basename } from 'node:path';
import { type EvidenceRecord, type FactId, factById, standing } from '../evidence/index.ts';
import { canonicalText, wellFormed } from './canonical.ts';
import type { JournalState } from './journal.ts';
import type { Checklist } from './load.ts';
import {
  PROTOCOL_FORMAT,
  type Protocol,
  type RedLine,
  type ReliedFact,
  type RobotProtocol,
  SIGNATURE_ALGORITHM,
} from './protocol.result.ts';
import type { Counts, StepResult } from './run.result.ts';
import { countVerdicts } from './runner.ts';
import type { SessionRobotResult } from './session.ts';

export interface ProtocolRobot extends SessionRobotResult {
  readonly site: string;
  readonly serial: string;
  /** Records of the site's evidence file; null when it cannot be read. */
  readonly records: readonly EvidenceRecord[] | null;
  readonly redLines: readonly RedLine[];
}

export interface ProtocolParts {
  /** Read anew at the end of the run. */
  readonly journal: JournalState;
  readonly edition: number;
  readonly gwVersion: string;
  readonly checklist: Checklist;
  readonly technician: Protocol['technician'];
  readonly endedAt: string;
  readonly robots: readonly [ProtocolRobot, ...ProtocolRobot[]];
}

/** Puts a protocol together. Nothing of it is signed yet. */
export function composeProtocol(parts: ProtocolParts): Protocol {
  const { journal, checklist } = parts;
  const robots = parts.robots.map((robot) => robotProtocol(robot, checklist));
  const results = parts.robots.map(({ result }) => result);
  const { name, title, purpose, phase, file, sha256 } = checklist;
  return wellFormed<Protocol>({
    format: PROTOCOL_FORMAT,
    id: journal.begun.id,
    edition: parts.edition,
    gw: parts.gwVersion,
    checklist: { name, title, purpose, phase, file: basename(file), sha256 },
    technician: parts.technician,
    startedAt: journal.begun.at,
    endedAt: parts.endedAt,
    resumedAt: [...journal.resumedAt],
    tookMs: journal.tookMs,
    motionAllowed: results.some((result) => result.motionAllowed),
    interrupted: results.some((result) => result.interrupted),
    attachments: [...journal.attachments],
    signature: null,
    robots,
    ...summaryOf(robots),
  });
}

/** What a protocol says at its head, by what it says of its robots. */
export function summaryOf(
  robots: readonly RobotProtocol[],
): Pick<Protocol, 'ok' | 'accepted' | 'leftOut' | 'counts' | 'deviations'> {
  const steps = robots.flatMap((robot) => robot.steps);
  return {
    ok: robots.every(({ ok }) => ok),
    accepted: robots.every(({ accepted }) => accepted),
    leftOut: steps.some((step) => step.leftOut),
    counts: countVerdicts(steps),
    deviations: steps.filter(isDeviation).length,
  };
}

/** The same of one robot. */
export function robotSummaryOf(
  steps: readonly StepResult[],
  redLines: readonly RedLine[],
): Pick<RobotProtocol, 'ok' | 'accepted' | 'counts' | 'deviations'> {
  const counts = countVerdicts(steps);
  return {
    ok: isAllOk(counts, steps) && redLines.length === 0,
    accepted:
      steps.length > 0 && steps.every((step) => step.verdict === 'ok' || isDeviation(step)) && redLines.length === 0,
    counts,
    deviations: steps.filter(isDeviation).length,
  };
}

export function sectionSummaryOf(id: string, all: readonly StepResult[]): { ok: boolean; counts: Counts } {
  const steps = all.filter((step) => step.section === id);
  const counts = countVerdicts(steps);
  return { ok: isAllOk(counts, steps), counts };
}

function isAllOk(counts: Counts, steps: readonly StepResult[]): boolean {
  return steps.length > 0 && counts.ok === steps.length;
}

function isDeviation(step: StepResult): boolean {
  return step.verdict !== 'ok' && step.deviation !== null;
}

function robotProtocol(robot: ProtocolRobot, checklist: Checklist): RobotProtocol {
  const { site, serial, software, redLines } = robot;
  const { steps } = robot.result;
  return {
    site,
    serial,
    software,
    ...robotSummaryOf(steps, redLines),
    sections: checklist.sections.map(({ id, title, about }) => ({ id, title, about, ...sectionSummaryOf(id, steps) })),
    steps,
    evidence: reliedFacts(robot, checklist),
    redLines: [...redLines],
  };
}

/** Facts that steps relied on which were really taken, each once, in the order of the checklist. */
function reliedFacts({ result, serial, software, records }: ProtocolRobot, checklist: Checklist): ReliedFact[] {
  const taken = new Set(
    result.steps.filter(({ at, verdict }) => at !== null && verdict !== 'skipped').map(({ id }) => id),
  );
  const ids = new Set(checklist.steps.filter(({ id }) => taken.has(id)).flatMap(({ facts }) => facts));
  return [...ids].map((id) => {
    const { mark, statement, source } = factById(id);
    const device = { serial, software: software?.value ?? null, records: records ?? [] };
    const { verifiedHere } = standing(id as FactId, device);
    const known = records !== null && software !== null;
    return { id, mark, statement, source, verifiedHere: known ? (verifiedHere ? 'yes' : 'no') : 'not-checked' };
  });
}

/** The key of a device. `sign` gives ECDSA over P-256 with SHA-256, in DER. */
export interface ProtocolSigner {
  readonly serial: string;
  /** The certificate of the key first, in PEM. */
  readonly certificatePem: string;
  sign(bytes: Uint8Array): Uint8Array;
}

/** Signs a protocol; a signature that it has is replaced. */
export function signProtocol(protocol: Protocol, signer: ProtocolSigner): Protocol {
  const { serial } = signer;
  const head = { algorithm: SIGNATURE_ALGORITHM, serial, certificate: plainPem(signer.certificatePem) } as const;
  const value = fromDer(signer.sign(signedBytes({ ...protocol, signature: { ...head, value: '' } })));
  return { ...protocol, signature: { ...head, value: value.toString('base64') } };
}

/** Certificates as one text, without anything that a file may have around them. */
function plainPem(pem: string): string {
  return readCertificates(pem).map(String).join('');
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]*-----END CERTIFICATE-----/g;

/** The certificates in a PEM text, in their order. Throws where one of them is none. */
export function readCertificates(pem: string): X509Certificate[] {
  return [...pem.matchAll(CERTIFICATE)].map(([text]) => new X509Certificate(text));
}

/**
 * The bytes that are signed: the protocol without `signature.value`, as RFC 8785 writes it, in UTF-8. Algorithm, serial
 * and certificate of the signature are so signed as well.
 */
export function signedBytes(protocol: { readonly signature: object | null }): Uint8Array {
  const { value: _, ...signature } = (protocol.signature ?? {}) as Readonly<Record<string, unknown>>;
  return new TextEncoder().encode(canonicalText({ ...protocol, signature }));
}

/** The one text of the file. */
export function protocolText(protocol: object): string {
  return `${canonicalText(protocol, 2)}\n`;
}

/** The order of P-256. @source FIPS 186-4, D.1.2.3 */
const ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;

/**
 * Whether `s` is in its lower half. For every signature there is a second one, with `s` below the order, that fits as
 * well and that anybody can make; only one of the two is taken, so that a protocol has one text.
 */
export function isLowS(signature: Uint8Array): boolean {
  return numberOf(signature.subarray(NUMBER_BYTES)) <= ORDER / 2n;
}

function numberOf(bytes: Uint8Array): bigint {
  return BigInt(`0x${Buffer.from(bytes).toString('hex')}`);
}

/** `r` and `s` of an ECDSA signature over P-256, 32 bytes each, `s` in its lower half, out of DER. Throws RangeError. */
function fromDer(der: Uint8Array): Buffer {
  const bytes = Buffer.from(der);
  if (bytes[0] !== 0x30 || bytes[1] !== bytes.length - 2) throw new RangeError('The signature is not DER.');
  const [r, next] = derNumber(bytes, 2);
  const [s, end] = derNumber(bytes, next);
  if (end !== bytes.length) throw new RangeError('The signature has something behind its end.');
  const signature = Buffer.concat([r, s]);
  if (isLowS(signature)) return signature;
  const low = (ORDER - numberOf(s)).toString(16).padStart(2 * NUMBER_BYTES, '0');
  return Buffer.concat([r, Buffer.from(low, 'hex')]);
}

const NUMBER_BYTES = 32;

function derNumber(bytes: Buffer, at: number): [Buffer, number] {
  const length = bytes[at + 1] ?? 0;
  const end = at + 2 + length;
  const number = bytes.subarray(at + 2, end);
  const digits = number.subarray(
    Math.max(
      0,
      number.findIndex((byte) => byte !== 0),
    ),
  );
  if (bytes[at] !== 0x02 || end > bytes.length || digits.length > NUMBER_BYTES) {
    throw new RangeError('The signature is not one over P-256.');
  }
  return [Buffer.concat([Buffer.alloc(NUMBER_BYTES - digits.length), digits]), end];
}
