import { verify as verifySignature, type X509Certificate } from 'node:crypto';
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { GwError } from '../error/index.ts';
import { ATTACHMENT_MAX_BYTES, sha256 } from './attachment.ts';
import { canonicalText } from './canonical.ts';
import {
  type Attachment,
  type Protocol,
  type ProtocolVerification,
  protocolSchema,
  type VerificationFinding,
} from './protocol.result.ts';
import { isLowS, readCertificates, robotSummaryOf, sectionSummaryOf, signedBytes, summaryOf } from './protocol.ts';

const PROTOCOL_MAX_BYTES = 16 * 1024 * 1024;

export interface VerifyOptions {
  /** The robot that must have signed. */
  readonly expectedSerial?: string;
  /** Certificates (PEM) of the authority that must have issued the certificate of the device. */
  readonly caPem?: string;
  /** Gives an attachment by its name; null when it is not there. Absent: attachments are not checked. */
  readonly readAttachment?: (name: string) => Promise<Uint8Array | null>;
}

type Finding = VerificationFinding;
type Id = Finding['id'];

const titles: Readonly<Record<Id, string>> = {
  file: 'The file is text of JSON',
  form: 'It is written in the one way in which a protocol is written',
  content: 'It has the content of a protocol',
  consistent: 'Its summaries agree with its steps',
  signature: 'It is signed, and unchanged since',
  certificate: 'The certificate belongs to the robot that it names',
  validity: 'The certificate was valid at that time',
  chain: 'A known authority issued the certificate',
  'expected-serial': 'The expected robot signed it',
  attachments: 'Its attachments are there, unchanged',
};

/**
 * Whether a protocol is what a device signed: its bytes, its signature, its certificate, and, when they are given, the
 * authority, the expected robot and the attachments. What nobody could look at is not checked, and a protocol is
 * verified only when every finding is ok: so without `caPem` it never is, since anybody can make a certificate that
 * names a serial. Never throws for what stands in the bytes.
 */
export async function verifyProtocol(bytes: Uint8Array, options: VerifyOptions = {}): Promise<ProtocolVerification> {
  const findings: Finding[] = [];
  const say = (id: Id, verdict: Finding['verdict'], detail: string) => {
    findings.push({ id, title: titles[id], verdict, detail });
    return verdict === 'ok';
  };
  const protocol = readProtocol(bytes, say);
  if (protocol !== null) {
    checkConsistent(protocol, say);
    checkSignature(protocol, options, say);
    await checkAttachments(protocol.attachments, options, say);
  }
  const verdict = findings.some((finding) => finding.verdict === 'wrong')
    ? 'wrong'
    : findings.every((finding) => finding.verdict === 'ok')
      ? 'ok'
      : 'not-checked';
  return { verified: verdict === 'ok', verdict, findings, protocol };
}

type Say = (id: Id, verdict: Finding['verdict'], detail: string) => boolean;

function readProtocol(bytes: Uint8Array, say: Say): Protocol | null {
  const bad = (id: Id, detail: string) => {
    say(id, 'wrong', detail);
    return null;
  };
  if (bytes.byteLength > PROTOCOL_MAX_BYTES) return bad('file', 'It is larger than any protocol of gw.');
  let text: string;
  let value: unknown;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    value = JSON.parse(text);
  } catch (error) {
    return bad('file', error instanceof SyntaxError ? 'It is not JSON.' : 'It is not text in UTF-8.');
  }
  say('file', 'ok', `${bytes.byteLength} bytes`);
  try {
    if (`${canonicalText(value, 2)}\n` === text) say('form', 'ok', 'sorted and indented, as gw writes it');
    else say('form', 'wrong', 'It says the same in another way than gw writes it: it was edited or reformatted.');
  } catch (error) {
    return bad('form', error instanceof RangeError ? error.message : 'It cannot be written as gw writes it.');
  }
  const parsed = protocolSchema.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const at = issue?.path.length ? ` at ${issue.path.map(String).join('.')}` : '';
    return bad('content', `It is no protocol of the form gw/protocol/1${at}: ${issue?.message ?? 'it does not fit'}.`);
  }
  say('content', 'ok', `protocol ${parsed.data.id}, edition ${parsed.data.edition}`);
  // As it was read: what is signed is every key of it, whatever a schema makes of them.
  return value as Protocol;
}

function checkConsistent(protocol: Protocol, say: Say): void {
  const wrong: string[] = [];
  const compare = (where: string, said: object, counted: object) => {
    for (const [key, value] of Object.entries(counted)) {
      const claim = (said as Readonly<Record<string, unknown>>)[key];
      if (!isDeepStrictEqual(claim, value)) {
        wrong.push(`${where} says ${key} ${JSON.stringify(claim)}, its steps say ${JSON.stringify(value)}`);
      }
    }
  };
  for (const robot of protocol.robots) {
    compare(robot.serial, robot, robotSummaryOf(robot.steps, robot.redLines));
    for (const section of robot.sections) {
      compare(`${robot.serial}, section ${section.id}`, section, sectionSummaryOf(section.id, robot.steps));
    }
  }
  compare('the protocol', protocol, summaryOf(protocol.robots));
  const kept = new Set(protocol.attachments.map(({ name }) => name));
  if (kept.size !== protocol.attachments.length) wrong.push('two attachments have the same name');
  for (const step of protocol.robots.flatMap(({ steps }) => steps)) {
    for (const name of step.answer?.attachments ?? []) {
      if (!kept.has(name)) wrong.push(`step ${step.id} names the attachment ${name}, which the list does not have`);
    }
  }
  if (wrong.length === 0) say('consistent', 'ok', 'counted again');
  else say('consistent', 'wrong', `${wrong.slice(0, 5).join('; ')}.`);
}

function checkSignature(protocol: Protocol, options: VerifyOptions, say: Say): void {
  try {
    checkSigned(protocol, options, say);
  } catch {
    // What a damaged certificate makes the library throw is not for a person to read.
    say('certificate', 'wrong', 'The certificate is damaged.');
  }
}

function checkSigned(protocol: Protocol, { expectedSerial, caPem }: VerifyOptions, say: Say): void {
  const { signature } = protocol;
  if (signature === null) {
    say('signature', 'not-checked', 'It is not signed: no device vouches for it.');
    if (expectedSerial !== undefined) say('expected-serial', 'not-checked', 'Nobody signed it.');
    return;
  }
  let certificates: X509Certificate[] = [];
  try {
    certificates = readCertificates(signature.certificate);
  } catch {
    // What is no certificate is said below.
  }
  const [leaf] = certificates;
  if (!leaf || certificates.map(String).join('') !== signature.certificate) {
    say('certificate', 'wrong', 'What stands in place of the certificate is none.');
    return;
  }
  const value = Buffer.from(signature.value, 'base64');
  // Base64 has several texts for the same bytes; only one of them was written.
  const isPlain = value.toString('base64') === signature.value;
  const holds = isPlain && isLowS(value) && isP256(leaf) && checks(leaf, signedBytes(protocol), value);
  if (holds) say('signature', 'ok', `signed with the key of ${signature.serial}`);
  else say('signature', 'wrong', 'The signature does not fit the content: the file is not what was signed.');

  checkCertificate(protocol, leaf, say);
  checkValidity(protocol, certificates, say);
  checkChain(certificates, caPem, say);
  if (expectedSerial !== undefined) {
    const isExpected = signature.serial === expectedSerial && commonName(leaf) === expectedSerial;
    say('expected-serial', isExpected ? 'ok' : 'wrong', `expected ${expectedSerial}, found ${signature.serial}`);
  }
}

function isP256({ publicKey }: X509Certificate): boolean {
  return publicKey.asymmetricKeyType === 'ec' && publicKey.asymmetricKeyDetails?.namedCurve === 'prime256v1';
}

function checks({ publicKey }: X509Certificate, bytes: Uint8Array, signature: Buffer): boolean {
  return verifySignature('sha256', bytes, { key: publicKey, dsaEncoding: 'ieee-p1363' }, signature);
}

function checkCertificate({ signature, robots }: Protocol, leaf: X509Certificate, say: Say): void {
  const named = commonName(leaf);
  const serial = signature?.serial ?? '';
  if (named === undefined) say('certificate', 'wrong', 'The certificate does not name exactly one device.');
  else if (named !== serial) say('certificate', 'wrong', `The certificate belongs to ${named}, not to ${serial}.`);
  else if (!robots.some((robot) => robot.serial === named)) {
    say('certificate', 'wrong', `${named} signed, but the protocol is not about it.`);
  } else say('certificate', 'ok', `${named}, fingerprint ${leaf.fingerprint256}`);
}

/** The one common name of the subject; undefined when there is none or more than one. */
function commonName(certificate: X509Certificate): string | undefined {
  const { CN: name } = certificate.toLegacyObject().subject ?? {};
  return typeof name === 'string' ? name : undefined;
}

function checkValidity({ startedAt, endedAt }: Protocol, certificates: readonly X509Certificate[], say: Say): void {
  const [from, to] = [Date.parse(startedAt), Date.parse(endedAt)];
  const [leaf] = certificates;
  const valid = certificates.every(({ validFromDate, validToDate }) => {
    return [from, to].every((at) => validFromDate.getTime() <= at && at <= validToDate.getTime());
  });
  const span = `${leaf?.validFromDate.toISOString()} to ${leaf?.validToDate.toISOString()}`;
  say('validity', valid ? 'ok' : 'wrong', `valid from ${span}, used from ${startedAt} to ${endedAt}`);
}

const LONGEST_CHAIN = 5;

function checkChain(certificates: readonly X509Certificate[], caPem: string | undefined, say: Say): void {
  if (caPem === undefined) {
    say('chain', 'not-checked', 'No authority was given, and anybody can make a certificate that names a serial.');
    return;
  }
  let trusted: X509Certificate[] = [];
  try {
    trusted = readCertificates(caPem);
  } catch {
    // What is no certificate is trusted by nobody.
  }
  if (trusted.length === 0) {
    say('chain', 'wrong', 'What was given as the authority holds no certificate.');
    return;
  }
  let [at, ...between] = certificates;
  for (let length = 0; at !== undefined && length < LONGEST_CHAIN; length += 1) {
    const below = at;
    const root = trusted.find((ca) => issued(ca, below));
    if (root) {
      say('chain', 'ok', `issued by ${oneLine(root.subject)}`);
      return;
    }
    at = between.find((ca) => issued(ca, below));
    between = between.filter((ca) => ca !== at);
  }
  say('chain', 'wrong', `None of the given authorities issued it; it says ${oneLine(certificates[0]?.issuer ?? '')}.`);
}

function issued(ca: X509Certificate, certificate: X509Certificate): boolean {
  return ca.ca && certificate.checkIssued(ca) && certificate.verify(ca.publicKey);
}

function oneLine(name: string): string {
  return name.replaceAll('\n', ', ');
}

async function checkAttachments(
  attachments: readonly Attachment[],
  { readAttachment }: VerifyOptions,
  say: Say,
): Promise<void> {
  if (attachments.length === 0) {
    say('attachments', 'ok', 'it has none');
    return;
  }
  if (!readAttachment) {
    say('attachments', 'not-checked', `${attachments.length} attachments, and nobody said where they are`);
    return;
  }
  const wrong: string[] = [];
  for (const { name, sha256: expected, bytes } of attachments) {
    const found = await readAttachment(name);
    if (found === null) wrong.push(`${name} is not there`);
    else if (found.byteLength !== bytes || sha256(found) !== expected) wrong.push(`${name} is not what was attached`);
  }
  if (wrong.length === 0) say('attachments', 'ok', `${attachments.length}, every hash compared`);
  else say('attachments', 'wrong', `${wrong.slice(0, 10).join('; ')}.`);
}

/** Folder of a protocol's attachments: beside it, with its name. */
export function attachmentsDirOf(protocolPath: string): string {
  return `${protocolPath.replace(/\.json$/, '')}.files`;
}

/** As `verifyProtocol`, of a file and the folder of attachments beside it. Throws FILE_UNWRITABLE when it cannot be read. */
export async function verifyProtocolFile(
  path: string,
  options: Omit<VerifyOptions, 'readAttachment'> = {},
): Promise<ProtocolVerification> {
  const bytes = await readBounded(path, PROTOCOL_MAX_BYTES).catch((cause: NodeJS.ErrnoException) => {
    throw new GwError('FILE_UNWRITABLE', `${path} cannot be read (${cause.code ?? cause.message}).`, { cause });
  });
  const dir = attachmentsDirOf(path);
  return verifyProtocol(bytes, {
    ...options,
    // The schema has let only names through that stay in the folder.
    readAttachment: (name) => readBounded(join(dir, name), ATTACHMENT_MAX_BYTES).catch(() => null),
  });
}

/** At most one byte more than the bound, so that what is too large is seen to be. */
async function readBounded(path: string, most: number): Promise<Uint8Array> {
  await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const stats = await file.stat();
  if (!stats.isFile()) throw new Error('it is not a regular file');
  const bytes = new Uint8Array(Math.min(stats.size, most) + 1);
  let length = 0;
  while (length < bytes.byteLength) {
    const { bytesRead } = await file.read(bytes, length, bytes.byteLength - length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return bytes.subarray(0, length);
}
