import { sign } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { type CheckRecord, recordText, signRecord } from '../../../src/lib/checklist/index.ts';
import { type CertificateAuthority, createCa, type IssuedPair } from '../../../src/lib/sim/cloud/certificates.ts';
import {
  recordDiffSchema,
  recordReportSchema,
  recordVerifySchema,
} from '../../../src/lib/toolkit/checklist/checklist.result.ts';
import { compareRecords, diffRecords } from '../../../src/lib/toolkit/checklist/diff.ts';
import { reportRecord } from '../../../src/lib/toolkit/checklist/report.ts';
import { checkRecord } from '../../../src/lib/toolkit/checklist/verify.ts';
import { fontsDir, readPdf } from '../../report/pdf-reader.ts';
import {
  answeredStep,
  deviantStep,
  measuredStep,
  openStep,
  recordOf,
  robotOf,
  stepOf,
  wrongStep,
} from '../../report/records.ts';
import { forAll, forAllAsyncOf, has, sharedFolder } from '../kit.ts';

const dir = sharedFolder();
let authority: CertificateAuthority;
let device: IssuedPair;
let caPath: string;
const now = () => new Date('2026-11-21T12:00:00Z');

beforeAll(async () => {
  authority = await createCa({ notBefore: new Date('2026-01-01'), notAfter: new Date('2028-01-01') });
  device = await authority.issueClientPair('SN0007', {
    notBefore: new Date('2026-01-02'),
    notAfter: new Date('2027-12-01'),
  });
  caPath = join(dir, 'ca.pem');
  await writeFile(caPath, authority.caPem);
});

/** Writes a record as a run does: signed by the device unless disabled. */
async function write(name: string, record: CheckRecord, { signed = true } = {}): Promise<string> {
  const path = join(dir, name);
  const { serial } = record.robots[0] ?? { serial: '' };
  const done = signed
    ? signRecord(record, {
        serial,
        certificatePem: device.certificatePem,
        sign: (bytes) => sign('sha256', bytes, { key: device.keyPem, dsaEncoding: 'ieee-p1363' }),
      })
    : { ...record, signature: null };
  await writeFile(path, recordText(done));
  return path;
}

const good = () => recordOf([robotOf([stepOf(), measuredStep])], { attachments: [] });

describe('verifying a record file', () => {
  it('verifies the signature of the device, with the CA and the serial', async () => {
    const path = await write('good.json', good());
    const result = await checkRecord(path, { caPath, serial: 'SN0007' });
    expect(recordVerifySchema.parse(result)).toEqual(result);
    expect(result.findings.filter(({ verdict }) => verdict !== 'ok')).toEqual([]);
    expect(result).toMatchObject({
      state: 'verified',
      signedBy: 'SN0007',
      subject: { verdict: 'ok', counts: { ok: 2 } },
    });
  });

  it('is not verified without the CA, whatever else is valid', async () => {
    const path = await write('no-ca.json', good());
    expect(await checkRecord(path, { serial: 'SN0007' })).toMatchObject({ state: 'not-verified' });
  });

  it('reports not signed without a signature, and wrong where another robot signed', async () => {
    const unsigned = await write('unsigned.json', good(), { signed: false });
    expect(await checkRecord(unsigned, { caPath })).toMatchObject({ state: 'not-signed', signedBy: null });
    const path = await write('other.json', good());
    expect(await checkRecord(path, { caPath, serial: 'SN0008' })).toMatchObject({ state: 'wrong' });
  });

  it('reads the expected serial from a site file', async () => {
    const path = await write('site.json', good());
    const sitePath = join(dir, 'other-site.yaml');
    await writeFile(sitePath, 'name: Other\nchassis: { host: 127.0.0.1, serial: SN0009 }\n');
    const result = await checkRecord(path, { caPath, sitePath });
    expect(result.state).toBe('wrong');
    expect(result.findings.find(({ id }) => id === 'expected-serial')?.verdict).toBe('wrong');
  });

  it('rejects a file with any one byte changed, and creates no document of it', { tags: 'property' }, async () => {
    const path = await write('bytes.json', good());
    const bytes = await readFile(path);
    const changed = join(dir, 'changed.json');
    await forAllAsyncOf(150)(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 }), async (at, by) => {
      const copy = Buffer.from(bytes);
      copy[at] = (copy[at] ?? 0) ^ by;
      await writeFile(changed, copy);
      expect((await checkRecord(changed, { caPath, serial: 'SN0007' })).state).not.toBe('verified');
    });
    const edited = String(bytes).replace('every expectation holds', 'every expectation hold');
    // Nor when the certificate, which could not be checked, was removed too.
    for (const text of [edited, edited.replace(/"certificate": ".*"/, '"certificate": ""')]) {
      await writeFile(changed, text);
      const report = reportRecord({ fontsDir, path: changed, caPath, lang: 'de', format: 'html', now });
      await expect(report).rejects.toMatchObject({ code: 'RECORD_ALTERED' });
      await expect(compareRecords({ from: changed, to: path })).rejects.toMatchObject({ code: 'RECORD_ALTERED' });
    }
  });

  it('distinguishes an invalid record, an invalid certificate and a missing file', async () => {
    const other = join(dir, 'other-file.json');
    await writeFile(other, '{"a":1}\n');
    expect(await checkRecord(other, {})).toMatchObject({ state: 'wrong', subject: null });
    const report = reportRecord({ fontsDir, path: other, lang: 'en', format: 'md', now });
    await expect(report).rejects.toMatchObject({ code: 'RECORD_INVALID' });
    const path = await write('plain.json', good());
    await expect(checkRecord(path, { caPath: other })).rejects.toMatchObject({ code: 'USAGE' });
    await expect(checkRecord(path, { caPath: dir })).rejects.toMatchObject({
      code: 'USAGE',
      message: has('is not a regular file'),
    });
    await expect(checkRecord(path, { caPath: join(dir, 'none.pem') })).rejects.toMatchObject({
      code: 'USAGE',
      message: has('cannot be read (no such file or folder)'),
    });
    await expect(checkRecord(join(dir, 'none.json'), {})).rejects.toMatchObject({ code: 'FILE_UNREADABLE' });
  });
});

describe('the report of a record file', () => {
  it('is a PDF with the state of the signature on its first page', async () => {
    const path = await write('report.json', good());
    const out = join(dir, 'report.pdf');
    const result = await reportRecord({ fontsDir, path, caPath, lang: 'en', format: 'pdf', out, now });
    expect(recordReportSchema.parse(result)).toEqual(result);
    const pdf = readPdf(await readFile(out));
    expect(result).toMatchObject({
      state: 'verified',
      document: null,
      written: { path: out, pages: pdf.pages.length },
    });
    expect(pdf.pages[0]).toContain('signed with the key of the device SN0007, and verified');
    const without = await reportRecord({ fontsDir, path, lang: 'en', format: 'html', out, force: true, now });
    expect(without.state).toBe('not-verified');
    expect(await readFile(out, 'utf8')).toContain('Signed, but NOT VERIFIED');
  });

  it('is returned where no file is named, except a PDF', async () => {
    const path = await write('texts.json', good(), { signed: false });
    for (const [format, words] of [
      ['html', 'NICHT SIGNIERT'],
      ['md', 'NICHT SIGNIERT'],
      ['junit', 'not-signed'],
    ] as const) {
      const { document, written } = await reportRecord({ fontsDir, path, lang: 'de', format, now });
      expect(document).toContain(words);
      expect(written).toBeNull();
    }
    const pdf = reportRecord({ fontsDir, path, lang: 'de', format: 'pdf', now });
    await expect(pdf).rejects.toMatchObject({ code: 'USAGE' });
  });

  it('replaces no file without --force', async () => {
    const path = await write('kept.json', good());
    const out = join(dir, 'kept.html');
    await writeFile(out, 'mine');
    const report = reportRecord({ fontsDir, path, lang: 'de', format: 'html', out, now });
    await expect(report).rejects.toMatchObject({ code: 'FILE_EXISTS' });
    expect(await readFile(out, 'utf8')).toBe('mine');
  });

  it('states on its first page that a photo is missing or differs', async () => {
    const photo = Buffer.from('a photo');
    const { createHash } = await import('node:crypto');
    const sha256 = createHash('sha256').update(photo).digest('hex');
    const attachment = { name: '001-sensors.jpg', sha256, bytes: photo.length, mediaType: 'image/jpeg' } as const;
    const record = recordOf([robotOf([answeredStep])], { attachments: [attachment] });
    const path = await write('photo.json', record);
    expect(await checkRecord(path, { caPath, serial: 'SN0007' })).toMatchObject({ state: 'wrong' });
    await mkdir(join(dir, 'photo.files'));
    await writeFile(join(dir, 'photo.files', attachment.name), photo);
    expect(await checkRecord(path, { caPath, serial: 'SN0007' })).toMatchObject({ state: 'verified' });
    await writeFile(join(dir, 'photo.files', attachment.name), 'a phot0');
    const { document, state } = await reportRecord({ fontsDir, path, caPath, lang: 'en', format: 'html', now });
    expect(state).toBe('wrong');
    expect(document).toContain('verification FAILED');
  });
});

describe('the difference between two visits', () => {
  const side = (record: CheckRecord) => ({ path: 'a.json', state: 'verified', record }) as const;
  const before = recordOf([
    robotOf([
      ...[stepOf(), wrongStep, openStep, measuredStep, stepOf({ id: 'gone', title: 'Gone' })],
      stepOf({ id: 'open', verdict: 'not-checked' }),
    ]),
  ]);

  it('is empty between a record and itself', () => {
    const diff = diffRecords(side(before), side(before));
    expect(recordDiffSchema.parse(diff)).toEqual(diff);
    expect(diff).toMatchObject({ same: true, worse: false });
  });

  it('sorts steps into newly wrong, fixed, now checked, lost and otherwise', () => {
    const after = recordOf([
      robotOf([
        stepOf({ verdict: 'wrong', why: 'it does not answer' }),
        stepOf({ ...wrongStep, verdict: 'ok', why: 'every expectation holds' }),
        stepOf({ ...openStep, verdict: 'skipped', why: 'needs another' }),
        measuredStep,
        stepOf({ id: 'open' }),
        stepOf({ id: 'new', title: 'New' }),
      ]),
    ]);
    const [robot] = diffRecords(side(before), side(after)).robots;
    const short = (list: readonly { id: string; from: string | null; to: string | null }[] = []) =>
      list.map(({ id, from, to }) => `${id}: ${from} -> ${to}`);
    expect(short(robot?.newlyWrong)).toEqual(['address: ok -> wrong']);
    expect(short(robot?.fixed)).toEqual(['pose-unit: wrong -> ok']);
    // It may have been ok all the time: nothing says that it was fixed.
    expect(short(robot?.nowChecked)).toEqual(['open: not-checked -> ok']);
    expect(short(robot?.lost)).toEqual(['gone: ok -> null']);
    expect(short(robot?.otherwise)).toEqual(['drive: not-checked -> skipped', 'new: null -> ok']);
    expect(diffRecords(side(before), side(after))).toMatchObject({ same: false, worse: true });
  });

  it('lists changed measured values with their difference, and without one where the units differ', () => {
    const moved = (value: number | string, unit: string | null) =>
      recordOf([
        robotOf([stepOf({ ...measuredStep, values: [{ name: 'height', value, unit, mark: 'BELEGT', source: 's' }] })]),
      ]);
    const values = (from: CheckRecord, to: CheckRecord) => diffRecords(side(from), side(to)).robots[0]?.values ?? [];
    expect(values(moved(0.1, 'm'), moved(0.3, 'm'))).toMatchObject([
      { name: 'height', from: 0.1, to: 0.3, delta: 0.2 },
    ]);
    expect(values(moved(12, 'mm'), moved(12, 'cm'))).toMatchObject([{ delta: null, unit: { from: 'mm', to: 'cm' } }]);
    expect(values(moved('a', null), moved('b', null))).toMatchObject([{ from: 'a', to: 'b', delta: null }]);
    expect(values(moved(12, 'mm'), moved(12, 'mm'))).toEqual([]);
  });

  it('names versions, software, deviations, red lines and robots that are missing', () => {
    const redLine = { id: 'tablet-open', title: 'The tablet was left open', detail: 'it answers', remedy: 'lock' };
    const old = recordOf([robotOf([deviantStep]), robotOf([stepOf()], { serial: 'SN0008' })]);
    const after = recordOf(
      [
        robotOf([{ ...deviantStep, deviation: null }], {
          software: { value: '3.0.0', mark: 'BELEGT', source: 'x' },
          redLines: [redLine],
          evidence: [],
        }),
      ],
      { gw: '0.2.0' },
    );
    const diff = diffRecords(side(old), side(after));
    expect(recordDiffSchema.parse(diff)).toEqual(diff);
    expect(diff.versions.gw).toEqual({ from: '0.1.0', to: '0.2.0' });
    expect(diff.robots).toMatchObject([
      {
        software: { from: '2.9.3', to: '3.0.0' },
        deviations: [{ step: 'port-8883', from: { approvedBy: 'K. Muster' }, to: null }],
        redLines: { added: [{ id: 'tablet-open' }], gone: [] },
        evidence: [{ fact: 'angles.tracked-pose-ori', mark: { from: 'BELEGT', to: null } }],
      },
      { serial: 'SN0008', presence: 'old-only' },
    ]);
    expect(diff.worse).toBe(true);
  });

  it('reads both files, and states the verification of each', async () => {
    const from = await write('from.json', good());
    const to = await write('to.json', good(), { signed: false });
    const diff = await compareRecords({ from, to, caPath });
    expect([diff.from.state, diff.to.state]).toEqual(['verified', 'not-signed']);
    expect(diff.same).toBe(true);
  });

  it('turns newly wrong into fixed when the two are swapped', { tags: 'property' }, () => {
    const verdict = fc.constantFrom('ok', 'wrong', 'skipped', 'not-checked' as const);
    forAll(fc.array(fc.tuple(verdict, verdict), { maxLength: 8 }), (pairs) => {
      const of = (which: 0 | 1) =>
        recordOf([robotOf(pairs.map((pair, at) => stepOf({ id: `s${at}`, verdict: pair[which] })))]);
      const [there, back] = [diffRecords(side(of(0)), side(of(1))), diffRecords(side(of(1)), side(of(0)))];
      const ids = (list: readonly { id: string }[] = []) => list.map(({ id }) => id).sort();
      const [one, other] = [there.robots[0], back.robots[0]];
      // Improvements in one direction are regressions in the other.
      expect(one?.fixed.every(({ from }) => from === 'wrong')).toBe(true);
      expect(ids([...(one?.fixed ?? []), ...(one?.nowChecked ?? [])])).toEqual(
        ids([...(other?.newlyWrong ?? []).filter(({ from }) => from === 'ok'), ...(other?.lost ?? [])]),
      );
      expect(there.same).toBe(back.same);
    });
  });
});
