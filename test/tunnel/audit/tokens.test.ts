import { randomBytes, randomUUID } from 'node:crypto';
import { symlinkSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findToken } from '../../../src/lib/tunnel/audit/tokens.ts';
import { anyCharacter } from '../../text/units.ts';
import { endOf, linesOf, startOf, tokenHashOf } from '../records/bodies.ts';
import { recordFolder } from './folder.ts';

const none = () => false;
const bytesOf = fc.uint8Array({ minLength: 36, maxLength: 400 }).map((bytes) => Buffer.from(bytes));

describe('a text that looks like a token', () => {
  it.each([
    ['base64', () => randomBytes(200).toString('base64')],
    ['base64url', () => randomBytes(48).toString('base64url')],
    ['hexadecimal of 48 bytes', () => randomBytes(48).toString('hex')],
  ])('%s is found at its column, wherever it stands', (_name, make) => {
    for (let round = 0; round < 50; round += 1) {
      const token = make();
      for (const before of ['', 'token ', '{"level":30,"clientAccessToken":"', 'GET /tunnel?access-token=']) {
        const hit = findToken(`${before}${token}" end`, none);
        expect(hit?.isCertain).toBe(false);
        expect(hit?.length).toBeGreaterThan(31);
      }
    }
  });

  it.each([
    randomUUID(),
    `session ${randomUUID()} replaced ${randomUUID()}`,
    tokenHashOf('x'),
    `sha-256 ${randomBytes(32).toString('hex')}`,
    `commit ${randomBytes(20).toString('hex')}`,
    '/usr/lib/node_modules/gw/dist/lib/tunnel/session/proxy-supervisor.js:120:17',
    '2026-01-02T03:04:05.000Z {"level":30,"msg":"the session records cannot be written"}',
    'at createProxySupervisorWithOwnClockAndRecords (file:///opt/gw/dist/chunk-1.js)',
    'unclean-shutdown-of-the-gateway-and-more-words-2026-01-02',
    '--------------------------------------------------------',
    '0000000000000000000000000000000000000000000000000000',
  ])('%s is none', (text) => void expect(findToken(text, none)).toBeNull());

  it('a known id is none', () => {
    const id = randomBytes(40).toString('base64url');
    expect(findToken(`channel ${id}`, none, (text) => text === id)).toBeNull();
  });

  it('of any bytes never throws', { tags: 'property' }, () => {
    fc.assert(fc.property(fc.string({ unit: anyCharacter, maxLength: 500 }), (text) => void findToken(text, none)));
  });
});

function expectFound(token: string, before: string, after: string): void {
  const known = tokenHashOf(token);
  const hit = findToken(`${before}${token}${after}`, (own) => own === known);
  expect(hit).toMatchObject({ isCertain: true, length: token.length, column: before.length + 1 });
}

describe('a token whose hash is in the records', () => {
  it('is found for certain, also when it looks like a word', { tags: 'property' }, () => {
    const base64 = bytesOf.map((bytes) => bytes.toString('base64'));
    const befores = fc.constantFrom('', 'token=', '"', '?a=b&access-token=', 'x: ');
    const afters = fc.constantFrom('', '"', ' and more', ',', '&c=d');
    fc.assert(fc.property(fc.oneof(base64, fc.stringMatching(/^[a-z-]{16,40}$/)), befores, afters, expectFound));
  });

  it.each([
    ['behind many other parameters', `GET /x?${'a=b&'.repeat(40)}t=`, '&z=1'],
    ['behind many lines of a URL-encoded text, at its end', `${'a:b?'.repeat(900)}`, '...'],
    ['behind a text without blanks of 4,090 characters', `${'a'.repeat(4_090)}&t=`, ''],
    ['between long texts without blanks', `${'a=b&'.repeat(30_000)}`, `&${'b'.repeat(9_000)}`],
  ])('is found %s', (_where, before, after) => {
    for (const token of ['correct-horse-battery-staple', `${'abc+/'.repeat(60)}==`]) expectFound(token, before, after);
  });

  it('is searched for with work in proportion to the text', () => {
    for (const part of ['=', 'a=', '.', 'a&', 'ab.=']) {
      const hashed = (chars: number) => {
        let count = 0;
        findToken(`a${part.repeat(chars / part.length)}a`, () => {
          count += 1;
          return false;
        });
        return count;
      };
      expect(hashed(64_000)).toBeLessThanOrEqual((3 * 64_000) / 16 + 64);
    }
  });
});

describe('the audit', () => {
  const token = randomBytes(120).toString('base64url');
  const body = startOf(1, { tokenHash: tokenHashOf(token) });

  it('finds a token in a record, and never shows it', async () => {
    const end = endOf(1, 'proxy-failed', { detail: `The proxy ended: header access-token ${token} refused.` });
    using folder = recordFolder({ 'sessions.jsonl': linesOf([body, end]) });
    const facts = await folder.audit();
    expect(facts.findings).toMatchObject([{ code: 'token-in-records', line: 2, seq: 2 }]);
    expect(JSON.stringify(facts)).not.toContain(token.slice(0, 12));
    const foreign = endOf(1, 'proxy-failed', { detail: randomBytes(90).toString('base64') });
    using other = recordFolder({ 'sessions.jsonl': linesOf([body, foreign]) });
    expect((await other.audit()).findings).toMatchObject([{ code: 'token-like-in-records', line: 2 }]);
  });

  it('finds a token in a record whose hash does not fit, and one in a channel id', async () => {
    const [start = '', end = ''] = linesOf([body, endOf(1)]);
    const changed = end.replace('The cloud closed the tunnel.', `refused ${token}`);
    using folder = recordFolder({ 'sessions.jsonl': [start, changed] });
    const codes = (await folder.audit()).findings.map(({ code, line }) => `${code} ${line}`);
    expect(codes).toEqual(expect.arrayContaining(['changed-line 2', 'token-in-records 2']));
    const echoed = endOf(1, 'token-refused', { channelId: token });
    using other = recordFolder({ 'sessions.jsonl': linesOf([body, echoed]) });
    expect((await other.audit()).findings).toMatchObject([{ code: 'token-in-records', line: 2 }]);
  });

  it('finds tokens in log files, and leaves hashes and ids alone', async () => {
    const lines = linesOf([body, endOf(1, 'closed-by-cloud', { channelId: randomBytes(30).toString('base64url') })]);
    using folder = recordFolder({ 'sessions.jsonl': lines });
    const log = folder.path('gw.log');
    // The records themselves hold hashes, ids and a channel id.
    writeFileSync(log, `${lines.join('')}{"msg":"session ${randomUUID()}"}\n`);
    const clean = await folder.audit({ logs: [log] });
    expect(clean).toMatchObject({ verdict: 'ok', findings: [] });
    expect(clean.checks.find(({ id }) => id === 'tokens-logs')).toMatchObject({ verdict: 'ok' });
    writeFileSync(log, `first\n{"token":"${token}"}\nlast ${randomBytes(60).toString('base64')}`);
    const facts = await folder.audit({ logs: [log] });
    const found = facts.findings.map(({ code, line }) => `${code} ${line}`);
    expect(found).toEqual(['token-in-log 2', 'token-like-in-log 3']);
    expect(JSON.stringify(facts)).not.toContain(token.slice(0, 12));
  });

  it.each<[string, Buffer]>([
    ['a line too long to search', Buffer.from(`${' '.repeat(900_000)}\n`)],
    ['a compressed file', gzipSync(`{"token":"${token}"}\n`)],
    ['UTF-16', Buffer.from(`${token}\n`, 'utf16le')],
    ['an empty file', Buffer.alloc(0)],
  ])('%s given as a log is not green, beside one that was searched', async (_name, content) => {
    using folder = recordFolder({ 'sessions.jsonl': linesOf([body, endOf(1)]) });
    const logs = [folder.path('gw-1.log'), folder.path('gw.log')];
    writeFileSync(folder.path('gw-1.log'), 'nothing\n');
    writeFileSync(folder.path('gw.log'), content);
    for (const given of [logs, logs.toReversed()]) {
      const facts = await folder.audit({ logs: given });
      const row = facts.checks.find(({ id }) => id === 'tokens-logs');
      expect(row).toMatchObject({ verdict: 'not-checked', detail: 'unsearched-logs', values: { files: 2 } });
      expect(facts.verdict).toBe('not-decided');
    }
  });

  it('a log is not green when a record was not judged, which may have the hash of another token', async () => {
    const [start = '', end = ''] = linesOf([body, endOf(1)]);
    using folder = recordFolder({ 'sessions.jsonl': [start.replace('"maxS":', '"maxS":1'), end] });
    writeFileSync(folder.path('gw.log'), 'nothing\n');
    const facts = await folder.audit({ logs: [folder.path('gw.log')] });
    expect(facts.checks.find(({ id }) => id === 'tokens-logs')).toMatchObject({ detail: 'unjudged' });
  });

  it('follows a link to a log, and refuses what is no file', async () => {
    using folder = recordFolder({ 'sessions.jsonl': linesOf([body, endOf(1)]) });
    writeFileSync(folder.path('gw-1.log'), `${token}\n`);
    symlinkSync('gw-1.log', folder.path('gw.log'));
    expect((await folder.audit({ logs: [folder.path('gw.log')] })).verdict).toBe('findings');
    await expect(folder.audit({ logs: [folder.dir] })).rejects.toMatchObject({ code: 'FILE_UNREADABLE' });
  });

  it('a line of the records that was not searched is not green', async () => {
    const lines = linesOf([body, endOf(1)]);
    using folder = recordFolder({ 'sessions.jsonl': lines });
    writeFileSync(folder.path('sessions.jsonl'), `${lines.join('')}${' '.repeat(70_000)}${token}\n`);
    const facts = await folder.audit();
    expect(facts.checks.find(({ id }) => id === 'tokens-records')).toMatchObject({ verdict: 'not-checked' });
  });
});
