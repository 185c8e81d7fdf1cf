import { mkdtempSync, rmSync } from 'node:fs';
import { chmod, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { renderEnrol, renderEnrolStatus } from '../../src/cli/render/enrol.ts';
import { readOneTimeCode } from '../../src/cli/secrets.ts';
import type { Enrol, EnrolStatus } from '../../src/lib/toolkit/enrol/enrol.result.ts';
import { firstLine, plain } from './shown.ts';
import { typedTerminal } from './typed.ts';

const status: EnrolStatus = {
  ...{ state: 'enrolled', verdict: 'ok', serial: 'SN0001', identityDir: '/site/identity', begunAt: null },
  identity: {
    ...{
      ...{ serial: 'SN0001', endpoint: 'mqtt.example.com', region: 'eu-central-1', caSubjects: ['CN=Cloud'] },
      daysLeft: 364,
    },
    enrolledAt: '2026-01-01T00:00:00.000Z',
    certificate: {
      ...{ subject: 'CN=SN0001', issuer: 'CN=Cloud', fingerprintSha256: 'AA:BB' },
      ...{ notBefore: '2026-01-01T00:00:00.000Z', notAfter: '2027-01-01T00:00:00.000Z' },
    },
  },
  findings: [
    { id: 'serial', title: 'It is that of this robot', verdict: 'ok', detail: 'SN0001', remedy: null, spec: null },
    { id: 'clock', title: 'The clock', verdict: 'not-checked', detail: 'possible', remedy: null, spec: null },
  ],
};
const none = { ...status, verdict: 'wrong' as const, identity: null };

describe('the output of gw enrol status', () => {
  it('states the verdict in its first line', () => {
    const first = (change: Partial<EnrolStatus>) => firstLine(renderEnrolStatus({ ...status, ...change }));
    expect(first({})).toBe('SN0001 is enrolled, 364 days left.');
    expect(first({ verdict: 'wrong' })).toBe('SN0001 is enrolled, but a check failed.');
    expect(first({ ...none, state: 'not-enrolled' })).toBe('SN0001 is not enrolled.');
    const other = status.identity && { ...status.identity, serial: 'SN0099' };
    expect(first({ verdict: 'wrong', state: 'of-another-robot', identity: other })).toBe(
      'SN0001 is not enrolled: the identity on this machine is that of SN0099.',
    );
    expect(first({ ...none, state: 'broken' })).toBe('The identity of SN0001 is broken.');
    const begun = first({ ...none, state: 'begun', begunAt: '2026-01-01T00:00:00.000Z' });
    expect(begun).toMatch(/^SN0001 is not enrolled: enrolment started at 2026-01-01T00:00:00\.000Z, not finished\.$/);
  });

  it('shows identity, fingerprint and findings, and never shows green what was not checked', () => {
    const text = plain(renderEnrolStatus(status));
    for (const shown of ['mqtt.example.com', 'eu-central-1', 'CN=Cloud', 'AA:BB', '/site/identity'])
      expect(text).toContain(shown);
    expect(text).toContain('ok   It is that of this robot: SN0001');
    expect(text).toContain('--   The clock: possible');
  });

  it('escapes text of a certificate', () => {
    const identity = status.identity && { ...status.identity, endpoint: '\u001b[2Jevil' };
    expect(renderEnrolStatus({ ...status, identity })).not.toContain('\u001b[2J');
  });
});

describe('the output of gw enrol', () => {
  const clock = { verdict: 'ok' as const, deviceAt: '', serverAt: '', aheadMs: 0 };
  const about = { url: 'https://enrol.example.com', resumed: false, replaced: false, verifiedBy: 'file' } as const;
  const enrolled: Enrol = { ...about, clock, status };

  it('reports the outcome, also after an interruption and when replacing another identity', () => {
    const first = (change: Partial<Enrol>) => firstLine(renderEnrol({ ...enrolled, ...change }));
    expect(first({})).toBe('SN0001 is enrolled by https://enrol.example.com.');
    expect(first({ resumed: true })).toContain('with the key of the interrupted run');
    expect(first({ replaced: true })).toContain('has a new identity');
  });

  it('names the trust list that verified the endpoint where a proxy may intercept TLS', () => {
    const text = (verifiedBy: Enrol['verifiedBy']) => plain(renderEnrol({ ...enrolled, verifiedBy }));
    expect(text('system')).toContain("verified with the operating system's list alone");
    expect(text('extra')).toContain('verified with NODE_EXTRA_CA_CERTS alone');
    for (const by of ['file', 'bundled', null] as const) expect(text(by)).not.toContain('alone');
  });

  it('reports the clock offset, or that the clock was not checked', () => {
    const text = (change: object) => plain(renderEnrol({ ...enrolled, clock: { ...clock, ...change } }));
    expect(text({ verdict: 'wrong', aheadMs: -86_400_000 * 3 })).toContain('is 3 d behind that of');
    expect(text({ verdict: 'wrong', aheadMs: 3_600_000 * 5 })).toContain('is 5 h ahead of that of');
    expect(text({ verdict: 'not-checked', aheadMs: null })).toContain('not checked');
    expect(text({})).not.toMatch(/behind|ahead|compared/);
  });
});

describe('the one-time code', () => {
  const input = (text: string) => {
    const stream = new PassThrough();
    stream.end(text);
    return stream as unknown as NodeJS.ReadStream;
  };
  const asking = (text = '') => ({
    streams: { input: input(text), output: new PassThrough() },
    signal: new AbortController().signal,
  });

  it('is read from the first line of stdin, of a file, or of a variable', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'gw-code-'));
    try {
      const file = join(dir, 'code');
      await writeFile(file, 'FROM-FILE\nmore\n', { mode: 0o600 });
      expect(await readOneTimeCode({}, {}, asking('FROM-STDIN \nmore\n'))).toBe('FROM-STDIN');
      expect(await readOneTimeCode({ file }, {}, asking())).toBe('FROM-FILE');
      expect(await readOneTimeCode({ variable: 'CODE' }, { CODE: ' FROM-ENV\n' }, asking())).toBe('FROM-ENV');
      await chmod(file, 0o644);
      await expect(readOneTimeCode({ file }, {}, asking())).rejects.toMatchObject({ code: 'SECRET_UNREADABLE' });
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  });

  it('is not read from an unset variable, and a code in place of a name is not repeated', async () => {
    const failure = (variable: string) => readOneTimeCode({ variable }, {}, asking()).catch(String);
    expect(await failure('CODE')).toContain('The environment variable CODE is unset or empty.');
    expect(await failure('ABCD-EFGH')).not.toContain('ABCD');
  });

  it('is typed without echo at a terminal, and Ctrl-C sends nothing', async () => {
    const { streams, shown } = typedTerminal(['ABCX\u007fD', 'AB\u0003']);
    const typed = () => readOneTimeCode({}, {}, { streams, signal: new AbortController().signal });
    expect(await typed()).toBe('ABCD');
    await expect(typed()).rejects.toMatchObject({ code: 'INTERRUPTED', message: 'Interrupted; nothing was sent.' });
    expect(shown()).not.toMatch(/AB|CD/);
  });
});
