import { generateKeyPairSync, sign } from 'node:crypto';
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  attachmentsDirOf,
  beginJournal,
  type Catalogue,
  type CheckRecord,
  composeRecord,
  parseAnswers,
  parseChecklist,
  type RecordRobot,
  type RecordSigner,
  readJournal,
  recordSchema,
  recordText,
  recordVerificationSchema,
  runSession,
  signRecord,
  verifyRecord,
  verifyRecordFile,
} from '../../../src/lib/checklist/index.ts';
import { canonicalText } from '../../../src/lib/checklist/record/canonical.ts';
import { systemClock } from '../../../src/lib/lifecycle/index.ts';
import { type CertificateAuthority, createCa } from '../../../src/lib/sim/cloud/certificates.ts';
import { mapTexts } from '../../../src/lib/text/index.ts';
import { isFull, runs } from '../../properties.ts';
import { forAll, forAllAsync, forAllAsyncOf, has, sharedFolder } from '../../toolkit/kit.ts';

const catalogue: Catalogue = {
  probe: {
    summary: 'Looks.',
    moves: false,
    with: z.strictObject({}),
    software: () => ({ value: '1.2.3', mark: 'BELEGT', source: 'measured here' }),
    // A lone surrogate and an inherited property name, as a foreign device may send them.
    run: async () => ({ sound: true, odd: 'a\ud800b', ['__proto__' as string]: 1, latencyMs: 12.25 }),
  },
};
const text = `schema: gw/checklist/1
name: own
title: Öffnung
purpose: To see.
phase: handover
sections:
  - id: first
    title: First
    steps:
      - { id: probe, title: Probe, proves: Device, run: probe, facts: [angles.pose-ori, vendor.move.request], expect: { sound: true }, values: { latency: { path: latencyMs, unit: ms, mark: BELEGT } }, remedy: Mend. }
      - { id: label, title: Label, proves: Device, confirm: Is it?, remedy: Mend. }
  - id: second
    title: Second
    steps:
      - { id: door, title: Door, proves: Device, measure: How wide?, unit: m, expect: { value: { at-least: 0.8 } }, remedy: Mend. }
`;
const checklist = parseChecklist(text, '/lists/own.yaml', catalogue);
const jpeg = Buffer.from([0xff, 0xd8, 0xff, 0xe0, 1, 2, 3]);

const dsaEncoding = 'ieee-p1363';

const dir = sharedFolder();
let authority: CertificateAuthority;
let signer: RecordSigner;
let record: CheckRecord;
let path = '';

async function signerOf(
  serial: string,
  from: CertificateAuthority = authority,
  more: object = {},
): Promise<RecordSigner> {
  const { keyPem, certificatePem } = await from.issueClientPair(serial, more);
  return { serial, certificatePem, sign: (bytes) => sign('sha256', bytes, { key: keyPem, dsaEncoding }) };
}

/** A record of a run with a photo, as the toolkit creates it. */
async function createRecord(answers: string, more: Partial<RecordRobot> = {}): Promise<CheckRecord> {
  const subject = { site: 'Lobby', serial: 'SN1' };
  await using journal = await beginJournal(join(dir, 'runs'), {
    id: crypto.randomUUID(),
    at: new Date().toISOString(),
    gw: '0',
    checklist: { name: 'own', sha256: checklist.sha256 },
    robots: [subject],
  });
  const sessions = await runSession({
    robots: [{ checklist, subject }],
    wanted: { only: [], from: null },
    journal,
    clock: systemClock,
    signal: new AbortController().signal,
    motionAllowed: false,
    answers: parseAnswers(answers, join(dir, 'answers.yaml'), checklist),
  });
  const [session] = sessions;
  if (!session) throw new Error('no session');
  const robot = { ...session, ...subject, evidenceRecords: [], redLines: [], ...more };
  const state = await readJournal(journal.path);
  const made = composeRecord({
    journal: state,
    edition: 1,
    gwVersion: '1.0.0',
    checklist,
    technician: { name: 'Kim Miller', initials: 'KM' },
    endedAt: new Date().toISOString(),
    timeZone: 'Europe/Berlin',
    robots: [robot],
  });
  path = join(dir, `${made.id}.json`);
  await mkdir(attachmentsDirOf(path));
  for (const { name } of made.attachments) {
    await copyFile(join(journal.attachmentsDir, name), join(attachmentsDirOf(path), name));
  }
  return made;
}

const good = 'label: { answer: yes, initials: KM, photo: photo.jpg }\ndoor: 0.9\n';

beforeAll(async () => {
  await writeFile(join(dir, 'photo.jpg'), jpeg);
  authority = await createCa();
  signer = await signerOf('SN1');
  record = signRecord(await createRecord(good), signer);
  await writeFile(path, recordText(record));
});

const verify = (value: CheckRecord | Uint8Array | string, more = {}) =>
  verifyRecord(
    value instanceof Uint8Array ? value : Buffer.from(typeof value === 'string' ? value : recordText(value)),
    {
      expectedSerial: 'SN1',
      caPem: authority.caPem,
      readAttachment: async (name) => (name === '001-label.jpg' ? jpeg : null),
      ...more,
    },
  );
const wrongOf = async (value: CheckRecord | Uint8Array | string, more = {}) => {
  const { findings, verified } = await verify(value, more);
  expect(verified).toBe(false);
  return findings.filter(({ verdict }) => verdict !== 'ok').map(({ id, verdict }) => `${id} ${verdict}`);
};

describe('a record', () => {
  test('names robot, findings, measurements, answers, and the facts that they rely on', () => {
    expect(recordSchema.parse(record)).toMatchObject({
      format: 'gw/check-record/1',
      checklist: { name: 'own', phase: 'handover', file: 'own.yaml', sha256: checklist.sha256 },
      technician: { name: 'Kim Miller', initials: 'KM' },
      ok: true,
      accepted: true,
      leftOut: false,
      counts: { ok: 3, wrong: 0, skipped: 0, notChecked: 0 },
      attachments: [{ name: '001-label.jpg', bytes: 7, mediaType: 'image/jpeg' }],
      signature: { algorithm: 'ECDSA-P256-SHA256-P1363', serial: 'SN1' },
    });
    const [robot] = record.robots;
    expect(robot).toMatchObject({
      serial: 'SN1',
      software: { value: '1.2.3', mark: 'BELEGT' },
      sections: [
        { id: 'first', ok: true, counts: { ok: 2 } },
        { id: 'second', ok: true, counts: { ok: 1 } },
      ],
      evidence: [
        { id: 'angles.pose-ori', mark: 'BELEGT', verifiedHere: 'no' },
        { id: 'vendor.move.request', mark: 'HINWEIS', verifiedHere: 'no' },
      ],
    });
    expect(robot?.steps[0]?.values).toEqual([
      { name: 'latency', value: 12.25, unit: 'ms', mark: 'BELEGT', basis: 'here', source: "gw, check 'probe'" },
    ]);
    expect(robot?.steps[1]?.answer).toMatchObject({ initials: 'KM', attachments: ['001-label.jpg'] });
  });

  test('is verified from a file with its CA and attachments', async () => {
    const result = await verifyRecordFile(path, { expectedSerial: 'SN1', caPem: authority.caPem });
    expect(recordVerificationSchema.parse(result)).toMatchObject({ verified: true, verdict: 'ok' });
    expect(result.findings.map(({ id }) => id)).toEqual([
      'file',
      'form',
      'content',
      'consistent',
      'signature',
      'certificate',
      'validity',
      'chain',
      'expected-serial',
      'attachments',
    ]);
  });

  test('any changed bit makes it unverified', { tags: 'property' }, async () => {
    const bytes = Buffer.from(recordText(record));
    await forAllAsyncOf(1_000)(fc.nat(bytes.length - 1), fc.nat(7), async (at, bit) => {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ (1 << bit);
      expect((await verify(changed)).verified).toBe(false);
    });
  });

  test('every changed bit of signature and certificate is detected, padding bits too', {
    tags: 'property',
  }, async () => {
    const whole = recordText(record);
    const bytes = Buffer.from(whole);
    const from = whole.indexOf('"signature"');
    const start = Buffer.byteLength(whole.slice(0, from));
    for (let at = start; at < bytes.length; at += isFull ? 1 : 13) {
      for (const bit of at > bytes.length - 120 ? [0, 1, 2, 3, 4, 5, 6, 7] : [0]) {
        const changed = Buffer.from(bytes);
        changed[at] = (changed[at] ?? 0) ^ (1 << bit);
        expect((await verify(changed)).verified, `byte ${at}, bit ${bit}`).toBe(false);
      }
    }
  });

  test('any removed, inserted or truncated byte makes it unverified', { tags: 'property' }, async () => {
    const bytes = Buffer.from(recordText(record));
    await forAllAsyncOf(300)(
      fc.nat(bytes.length - 1),
      fc.nat(255),
      fc.constantFrom('out', 'in', 'cut'),
      async (at, byte, how) => {
        const put = Buffer.concat([bytes.subarray(0, at), Buffer.from([byte]), bytes.subarray(at)]);
        const out = Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1)]);
        const changed = { out, in: put, cut: bytes.subarray(0, at) }[how];
        expect((await verify(changed)).verified).toBe(false);
      },
    );
  });

  test('any bytes yield findings, never an error', { tags: 'property' }, async () => {
    await forAllAsync(
      fc.oneof(
        fc.uint8Array(),
        fc.json().map((json) => Buffer.from(json)),
      ),
      async (bytes) => {
        expect((await verify(bytes)).verdict).toBe('wrong');
      },
    );
    const deep = Buffer.from(`${'['.repeat(50_000)}${']'.repeat(50_000)}`);
    expect((await verify(deep)).verdict).toBe('wrong');
  });

  test('names each mismatch', async () => {
    const plain = recordText(record);
    expect(await wrongOf(plain.replace('"KM"', '"XX"'))).toEqual(['signature wrong']);
    expect(await wrongOf(plain.replace('"counts": {', '"counts":  {'))).toEqual(['form wrong']);
    expect(await wrongOf(JSON.stringify(record))).toEqual(['form wrong']);
    expect(await wrongOf(`\ufeff${plain}`)).toEqual(['file wrong']);
    expect(await wrongOf(plain.replace('gw/check-record/1', 'gw/check-record/2'))).toEqual(['content wrong']);
    expect(await wrongOf(plain, { expectedSerial: 'SN2' })).toEqual(['expected-serial wrong']);
    expect(await wrongOf(plain, { caPem: (await createCa()).caPem })).toEqual(['chain wrong']);
    expect(await wrongOf(plain, { caPem: 'nothing' })).toEqual(['chain wrong']);
    expect(await wrongOf(plain, { caPem: undefined })).toEqual(['chain not-checked']);
    expect(await wrongOf(plain, { readAttachment: async () => null })).toEqual(['attachments wrong']);
    expect(await wrongOf(plain, { readAttachment: async () => Buffer.from('x') })).toEqual(['attachments wrong']);
    expect(await wrongOf(plain, { readAttachment: undefined })).toEqual(['attachments not-checked']);
  });

  test('a certificate of another robot, of another key, or that was not valid then does not pass', async () => {
    const other = await signerOf('SN2');
    expect(await wrongOf(signRecord(record, other))).toEqual(['certificate wrong', 'expected-serial wrong']);
    const lying = signRecord(record, { ...other, serial: 'SN1' });
    expect(await wrongOf(lying)).toEqual(['certificate wrong', 'expected-serial wrong']);
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
    const stolen = signRecord(record, {
      ...signer,
      sign: (bytes) => sign('sha256', bytes, { key: privateKey, dsaEncoding }),
    });
    expect(await wrongOf(stolen)).toEqual(['signature wrong']);
    const past = { notBefore: new Date('2020-01-01'), notAfter: new Date('2021-01-01') };
    expect(await wrongOf(signRecord(record, await signerOf('SN1', authority, past)))).toEqual(['validity wrong']);
  });

  test('of the two valid signatures, only the one that gw writes is accepted', { tags: 'property' }, async () => {
    const order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
    for (let run = 0; run < runs(20); run += 1) {
      const signed = signRecord(record, signer);
      const { signature } = signed;
      if (!signature) throw new Error('not signed');
      expect((await verify(signed)).verified).toBe(true);
      const value = Buffer.from(signature.value, 'base64');
      const other = (order - BigInt(`0x${value.subarray(32).toString('hex')}`)).toString(16).padStart(64, '0');
      const twin = Buffer.concat([value.subarray(0, 32), Buffer.from(other, 'hex')]).toString('base64');
      expect(await wrongOf({ ...signed, signature: { ...signature, value: twin } })).toEqual(['signature wrong']);
    }
  });

  test('a signer that is not P-256, or uses another encoding, is rejected', () => {
    for (const bytes of [0, 63, 65, 71, 96]) {
      expect(() => signRecord(record, { ...signer, sign: () => new Uint8Array(bytes) })).toThrow(RangeError);
    }
  });

  test('every signature is 64 bytes with a low s, whatever the device produced', { tags: 'property' }, () => {
    const half = 0x7fffffff800000007fffffffffffffffde737d56d38bcf4279dce5617e3192a8n;
    forAll(fc.uint8Array({ minLength: 64, maxLength: 64 }), (bytes) => {
      // In a valid signature s is below the order.
      bytes[32] = Math.min(bytes[32] ?? 0, 0xfe);
      const { signature } = signRecord(record, { ...signer, sign: () => bytes });
      const value = Buffer.from(signature?.value ?? '', 'base64');
      expect(value.length).toBe(64);
      expect(value.subarray(0, 32)).toEqual(Buffer.from(bytes.subarray(0, 32)));
      expect(BigInt(`0x${value.subarray(32).toString('hex')}`) <= half).toBe(true);
    });
  });

  test('an unreadable photo is not-checked, a missing one is wrong', async () => {
    const readAttachment = async () => {
      throw Object.assign(new Error('denied'), { code: 'EACCES' });
    };
    expect(await wrongOf(record, { readAttachment })).toEqual(['attachments not-checked']);
    const elsewhere = join(dir, 'elsewhere.json');
    await writeFile(elsewhere, recordText(record));
    const result = await verifyRecordFile(elsewhere, { caPem: authority.caPem });
    expect(result.findings.find(({ id }) => id === 'attachments')).toMatchObject({
      verdict: 'wrong',
      detail: '001-label.jpg is missing.',
    });
  });

  test('a replaced certificate invalidates the signed content', async () => {
    const { signature } = record;
    if (!signature) throw new Error('not signed');
    const garbled = { ...record, signature: { ...signature, certificate: 'none' } };
    expect(await wrongOf(garbled)).toEqual(['signature wrong', 'certificate wrong']);
  });

  test('a missing file or a folder is FILE_UNREADABLE', async () => {
    await expect(verifyRecordFile(dir)).rejects.toMatchObject({
      code: 'FILE_UNREADABLE',
      message: has('not a regular file'),
    });
    await expect(verifyRecordFile(join(dir, 'none.json'))).rejects.toMatchObject({
      code: 'FILE_UNREADABLE',
      message: has('no such file or folder'),
    });
  });

  test('a chain with an intermediate CA is verified; an incomplete one is not', async () => {
    const between = await authority.issueCa('Between');
    const one = await signerOf('SN1', between);
    const whole = signRecord(record, { ...one, certificatePem: `${one.certificatePem}\n${between.caPem}` });
    expect(await verify(whole)).toMatchObject({ verified: true });
    expect(await wrongOf(signRecord(record, one))).toEqual(['chain wrong']);
  });

  test('a signed record whose summary is better than its steps is rejected', async () => {
    const [robot, ...others] = record.robots;
    if (!robot) throw new Error('no robot');
    const steps = robot.steps.map((step, index) => (index === 0 ? { ...step, verdict: 'wrong' as const } : step));
    const flattering = signRecord({ ...record, robots: [{ ...robot, steps }, ...others] }, signer);
    const { findings, verified } = await verify(flattering);
    expect(verified).toBe(false);
    expect(findings.find(({ id }) => id === 'consistent')).toMatchObject({
      verdict: 'wrong',
      detail: has('SN1 has ok true, its steps give false'),
    });
  });

  test('an unsigned record is never verified, and states that it is not signed', async () => {
    const unsigned = { ...record, signature: null };
    expect(await wrongOf(unsigned)).toEqual(['signature not-checked', 'expected-serial not-checked']);
  });

  test('a red line prevents ok, and an open step prevents accepted', async () => {
    const line = { id: 'tablet-open', title: 'Tablet', detail: 'open', remedy: 'Lock it.' };
    const red = await createRecord(good, { redLines: [line] });
    expect(red).toMatchObject({ ok: false, accepted: false, counts: { ok: 3 } });
    expect(red.robots[0]?.redLines).toEqual([line]);
    expect(await createRecord('door: 0.9\n')).toMatchObject({ ok: false, accepted: false, counts: { notChecked: 1 } });
    const deviating = await createRecord(
      'label: { answer: no, accept: { reason: worn off, by: A. Boss } }\ndoor: 0.9\n',
    );
    expect(deviating).toMatchObject({ ok: false, accepted: true, deviations: 1, counts: { wrong: 1 } });
    expect(await verify(signRecord(deviating, signer), { readAttachment: undefined })).toMatchObject({
      verified: true,
      record: { ok: false },
    });
  });

  test('facts are verified on this device only by evidence of this chassis and software', async () => {
    const record = {
      fact: 'vendor.move.request',
      serial: 'SN1',
      software: '1.2.3',
      value: true,
      how: 'seen',
      who: 'KM',
      when: '2026-01-02T03:04:05.000Z',
    } as never;
    const of = async (more: Partial<RecordRobot>) =>
      (await createRecord(good, more)).robots[0]?.evidence.map(({ verifiedHere }) => verifiedHere);
    expect(await of({ evidenceRecords: [record] })).toEqual(['no', 'yes']);
    const simulated = { ...(record as object), simulated: true } as never;
    expect(await of({ evidenceRecords: [simulated] })).toEqual(['no', 'on-a-simulator']);
    const against = { ...(record as object), value: false } as never;
    expect(await of({ evidenceRecords: [record, against] })).toEqual(['no', 'contradicted']);
    expect(await of({ evidenceRecords: [record], software: null })).toEqual(['not-checked', 'not-checked']);
    expect(await of({ evidenceRecords: null })).toEqual(['not-checked', 'not-checked']);
  });

  test('an incomplete step relies on no fact', async () => {
    const steps = (record.robots[0]?.steps ?? []).map((step) => ({ ...step, at: null, leftOut: true }));
    const none = await createRecord(good, { result: { steps } as unknown as RecordRobot['result'] });
    expect(none).toMatchObject({ leftOut: true, robots: [{ evidence: [] }] });
  });
});

describe('the canonical text', () => {
  test('is the one of RFC 8785', () => {
    // The example of RFC 8785, section 3.2.2, and the order of section 3.2.3.
    const value = JSON.parse(
      '{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],"string":"\\u20ac$\\u000F\\u000aA\'\\u0042\\u0022\\u005c\\\\\\"\\/","literals":[null,true,false]}',
    );
    expect(canonicalText(value)).toBe(
      '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
    );
    const order = { '\u20ac': 1, '\r': 2, '\ufb33': 3, '1': 4, '\ud83d\ude00': 5, '\u0080': 6, '\u00f6': 7 };
    expect([...canonicalText(order).matchAll(/:(\d)/g)].map(([, n]) => Number(n))).toEqual([2, 4, 6, 7, 1, 5, 3]);
  });

  test('is unique for each value, whatever the order of keys, and parses back to it', { tags: 'property' }, () => {
    forAll(fc.jsonValue(), (raw) => {
      const value = mapTexts(JSON.parse(JSON.stringify(raw)), (text) => text.toWellFormed());
      for (const indent of [0, 2]) {
        const once = canonicalText(value, indent);
        expect(canonicalText(JSON.parse(once), indent)).toBe(once);
      }
    });
  });

  test('rejects values that are not JSON', () => {
    for (const value of [undefined, Number.NaN, 1n, '\ud800', { a: '\udfff' }, { '\ud800': 1 }, () => 1]) {
      expect(() => canonicalText(value)).toThrow(RangeError);
    }
  });
});
