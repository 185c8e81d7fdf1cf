import { sign } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CheckRecord, recordText, signRecord } from '../../src/lib/checklist/index.ts';
import { createCa } from '../../src/lib/sim/cloud/certificates.ts';
import { readPdf } from '../report/pdf-reader.ts';
import { recordOf, robotOf, stepOf, wrongStep } from '../report/records.ts';
import { runGw } from './gw.ts';

let dir: string;
const file = (name: string) => join(dir, name);

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'gw-documents-'));
  const validity = { notBefore: new Date('2026-01-01'), notAfter: new Date('2028-01-01') };
  const authority = await createCa(validity);
  const device = await authority.issueClientPair('SN0007', validity);
  const write = (name: string, record: CheckRecord) =>
    writeFile(
      file(name),
      recordText(
        signRecord(record, {
          serial: 'SN0007',
          certificatePem: device.certificatePem,
          sign: (bytes) => sign('sha256', bytes, { key: device.keyPem, dsaEncoding: 'ieee-p1363' }),
        }),
      ),
    );
  await writeFile(file('ca.pem'), authority.caPem);
  await writeFile(file('site.yaml'), 'name: Lobby\nchassis: { host: 192.0.2.3, serial: SN0007 }\n');
  await write('good.json', recordOf([robotOf([stepOf()])], { attachments: [] }));
  await write('bad.json', recordOf([robotOf([wrongStep])], { attachments: [] }));
  const good = await readFile(file('good.json'), 'utf8');
  await writeFile(file('edited.json'), good.replace('in 12 ms', 'in 11 ms'));
});

afterAll(() => rm(dir, { recursive: true, force: true }));

const gw = (...args: string[]) => runGw(args, { cwd: dir });

describe('gw network request', () => {
  it('prints the letter, and its open points on stderr', async () => {
    const { code, stdout, stderr } = await gw('network', 'request', '--lang', 'de');
    expect(code).toBe(0);
    expect(stdout).toContain('# Netzwerkanbindung unseres Lieferroboters „Lobby“');
    expect(stdout).toContain('kennt keine Anmeldung');
    expect(stderr).toContain('open points in the letter:');
    expect(stderr).toContain('chassis.mac');
  });

  it('prints the facts as JSON', async () => {
    const { code, stdout } = await gw('network', 'request', '--json');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ schema: 'gw/network-request/1', ok: true, data: { complete: false } });
  });
});

describe('gw checklist verify, report and diff', () => {
  it('verifies with the CA, and not without it', async () => {
    const verified = await gw('checklist', 'verify', 'good.json', '--ca-file', 'ca.pem', '--serial', 'SN0007');
    expect(verified).toMatchObject({ code: 0, stderr: '' });
    expect(verified.stdout.split('\n')[0]).toBe('VERIFIED  good.json, signed by SN0007.');
    const alone = await gw('checklist', 'verify', 'good.json');
    expect(alone.code).toBe(1);
    expect(alone.stdout).toMatch(/^NOT VERIFIED/);
  });

  it('creates a report that states whether the record was verified', async () => {
    const pdf = await gw(
      'checklist',
      'report',
      'good.json',
      '--ca-file',
      'ca.pem',
      '--format',
      'pdf',
      '--out',
      'a.pdf',
    );
    expect(pdf).toMatchObject({ code: 0, stderr: '' });
    expect(readPdf(await readFile(file('a.pdf'))).pages[0]).toContain(
      'mit dem Schlüssel des Geräts SN0007 signiert und geprüft',
    );
    for (const format of ['md', 'markdown']) {
      const text = await gw(
        'checklist',
        'report',
        'good.json',
        '--ca-file',
        'ca.pem',
        '--lang',
        'en',
        '--format',
        format,
      );
      expect([text.code, text.stdout]).toEqual([0, expect.stringMatching(/^#+ /m)]);
    }
    const html = await gw('checklist', 'report', 'good.json', '--lang', 'en');
    expect(html.stdout).toContain('Signed, but NOT VERIFIED');
    expect(html.stderr).toContain('The signature was not verified');
    expect((await gw('checklist', 'report', 'ca.pem')).code).toBe(2);
  });

  it('ends with 1 when the later visit is worse, and with 0 when it is better', async () => {
    const worse = await gw('checklist', 'diff', 'good.json', 'bad.json', '--ca-file', 'ca.pem');
    expect(worse.code).toBe(1);
    expect(worse.stdout).toMatch(/^WORSE {2}1 newly wrong/);
    expect((await gw('checklist', 'diff', 'bad.json', 'good.json')).code).toBe(0);
  });
});
