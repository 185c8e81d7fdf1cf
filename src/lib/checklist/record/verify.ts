import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { GwError, systemReason } from '../../error/index.ts';
import { readBounded, sha256 } from '../../lifecycle/index.ts';
import { ATTACHMENT_MAX_BYTES } from '../journal/attachment.ts';
import {
  type Attachment,
  type CheckRecord,
  type RecordVerification,
  recordSchema,
  type VerificationFinding,
} from '../record.result.ts';
import { canonicalText } from './canonical.ts';
import { robotSummaryOf, sectionSummaryOf, summaryOf } from './record.ts';
import { type AddFinding, checkSignature, type SignatureOptions } from './verify-signature.ts';

const RECORD_MAX_BYTES = 16 * 1024 * 1024;

export interface VerifyOptions extends SignatureOptions {
  /**
   * Returns an attachment by name; null when it is missing. Throws when it cannot be read. Absent: attachments are
   * not-checked.
   */
  readonly readAttachment?: (name: string) => Promise<Uint8Array | null>;
}

type Finding = VerificationFinding;
type Id = Finding['id'];

const titles: Readonly<Record<Id, string>> = {
  file: 'The file is JSON',
  form: 'The file is in canonical form',
  content: 'The content is an acceptance record',
  consistent: 'The summaries match the steps',
  signature: 'The record is signed and unchanged',
  certificate: 'The certificate belongs to a robot of the record',
  validity: 'The certificate was valid during the run',
  chain: 'A trusted CA issued the certificate',
  'expected-serial': 'The expected robot signed it',
  attachments: 'The attachments are complete and unchanged',
};

/**
 * Verifies a record: its bytes, signature and certificate, and, when given, the CA, the expected robot and the
 * attachments. A record is verified only when every finding is ok, so never without `caPem`: a certificate with any
 * serial can be forged. Malformed bytes are a finding, never an exception.
 */
export async function verifyRecord(bytes: Uint8Array, options: VerifyOptions = {}): Promise<RecordVerification> {
  const findings: Finding[] = [];
  const add: AddFinding = (id, verdict, detail) => {
    findings.push({ id, title: titles[id], verdict, detail });
  };
  const record = readRecord(bytes, add);
  if (record !== null) {
    checkConsistent(record, add);
    checkSignature(record, options, add);
    await checkAttachments(record.attachments, options, add);
  }
  const verdict = findings.some((finding) => finding.verdict === 'wrong')
    ? 'wrong'
    : findings.every((finding) => finding.verdict === 'ok')
      ? 'ok'
      : 'not-checked';
  return { verified: verdict === 'ok', verdict, findings, record };
}

function readRecord(bytes: Uint8Array, add: AddFinding): CheckRecord | null {
  const bad = (id: Id, detail: string) => {
    add(id, 'wrong', detail);
    return null;
  };
  if (bytes.byteLength > RECORD_MAX_BYTES)
    return bad('file', `The file is larger than ${RECORD_MAX_BYTES / 1024 / 1024} MiB.`);
  let text: string;
  let value: unknown;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    value = JSON.parse(text);
  } catch (error) {
    return bad('file', error instanceof SyntaxError ? 'Not valid JSON.' : 'Not UTF-8 text.');
  }
  add('file', 'ok', `${bytes.byteLength} bytes`);
  try {
    if (`${canonicalText(value, 2)}\n` === text) add('form', 'ok', 'sorted and indented, as gw writes it');
    else add('form', 'wrong', 'The file was edited or reformatted.');
  } catch (error) {
    return bad('form', error instanceof RangeError ? error.message : 'The value has no canonical form.');
  }
  const parsed = recordSchema.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const at = issue?.path.length ? ` at ${issue.path.map(String).join('.')}` : '';
    return bad('content', `The content does not match gw/check-record/1${at}: ${issue?.message ?? 'invalid value'}.`);
  }
  add('content', 'ok', `record ${parsed.data.id}, edition ${parsed.data.edition}`);
  // The value as read: the signature covers every key, also those that a schema would drop.
  return value as CheckRecord;
}

function checkConsistent(record: CheckRecord, add: AddFinding): void {
  const wrong: string[] = [];
  const compare = (where: string, stated: object, counted: object) => {
    for (const [key, value] of Object.entries(counted)) {
      const claim = (stated as Readonly<Record<string, unknown>>)[key];
      if (!isDeepStrictEqual(claim, value)) {
        wrong.push(`${where} has ${key} ${JSON.stringify(claim)}, its steps give ${JSON.stringify(value)}`);
      }
    }
  };
  for (const robot of record.robots) {
    compare(robot.serial, robot, robotSummaryOf(robot.steps, robot.redLines));
    for (const section of robot.sections) {
      compare(`${robot.serial}, section ${section.id}`, section, sectionSummaryOf(section.id, robot.steps));
    }
  }
  compare('the record', record, summaryOf(record.robots));
  const kept = new Set(record.attachments.map(({ name }) => name));
  if (kept.size !== record.attachments.length) wrong.push('two attachments have the same name');
  for (const step of record.robots.flatMap(({ steps }) => steps)) {
    for (const name of step.answer?.attachments ?? []) {
      if (!kept.has(name)) wrong.push(`step ${step.id} names the attachment ${name}, which the list does not have`);
    }
  }
  if (wrong.length === 0) add('consistent', 'ok', 'recomputed from the steps');
  else add('consistent', 'wrong', `${wrong.slice(0, 5).join('; ')}.`);
}

async function checkAttachments(
  attachments: readonly Attachment[],
  { readAttachment }: VerifyOptions,
  add: AddFinding,
): Promise<void> {
  if (attachments.length === 0) {
    add('attachments', 'ok', 'none');
    return;
  }
  if (!readAttachment) {
    add('attachments', 'not-checked', `${attachments.length} attachments; their folder was not given`);
    return;
  }
  const wrong: string[] = [];
  const unread: string[] = [];
  for (const { name, sha256: expected, bytes } of attachments) {
    try {
      const found = await readAttachment(name);
      if (found === null) wrong.push(`${name} is missing`);
      else if (found.byteLength !== bytes || sha256(found) !== expected) wrong.push(`${name} was changed`);
    } catch (error) {
      unread.push(`${name} cannot be read (${reasonOf(error)})`);
    }
  }
  if (wrong.length > 0) add('attachments', 'wrong', `${wrong.slice(0, 10).join('; ')}.`);
  else if (unread.length > 0) add('attachments', 'not-checked', `${unread.slice(0, 10).join('; ')}.`);
  else add('attachments', 'ok', `${attachments.length}, every hash compared`);
}

/** Folder of the attachments, beside the record and named after it. */
export function attachmentsDirOf(recordPath: string): string {
  return `${recordPath.replace(/\.json$/, '')}.files`;
}

/** As `verifyRecord`, of a file and the folder of attachments beside it. Throws FILE_UNREADABLE. */
export async function verifyRecordFile(
  path: string,
  options: Omit<VerifyOptions, 'readAttachment'> = {},
): Promise<RecordVerification> {
  const unreadable = (why: string, cause?: unknown) =>
    new GwError('FILE_UNREADABLE', `${path} cannot be read${why}.`, { cause });
  const read = await readBounded(path, RECORD_MAX_BYTES).catch((cause) => {
    throw unreadable(` (${reasonOf(cause)})`, cause);
  });
  if (read.kind === 'too-large') throw unreadable(`: it is larger than ${RECORD_MAX_BYTES / 1024 / 1024} MiB`);
  if (read.kind !== 'bytes') throw unreadable(': it is not a regular file');
  const dir = attachmentsDirOf(path);
  return verifyRecord(read.bytes, {
    ...options,
    // The schema accepts only names that stay in the folder.
    readAttachment: (name) => readAttachment(join(dir, name)),
  });
}

async function readAttachment(path: string): Promise<Uint8Array | null> {
  const read = await readBounded(path, ATTACHMENT_MAX_BYTES).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
    throw error;
  });
  switch (read?.kind) {
    case 'bytes':
      return read.bytes;
    case 'too-large':
      // Larger than any photo, so its hash cannot match.
      return new Uint8Array();
    default:
      return null;
  }
}

function reasonOf(error: unknown): string {
  return systemReason(error);
}
