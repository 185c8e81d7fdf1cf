import { writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { headOf, recordFolder } from '../tunnel/audit/folder.ts';
import { endOf, linesOf, startOf } from '../tunnel/records/bodies.ts';
import { runGw } from './gw.ts';

const lines = linesOf([startOf(1), endOf(1)]);

describe('gw tunnel audit', () => {
  it('ends with 0 when everything was checked, and with 1 with findings or when something was not, the same in text and JSON', async () => {
    using folder = recordFolder({ 'sessions.jsonl': lines });
    const args = ['tunnel', 'audit', '--records', folder.dir];
    const open = await runGw(args);
    expect(open).toMatchObject({ code: 1, stderr: '' });
    expect(open.stdout.split('\n')[0]).toMatch(
      /^Not decided: 1 support session, no finding, records 1 to 2; 4 of 11 checks not made: no site file with cloud\.tunnel was given; no log file was given\. Not compared/,
    );
    const json = await runGw([...args, '--json']);
    expect(json.code).toBe(1);
    expect(JSON.parse(json.stdout)).toMatchObject({
      schema: 'gw/tunnel-audit/1',
      ok: false,
      error: null,
      warnings: [],
      data: { verdict: 'not-decided', local: 'ok' },
    });
    const accepted = await runGw([...args, '--json', '--accept-undecided']);
    expect(accepted.code).toBe(0);
    expect(JSON.parse(accepted.stdout)).toMatchObject({
      ok: true,
      warnings: [expect.stringContaining('--accept-undecided')],
      data: { verdict: 'not-decided' },
    });

    writeFileSync(folder.path('sessions.jsonl'), lines.slice(0, 1).join(''));
    const cut = await runGw([...args, '--out', folder.path('audit.pdf'), '--lang', 'de']);
    expect(cut.code).toBe(1);
    expect(cut.stdout.split('\n')[0]).toMatch(
      /^FAILED: 1 finding\. First broken line of the chain: sessions\.jsonl:2\./,
    );
    expect(cut.stdout).toContain(`Report: ${folder.path('audit.pdf')} (pdf, `);
    const cutJson = await runGw([...args, '--json', '--accept-undecided']);
    expect(cutJson.code).toBe(1);
    expect(JSON.parse(cutJson.stdout)).toMatchObject({ ok: false, error: null, data: { firstBroken: { line: 2 } } });

    const piped = await runGw(['tunnel', 'audit', '-', '--json'], { input: lines.join('') });
    expect(piped.code).toBe(1);
    expect(JSON.parse(piped.stdout)).toMatchObject({
      data: { verdict: 'not-decided', recordsPath: 'stdin', records: 2 },
    });
    const both = await runGw(['tunnel', 'audit', '-', '--records', folder.dir], { input: lines.join('') });
    expect(both).toMatchObject({ code: 2, stdout: '' });
    const through = await runGw(['tunnel', 'audit', '-', '--via', 'nobody@127.0.0.1'], { input: lines.join('') });
    expect(through).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('--via') });

    using headless = recordFolder({ 'sessions.jsonl': lines }, null);
    expect((await runGw(['tunnel', 'audit', '--records', headless.dir])).code).toBe(1);
    expect(headOf(lines).seq).toBe(2);
    const missing = await runGw(['tunnel', 'audit', '--records', folder.path('nothing')]);
    expect(missing.code).toBe(2);
    expect(missing.stderr).toContain('it does not exist');
  });
});
