import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { GwError } from '../error/index.ts';
import { readBounded, sha256 } from '../lifecycle/index.ts';
import { ATTACHMENT_MAX_BYTES } from './attachment.ts';
import { canonicalText } from './canonical.ts';
import {
  type Attachment,
  type CheckRecord,
  type RecordVerification,
  recordSchema,
  type VerificationFinding,
} from './record.result.ts';
import { robotSummaryOf, sectionSummaryOf, summaryOf } from './record.ts';
import { checkSignature, type Say, type SignatureOptions } from './verify-signature.ts';

const RECORD_MAX_BYTES = 16 * 1024 * 1024;

export interface VerifyOptions extends SignatureOptions {
  /**
   * Gives an attachment by its name; null when it is not there. Throws when nobody can tell. Absent: attachments are
   * not checked.
   */
  readonly readAttachment?: (name: string) => Promise<Uint8Array | null>;
}

type Finding = VerificationFinding;
type Id = Finding['id'];

const titles: Readonly<Record<Id, string>> = {
  file: 'The file is text of JSON',
  form: 'It is written in the one way in which a record is written',
  content: 'It has the content of a record',
  consistent: 'Its summaries agree with its steps',
  signature: 'It is signed, and unchanged since',
  certificate: 'The certificate belongs to the robot that it names',
  validity: 'The certificate was valid at that time',
  chain: 'A known authority issued the certificate',
  'expected-serial': 'The expected robot signed it',
  attachments: 'Its attachments are there, unchanged',
};

/**
 * Whether a record is what a device signed: its bytes, its signature, its certificate, and, when they are given, the
 * authority, the expected robot and the attachments. What nobody could look at is not checked, and a record is
 * verified only when every finding is ok: so without `caPem` it never is, since anybody can make a certificate that
 * names a serial. Never throws for what stands in the bytes.
 */
export async function verifyRecord(bytes: Uint8Array, options: VerifyOptions = {}): Promise<RecordVerification> {
  const findings: Finding[] = [];
  const say: Say = (id, verdict, detail) => {
    findings.push({ id, title: titles[id], verdict, detail });
  };
  const record = readRecord(bytes, say);
  if (record !== null) {
    checkConsistent(record, say);
    checkSignature(record, options, say);
    await checkAttachments(record.attachments, options, say);
  }
  const verdict = findings.some((finding) => finding.verdict === 'wrong')
    ? 'wrong'
    : findings.every((finding) => finding.verdict === 'ok')
      ? 'ok'
      : 'not-checked';
  return { verified: verdict === 'ok', verdict, findings, record };
}

function readRecord(bytes: Uint8Array, say: Say): CheckRecord | null {
  const bad = (id: Id, detail: string) => {
    say(id, 'wrong', detail);
    return null;
  };
  if (bytes.byteLength > RECORD_MAX_BYTES) return bad('file', 'It is larger than any record of gw.');
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
  const parsed = recordSchema.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const at = issue?.path.length ? ` at ${issue.path.map(String).join('.')}` : '';
    return bad(
      'content',
      `It is no record of the form gw/check-record/1${at}: ${issue?.message ?? 'it does not fit'}.`,
    );
  }
  say('content', 'ok', `record ${parsed.data.id}, edition ${parsed.data.edition}`);
  // As it was read: what is signed is every key of it, whatever a schema makes of them.
  return value as CheckRecord;
}

function checkConsistent(record: CheckRecord, say: Say): void {
  const wrong: string[] = [];
  const compare = (where: string, said: object, counted: object) => {
    for (const [key, value] of Object.entries(counted)) {
      const claim = (said as Readonly<Record<string, unknown>>)[key];
      if (!isDeepStrictEqual(claim, value)) {
        wrong.push(`${where} says ${key} ${JSON.stringify(claim)}, its steps say ${JSON.stringify(value)}`);
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
  if (wrong.length === 0) say('consistent', 'ok', 'counted again');
  else say('consistent', 'wrong', `${wrong.slice(0, 5).join('; ')}.`);
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
  const unread: string[] = [];
  for (const { name, sha256: expected, bytes } of attachments) {
    try {
      const found = await readAttachment(name);
      if (found === null) wrong.push(`${name} is not there`);
      else if (found.byteLength !== bytes || sha256(found) !== expected) wrong.push(`${name} is not what was attached`);
    } catch (error) {
      unread.push(`${name} cannot be read (${reasonOf(error)})`);
    }
  }
  if (wrong.length > 0) say('attachments', 'wrong', `${wrong.slice(0, 10).join('; ')}.`);
  else if (unread.length > 0) say('attachments', 'not-checked', `${unread.slice(0, 10).join('; ')}.`);
  else say('attachments', 'ok', `${attachments.length}, every hash compared`);
}

/** Folder of a record's attachments: beside it, with its name. */
export function attachmentsDirOf(recordPath: string): string {
  return `${recordPath.replace(/\.json$/, '')}.files`;
}

/** As `verifyRecord`, of a file and the folder of attachments beside it. Throws FILE_UNWRITABLE when it cannot be read. */
export async function verifyRecordFile(
  path: string,
  options: Omit<VerifyOptions, 'readAttachment'> = {},
): Promise<RecordVerification> {
  const unreadable = (why: string, cause?: unknown) =>
    new GwError('FILE_UNWRITABLE', `${path} cannot be read${why}.`, { cause });
  const read = await readBounded(path, RECORD_MAX_BYTES).catch((cause) => {
    throw unreadable(` (${reasonOf(cause)})`, cause);
  });
  if (read.kind === 'too-large') throw unreadable(': it is larger than any record of gw');
  if (read.kind !== 'bytes') throw unreadable(': it is not a regular file');
  const dir = attachmentsDirOf(path);
  return verifyRecord(read.bytes, {
    ...options,
    // The schema has let only names through that stay in the folder.
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
      // No photo has so much, so it is something else, whatever it is.
      return new Uint8Array();
    default:
      return null;
  }
}

function reasonOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? 'unknown reason';
}
