import { writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { headOf, recordFolder } from '../tunnel/audit/folder.ts';
import { endOf, linesOf, startOf } from '../tunnel/records/bodies.ts';
import { runGw } from './gw.ts';

const lines = linesOf([startOf(1), endOf(1)]);

describe('gw tunnel audit', () => {
  it('ends with 0 without, and with 1 with findings or without a decision, the same in text and JSON', async () => {
    using folder = recordFolder({ 'sessions.jsonl': lines });
    const args = ['tunnel', 'audit', '--records', folder.dir];
    const whole = await runGw(args);
    expect(whole).toMatchObject({ code: 0, stderr: '' });
    expect(whole.stdout.split('\n')[0]).toMatch(/^ok: 1 support session, no finding, records 1 to 2\. Not compared/);
    const json = await runGw([...args, '--json']);
    expect(JSON.parse(json.stdout)).toMatchObject({ schema: 'gw/tunnel-audit/1', ok: true, data: { verdict: 'ok' } });

    writeFileSync(folder.path('sessions.jsonl'), lines.slice(0, 1).join(''));
    const cut = await runGw([...args, '--report', folder.path('audit.pdf'), '--lang', 'de']);
    expect(cut.code).toBe(1);
    expect(cut.stdout.split('\n')[0]).toMatch(
      /^FAILED: 2 findings\. First broken line of the chain: sessions\.jsonl:2\./,
    );
    expect(cut.stdout).toContain(`Report: ${folder.path('audit.pdf')} (pdf, `);
    const cutJson = await runGw([...args, '--json']);
    expect(cutJson.code).toBe(1);
    expect(JSON.parse(cutJson.stdout)).toMatchObject({ ok: false, error: null, data: { firstBroken: { line: 2 } } });

    using headless = recordFolder({ 'sessions.jsonl': lines }, null);
    expect((await runGw(['tunnel', 'audit', '--records', headless.dir])).code).toBe(1);
    expect(headOf(lines).seq).toBe(2);
    const missing = await runGw(['tunnel', 'audit', '--records', folder.path('nothing')]);
    expect(missing.code).toBe(2);
    expect(missing.stderr).toContain('it does not exist');
  });
});
