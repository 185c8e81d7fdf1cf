import { appendFileSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AuditFacts, FindingCode } from '../../../src/lib/tunnel/audit/audit.result.ts';
import { auditRecords } from '../../../src/lib/tunnel/audit/index.ts';
import type { RecordBody } from '../../../src/lib/tunnel/records/schema.ts';
import { runs } from '../../properties.ts';
import { endOf, idOf, linesOf, recordOf, refusedOf, startOf } from '../records/bodies.ts';
import { type Files, headOf, limits, now, recordFolder, rotatedFiles } from './folder.ts';

const codes = (facts: AuditFacts): FindingCode[] => facts.findings.map(({ code }) => code);
const atLines = (facts: AuditFacts) => facts.findings.map(({ code, line }) => `${code} ${line}`);
const check = (facts: AuditFacts, id: string) => facts.checks.find((one) => one.id === id);

/** The name of the file before. */
const earlier = (name: string) =>
  name.replace(/\d{6}/, (number) => String(Number(number) - 1).padStart(number.length, '0'));

async function auditOf(bodies: readonly RecordBody[], more = {}, lineOptions = {}) {
  using folder = recordFolder({ 'sessions.jsonl': linesOf(bodies, lineOptions) });
  return await folder.audit(more);
}

describe('the sessions', () => {
  it.each<[FindingCode, RecordBody[]]>([
    ['start-without-end', [startOf(1)]],
    ['end-without-start', [startOf(1), endOf(1), endOf(2)]],
    ['end-without-start', [endOf(1)]],
    ['second-end', [startOf(1), endOf(1), endOf(1)]],
    ['session-repeated', [startOf(1), endOf(1), startOf(1), endOf(1)]],
    ['overlap', [startOf(1), startOf(2), endOf(1), endOf(2)]],
    ['overlap', [startOf(1), startOf(2), startOf(3, { replaces: idOf(2) }), endOf(1), endOf(2, 'replaced'), endOf(3)]],
    ['replaced-unknown', [startOf(1, { replaces: idOf(9) }), endOf(1)]],
    ['beyond-own-clock', [startOf(1, { maxS: 60 }), endOf(1, 'own-clock', { durationS: 71 })]],
    ['beyond-configured', [startOf(1, { maxS: 3601 }), endOf(1)]],
    ['other-region', [startOf(1, { region: 'eu-central-2' }), endOf(1)]],
    ['service-not-in-list', [startOf(1, { services: ['web', 'ssh'] }), endOf(1)]],
    ['services-count', [startOf(1, { services: [] }), endOf(1)]],
    ['services-count', [startOf(1, { services: ['web', 'web'] }), endOf(1)]],
    ['services-count', [startOf(1, { services: ['web', 'diag', 'a', 'b'] }), endOf(1)]],
    ['foreign-field', [{ ...startOf(1), clientAccessToken: 'x' } as unknown as RecordBody, endOf(1)]],
    ['invalid-record', [{ ...startOf(1), maxS: 'long' } as unknown as RecordBody, endOf(1)]],
    ['invalid-record', [startOf(1), endOf(1, 'because' as 'shutdown')]],
  ])('%s is a finding', async (code, bodies) => {
    const facts = await auditOf(bodies);
    expect(codes(facts)).toContain(code);
    expect(facts.verdict).toBe('findings');
  });

  it('with a replacement, at the limits of both clocks, after an unclean shutdown and with a refusal are no findings', async () => {
    const facts = await auditOf([
      startOf(1, { services: ['web', 'diag'] }),
      startOf(2, { replaces: idOf(1) }),
      endOf(1, 'replaced'),
      endOf(2, 'own-clock', { durationS: 3_605, detail: 'Die eigene Uhr "60 min" lief ab – ü \\ \n' }),
      startOf(3),
      endOf(3, 'replaced'),
      startOf(4, { replaces: idOf(3), maxS: 3_600 }),
      endOf(4, 'unclean-shutdown', { durationS: null, connections: null, bytesIn: null, bytesOut: null }),
      refusedOf(1, { services: ['a"b', 'ü'], region: '', clientMode: 'source' }),
      refusedOf(2, { reason: 'seen-before' }),
    ]);
    expect(facts.findings).toEqual([]);
    expect(facts).toMatchObject({ verdict: 'ok', sessions: 4, uncleanShutdowns: 1, unknownDurations: 1 });
    expect(facts.refused).toEqual([
      { reason: 'other-region', count: 1 },
      { reason: 'seen-before', count: 1 },
    ]);
  });

  it('the last start that may be running is not green, and a finding once its own clock is over', async () => {
    const bodies = [startOf(1), endOf(1), startOf(2)];
    const at = (time: string) => auditOf(bodies, { now: new Date(time) }, { at: '2026-06-01T11:00:00.000Z' });
    const running = await at('2026-06-01T11:30:00.000Z');
    expect(running).toMatchObject({ verdict: 'not-decided', running: { session: idOf(2) }, findings: [] });
    expect(check(running, 'pairs')).toMatchObject({ verdict: 'not-checked', detail: 'running' });
    expect(codes(await at('2026-06-01T12:02:00.000Z'))).toEqual(['start-without-end']);
    // The clock of the technician may be behind that of the gateway.
    expect(await at('2026-06-01T10:00:00.000Z')).toMatchObject({ verdict: 'not-decided', findings: [] });
  });

  it('an earlier start without an end is a finding while a later session may be running', async () => {
    const options = { at: '2026-06-01T11:50:00.000Z' };
    const facts = await auditOf([startOf(1), startOf(2, { replaces: idOf(1) })], {}, options);
    expect(facts.findings.map(({ code, session }) => `${code} ${session}`)).toEqual([`start-without-end ${idOf(1)}`]);
  });

  it('records of another robot are findings', async () => {
    const facts = await auditOf([startOf(1), endOf(1)], {}, { serial: 'SN-2' });
    expect(codes(facts)).toEqual(['other-serial', 'other-serial']);
  });

  it('a wall clock that went backwards and many refusals on one day are information', async () => {
    const refusals = Array.from({ length: 25 }, (_, n) => refusedOf(n));
    const facts = await auditOf([startOf(1), endOf(1), ...refusals], {}, { stepS: -1 });
    expect(facts).toMatchObject({ verdict: 'ok', clockSteps: 26, firstClockStep: { line: 2 } });
    expect(facts.unusualRefusals).toEqual({ day: '2026-01-02', count: 25 });
  });
});

describe('a record that cannot be judged', () => {
  const bodies = Array.from({ length: 200 }, (_, n) => [startOf(n), endOf(n)]).flat();
  const lines = linesOf(bodies);
  const head = headOf(lines);
  const changed = (line: string) => line.replace('-0000-4000-', '-0000-5000-');
  const isReplaced = (facts: AuditFacts) =>
    expect(check(facts, 'pairs')).toMatchObject({ verdict: 'not-checked', detail: 'unjudged' });

  it.each<[string, number, (index: number) => string[], FindingCode]>([
    ['a changed end', 101, (at) => lines.with(at, changed(lines[at] ?? '')), 'changed-line'],
    ['a changed start', 100, (at) => lines.with(at, changed(lines[at] ?? '')), 'changed-line'],
    ['an unreadable end', 101, (at) => lines.with(at, 'x\n'), 'unreadable-line'],
    ['an unreadable start', 100, (at) => lines.with(at, 'x\n'), 'unreadable-line'],
    ['a removed end', 101, (at) => lines.toSpliced(at, 1), 'missing-records'],
    ['a removed start', 100, (at) => lines.toSpliced(at, 1), 'missing-records'],
    ['an end and 50 more removed', 101, (at) => lines.toSpliced(at, 51), 'missing-records'],
    ['the removed end of the last session', 399, (at) => lines.toSpliced(at, 1), 'missing-end'],
    ['a removed end, which is the first record of all', 1, (at) => lines.toSpliced(at, 1), 'missing-records'],
  ])('%s is one finding, and makes none of the sessions after it', async (_name, index, make, code) => {
    using folder = recordFolder({ 'sessions.jsonl': make(index) }, head);
    const facts = await folder.audit();
    expect(facts.counts).toEqual([{ code, count: 1 }]);
    isReplaced(facts);
  });

  it('leaves a session whose start was replaced no finding, in either order of its records', async () => {
    const replaced = linesOf([startOf(1), endOf(1, 'replaced'), startOf(2, { replaces: idOf(1) }), endOf(2)]);
    for (const removed of [[0], [1], [0, 1], [1, 2]]) {
      const left = replaced.filter((_, index) => !removed.includes(index));
      using folder = recordFolder({ 'sessions.jsonl': left }, headOf(replaced, 1));
      expect((await folder.audit()).counts).toEqual([{ code: 'missing-records', count: 1 }]);
    }
  });

  it('excuses one session beside it, and no other', async () => {
    const wrong = [startOf(500), endOf(501), startOf(502), startOf(503), endOf(503)];
    const all = linesOf([...bodies.slice(0, 20), ...wrong, ...bodies.slice(20)]);
    using folder = recordFolder({ 'sessions.jsonl': all.with(2, 'x\n') }, headOf(all));
    const found = (await folder.audit()).findings.map((one) => `${one.code} ${Number(one.session?.slice(-3))}`);
    const sessions = ['end-without-start 501', 'overlap 502', 'overlap 503', 'start-without-end 500'];
    expect(found.toSorted()).toEqual([...sessions, 'start-without-end 502', 'unreadable-line NaN']);
  });

  it('excuses one end without a start, and no second end of a session', async () => {
    const foreign = linesOf([refusedOf(1), endOf(501), endOf(502), startOf(1), endOf(1)]);
    using one = recordFolder({ 'sessions.jsonl': foreign.with(0, 'x\n') }, headOf(foreign, 1));
    expect(atLines(await one.audit())).toEqual(['unreadable-line 1', 'end-without-start 3']);
    const twice = linesOf([startOf(1), refusedOf(1), endOf(1), endOf(1)]);
    using two = recordFolder({ 'sessions.jsonl': twice.with(1, 'x\n') }, headOf(twice));
    expect(atLines(await two.audit())).toEqual(['unreadable-line 2', 'second-end 4']);
  });

  it('is found with a bounded number of findings, wherever it stands', { tags: 'property' }, async () => {
    const anyLine = fc.nat({ max: lines.length - 1 });
    await fc.assert(
      fc.asyncProperty(anyLine, fc.constantFrom('change', 'break', 'remove'), async (at, how) => {
        const line = how === 'change' ? changed(lines[at] ?? '') : 'x\n';
        const all = how === 'remove' ? lines.toSpliced(at, 1) : lines.with(at, line);
        using folder = recordFolder({ 'sessions.jsonl': all }, head);
        const facts = await folder.audit();
        expect(facts.verdict).toBe('findings');
        expect(facts.counts.reduce((sum, { count }) => sum + count, 0)).toBe(1);
      }),
      { numRuns: runs(60) },
    );
  });
});

it('a session without an end is named once, not with every later session', async () => {
  const later = Array.from({ length: 50 }, (_, n) => [startOf(n + 2), endOf(n + 2)]).flat();
  const facts = await auditOf([startOf(1), ...later]);
  const expected = [`overlap ${idOf(2)}`, `start-without-end ${idOf(1)}`];
  expect(facts.findings.map(({ code, session }) => `${code} ${session}`)).toEqual(expected);
});

describe('what was not checked', () => {
  const notChecked = { verdict: 'not-checked' };
  const lines = linesOf([startOf(1), endOf(1), startOf(2), endOf(2)]);

  it('without head.json the end is not green', async () => {
    using folder = recordFolder({ 'sessions.jsonl': lines.slice(0, 2) }, null);
    const facts = await folder.audit();
    expect(facts).toMatchObject({ verdict: 'not-decided', findings: [] });
    expect(check(facts, 'end')).toMatchObject({ verdict: 'not-checked', detail: 'no-head' });
  });

  it('one file alone, as it was sent by mail, decides neither its beginning nor its end', async () => {
    using folder = recordFolder({ 'sessions-000002.jsonl': lines.slice(2) });
    const facts = await folder.audit({ records: folder.path('sessions-000002.jsonl') });
    expect(facts).toMatchObject({ verdict: 'not-decided', firstSeq: 3, findings: [] });
    expect(check(facts, 'beginning')).toMatchObject({ detail: 'no-first' });
    expect(check(facts, 'end')).toMatchObject({ detail: 'no-head' });
  });

  it('a damaged head.json is a finding', async () => {
    using folder = recordFolder({ 'sessions.jsonl': lines });
    writeFileSync(folder.path('head.json'), '{"seq":4}');
    const facts = await folder.audit();
    expect(codes(facts)).toEqual(['head-invalid']);
  });

  it('no records at all are not green', async () => {
    using folder = recordFolder({}, null);
    const facts = await folder.audit();
    expect(facts).toMatchObject({ verdict: 'not-decided', records: 0 });
    expect(facts.checks.every(({ verdict }) => verdict === 'not-checked')).toBe(true);
    using emptied = recordFolder({ 'sessions.jsonl': [] }, headOf(lines));
    expect(codes(await emptied.audit())).toEqual(['missing-end']);
    const refusal = { code: 'FILE_UNREADABLE', remedy: expect.stringContaining('--records') };
    await expect(auditRecords({ records: folder.path('none'), limits, now })).rejects.toMatchObject(refusal);
  });

  it('records that were removed by rotation are named, and the rest is judged', async () => {
    const many = linesOf(Array.from({ length: 12 }, (_, n) => [startOf(n), endOf(n)]).flat());
    using folder = recordFolder(rotatedFiles(many.slice(1)));
    const facts = await folder.audit();
    // The end of session 1 is here, its start was removed.
    expect(facts).toMatchObject({ verdict: 'ok', firstSeq: 2, findings: [] });
    expect(check(facts, 'beginning')).toMatchObject({ ...notChecked, detail: 'rotated', values: { first: 2 } });
  });

  it.each<[string, (files: Files) => Files]>([
    ['fewer files than rotation keeps', (files) => Object.fromEntries(Object.entries(files).slice(1))],
    [
      'the first file of all',
      (files) => Object.fromEntries(Object.entries(files).map(([name, all]) => [earlier(name), all])),
    ],
    ['one file only', (files) => ({ 'sessions.jsonl': Object.values(files).flat() })],
  ])('records that rotation cannot have removed are missing, whatever head.json says: %s', async (_name, change) => {
    const many = linesOf(Array.from({ length: 12 }, (_, n) => [startOf(n), endOf(n)]).flat());
    const files = change(rotatedFiles(many.slice(1)));
    using folder = recordFolder(files);
    const facts = await folder.audit();
    const [first = ''] = Object.values(files).flat();
    const to = recordOf(first).seq - 1;
    expect(facts.findings).toMatchObject([{ code: 'missing-records', line: 1, values: { from: 1, to } }]);
    expect(check(facts, 'beginning')).toMatchObject({ verdict: 'not-checked', detail: 'unjudged' });
  });

  it('an incomplete last line is not green, and a finding in a rotated file', async () => {
    using folder = recordFolder({ 'sessions.jsonl': lines.slice(0, 2) });
    appendFileSync(folder.path('sessions.jsonl'), (lines[2] ?? '').slice(0, 80));
    const facts = await folder.audit();
    expect(facts).toMatchObject({ verdict: 'not-decided', records: 2, findings: [] });
    expect(check(facts, 'end')).toMatchObject({ detail: 'torn' });
    renameSync(folder.path('sessions.jsonl'), folder.path('sessions-000001.jsonl'));
    writeFileSync(folder.path('sessions.jsonl'), '');
    expect(codes(await folder.audit())).toEqual(['unreadable-line']);
  });

  it('without limits, logs and copy of the cloud these checks are not green, and the verdict is reached', async () => {
    using folder = recordFolder({ 'sessions.jsonl': lines });
    const facts = await folder.audit({ limits: null });
    const open = facts.checks.filter(({ verdict }) => verdict === 'not-checked').map(({ id }) => id);
    expect(open).toEqual(['configured', 'scope', 'tokens-logs', 'cloud']);
    expect(facts.verdict).toBe('ok');
  });

  it('with lines that could not be judged nothing is said of all sessions, nor of a rotation', async () => {
    for (const changed of [0, 2]) {
      const other = (lines[changed] ?? '').replace('"maxS":3600', '"maxS":9999');
      using folder = recordFolder({ 'sessions.jsonl': lines.with(changed, other) }, headOf(lines));
      const facts = await folder.audit();
      const green = facts.checks.filter(({ verdict }) => verdict === 'ok').map(({ id }) => id);
      expect(green).toEqual(changed === 0 ? ['end', 'tokens-records'] : ['beginning', 'end', 'tokens-records']);
      expect(check(facts, 'durations')).toMatchObject({ verdict: 'not-checked', detail: 'unjudged' });
      if (changed === 0)
        expect(check(facts, 'beginning')).toMatchObject({ verdict: 'not-checked', detail: 'unjudged' });
    }
  });

  it('an unknown duration is not green', async () => {
    const facts = await auditOf([startOf(1), endOf(1, 'unclean-shutdown', { durationS: null })]);
    expect(check(facts, 'durations')).toMatchObject({ ...notChecked, detail: 'unknown-durations' });
    expect(facts.verdict).toBe('ok');
  });

  it('one record after head.json may be the moment between two writes or was added, and is not green; two are a finding', async () => {
    using one = recordFolder({ 'sessions.jsonl': lines }, headOf(lines.slice(0, 3), 1));
    const facts = await one.audit();
    expect(facts).toMatchObject({ verdict: 'not-decided', findings: [] });
    expect(check(facts, 'end')).toMatchObject({ ...notChecked, detail: 'head-one-behind', values: { last: 4 } });
    // With any content: the chain has no key, so that whoever can write the file can make its hash.
    const forged = linesOf([refusedOf(7)], { seq: 5, prev: recordOf(lines[3] ?? '').hash });
    using added = recordFolder({ 'sessions.jsonl': [...lines, ...forged] }, headOf(lines));
    expect(await added.audit()).toMatchObject({ verdict: 'not-decided', findings: [] });
    const otherHead = { ...headOf(lines.slice(0, 3), 1), hash: 'a'.repeat(64) };
    using replaced = recordFolder({ 'sessions.jsonl': lines }, otherHead);
    expect(codes(await replaced.audit())).toEqual(['end-differs', 'head-behind']);
    using two = recordFolder({ 'sessions.jsonl': lines }, headOf(lines.slice(0, 2), 1));
    expect(codes(await two.audit())).toEqual(['head-behind']);
  });
});

describe('standard input', () => {
  const lines = linesOf(Array.from({ length: 30 }, (_, n) => [startOf(n), endOf(n)]).flat());
  const whole = Buffer.from(lines.join(''));
  async function* cutInto(bytes: Uint8Array, sizes: readonly number[]) {
    let at = 0;
    for (let n = 0; at < bytes.length; n += 1) {
      const size = sizes[n % sizes.length] ?? bytes.length;
      yield bytes.subarray(at, at + size);
      at += size;
    }
  }
  const auditInput = (input: AsyncIterable<Uint8Array>) =>
    auditRecords({ records: 'stdin', input: Readable.from(input), limits, now });

  it('is judged as a file is, and does not decide its end', async () => {
    const facts = await auditInput(cutInto(whole, [whole.length]));
    expect(facts).toMatchObject({ verdict: 'not-decided', records: 60, sessions: 30, findings: [], firstSeq: 1 });
    expect(facts.files).toEqual([{ path: 'stdin', bytes: whole.length }]);
    expect(check(facts, 'end')).toMatchObject({ detail: 'no-head' });
    const part = await auditInput(cutInto(Buffer.from(lines.slice(20).join('')), [1_000]));
    expect(check(part, 'beginning')).toMatchObject({ detail: 'no-first' });
    const damaged = await auditInput(cutInto(Buffer.from(lines.with(7, 'x\n').join('')), [1_000]));
    expect(damaged.findings).toMatchObject([{ code: 'unreadable-line', file: 'stdin', line: 8 }]);
    expect(await auditInput(cutInto(Buffer.alloc(0), []))).toMatchObject({ verdict: 'not-decided', records: 0 });
  });

  it('has the same lines however its bytes are cut, lines longer than any buffer among them', {
    tags: 'property',
  }, async () => {
    const long = Buffer.from([...lines.slice(0, 2), `${'y'.repeat(300_000)}\n`, ...lines.slice(2), 'torn'].join(''));
    const once = await auditInput(cutInto(long, [long.length]));
    expect(once.counts).toEqual([{ code: 'unreadable-line', count: 1 }]);
    expect(once.records).toBe(61);
    const anySizes = fc.array(fc.integer({ min: 1, max: 100_000 }), { minLength: 1, maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(anySizes, async (sizes) => {
        // Single bytes between, and not for the whole of it.
        expect(await auditInput(cutInto(long, [1, ...sizes, 20_000]))).toEqual(once);
      }),
      { numRuns: runs(30) },
    );
  });

  it('that cannot be read is an error and no verdict', async () => {
    // biome-ignore lint/correctness/useYield: it fails before its first bytes
    async function* failing(): AsyncGenerator<Uint8Array> {
      throw Object.assign(new Error('EISDIR: illegal operation on a directory, read'), { code: 'EISDIR' });
    }
    const message = expect.stringContaining('stdin cannot be read: it is a folder');
    await expect(auditInput(failing())).rejects.toMatchObject({ code: 'FILE_UNREADABLE', message });
  });
});

describe('the copy of the cloud', () => {
  const bodies = [startOf(1), endOf(1), refusedOf(1), startOf(2), endOf(2), refusedOf(2)];
  const lines = linesOf(bodies);
  const envelope = (line: string, n: number, more = {}) =>
    `${JSON.stringify({ id: idOf(n), seq: 700 + n, at: '2026-01-02T00:00:00.000Z', serial: 'SN-1', kind: 'support-session', record: recordOf(line), ...more })}\n`;

  async function compare(cloud: readonly string[]) {
    using folder = recordFolder({ 'sessions.jsonl': lines });
    const path = folder.path('cloud.jsonl');
    writeFileSync(path, cloud.join(''));
    return await folder.audit({ cloud: path });
  }

  it('with messages of the outbox, copies, other messages and other robots is the same', async () => {
    const other = linesOf([startOf(5)], { serial: 'SN-9' });
    const stop = `${JSON.stringify({ id: 'x', kind: 'stop', at: '2026-01-02T00:00:00.000Z' })}\n`;
    const copies = [lines[1] ?? '', envelope(lines[2] ?? '', 9)];
    const cloud = [...lines.map((line, n) => envelope(line, n)), ...copies, stop, ...other];
    const facts = await compare(cloud.toReversed());
    expect(facts).toMatchObject({ verdict: 'ok', findings: [], cloud: { records: 8, copies: 2, others: 2, newer: 0 } });
    expect(check(facts, 'cloud')).toMatchObject({ verdict: 'ok' });
  });

  it('with the keys in another order is the same, since a store may order them', async () => {
    const turned = (line: string) => Object.fromEntries(Object.entries(recordOf(line)).toReversed());
    const reordered = lines.map((line) => `${JSON.stringify(turned(line))}\n`);
    expect(await compare(reordered)).toMatchObject({ verdict: 'ok', cloud: { records: 6 } });
  });

  it('with a record less in the middle, and without the newest', async () => {
    const missing = await compare(lines.toSpliced(2, 2));
    expect(missing.findings).toMatchObject([{ code: 'missing-in-cloud', seq: 3, values: { from: 3, to: 4 } }]);
    const behind = await compare(lines.slice(0, 4));
    expect(behind).toMatchObject({ verdict: 'not-decided', findings: [], cloud: { newer: 2 } });
    expect(check(behind, 'cloud')).toMatchObject({ verdict: 'not-checked', detail: 'cloud-behind' });
    const empty = await compare([]);
    expect(empty).toMatchObject({ verdict: 'not-decided', cloud: { records: 0, newer: 6 } });
  });

  it('with a changed field or hash differs', async () => {
    const changed = lines.with(4, (lines[4] ?? '').replace('"durationS":60', '"durationS":61'));
    const differs = { code: 'cloud-differs', seq: 5, line: 5, session: idOf(2) };
    expect((await compare(changed)).findings).toMatchObject([differs]);
    const rehashed = lines.with(4, (lines[4] ?? '').replace(/"hash":"..../, '"hash":"0000'));
    expect(codes(await compare(rehashed))).toEqual(['cloud-differs']);
    // Two copies, one of them changed.
    expect(codes(await compare([...lines, changed[4] ?? '']))).toEqual(['cloud-differs']);
  });

  it('with a line that is no JSON or no record', async () => {
    const facts = await compare([...lines, 'nonsense\n', '{"record":{"format":1}}\n', '{}\n']);
    expect(codes(facts)).toEqual(['cloud-invalid', 'cloud-invalid', 'cloud-invalid']);
    expect(facts.findings[0]).toMatchObject({ line: 7 });
  });

  it('anchors the first local record after a rotation', async () => {
    const refusals = linesOf(Array.from({ length: 30 }, (_, n) => refusedOf(n)));
    const local = refusals.slice(3);
    const compareRotated = async (rest: readonly string[]) => {
      using folder = recordFolder(rotatedFiles(rest));
      writeFileSync(folder.path('cloud.jsonl'), refusals.join(''));
      return await folder.audit({ cloud: folder.path('cloud.jsonl') });
    };
    expect(await compareRotated(local)).toMatchObject({ verdict: 'ok', cloud: { older: 3 } });
    const others = Array.from({ length: 27 }, (_, n) => refusedOf(n + 3));
    const forged = linesOf(others, { seq: 4, prev: 'ab'.repeat(32), at: recordOf(local[0] ?? '').at });
    const facts = await compareRotated(forged);
    expect(codes(facts)[0]).toBe('cloud-differs');
    expect(facts.findings[0]).toMatchObject({ seq: 3 });
  });

  it('of any bytes never makes the audit fail', { tags: 'property' }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(fc.json(), fc.string()), { maxLength: 5 }), async (texts) => {
        const facts = await compare(texts.map((text) => `${text}\n`));
        expect(facts.verdict).not.toBe('ok');
      }),
      { numRuns: runs(60) },
    );
  });
});

describe('a file of any bytes', () => {
  it('larger than any buffer is read as one', async () => {
    const lines = linesOf(Array.from({ length: 900 }, (_, n) => refusedOf(n)));
    expect(lines.join('').length).toBeGreaterThan(400_000);
    using folder = recordFolder({ 'sessions.jsonl': lines });
    expect(await folder.audit()).toMatchObject({ verdict: 'ok', records: 900, findings: [] });
  });

  it('never makes the audit fail, and is never green', { tags: 'property' }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 2_000, size: 'max' }), async (bytes) => {
        using folder = recordFolder({}, null);
        writeFileSync(folder.path('sessions.jsonl'), bytes);
        expect((await folder.audit()).verdict).not.toBe('ok');
      }),
      { numRuns: runs(100) },
    );
  });

  it('with more findings than are listed counts all', async () => {
    using folder = recordFolder({ 'sessions.jsonl': Array.from({ length: 1_500 }, () => 'x\n') }, null);
    const expected = { counts: [{ code: 'unreadable-line', count: 1_500 }], notListed: 500, firstBroken: { line: 1 } };
    expect(await folder.audit()).toMatchObject(expected);
    mkdirSync(folder.path('sessions-000001.jsonl'));
    await expect(folder.audit()).rejects.toMatchObject({ code: 'FILE_UNREADABLE' });
  });
});
