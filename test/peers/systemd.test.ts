import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { hasProgram } from './peer.ts';

const unit = readFileSync(fileURLToPath(new URL('../../packaging/gw.service', import.meta.url)), 'utf8');
const scratch = mkdtempSync(join(tmpdir(), 'gw-unit-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

/** systemd-analyze on a unit file. */
function analyze(words: readonly string[], text: string) {
  const path = join(scratch, 'gw.service');
  writeFileSync(path, text);
  const { status, stdout, stderr } = spawnSync('systemd-analyze', [...words, path], { encoding: 'utf8' });
  return { status, output: `${stdout}${stderr}` };
}

describe.skipIf(!hasProgram('systemd-analyze'))('systemd-analyze on the unit of gw serve', () => {
  it('reports no problem', () => {
    expect(analyze(['verify'], unit)).toEqual({ status: 0, output: '' });
  });

  it('would report a wrong key, a wrong value, and a missing program', () => {
    // An unknown key is a line of output, not a failure.
    expect(analyze(['verify'], unit.replace('TasksMax=', 'TaskMax=')).output).toContain('TaskMax');
    expect(analyze(['verify'], unit.replace('Restart=always', 'Restart=allways')).output).toContain('allways');
    expect(analyze(['verify'], unit.replace('ExecStart=/bin/sh ', 'ExecStart=/bin/no-such-shell ')).status).not.toBe(0);
  });

  it('rates its sandbox at most 2.0 of 10, and higher without it', () => {
    const rate = ['security', '--offline=true', '--threshold=20', '--no-pager'];
    expect(analyze(rate, unit).status).toBe(0);
    expect(
      analyze(rate, unit.replace('ProtectSystem=strict', '').replace(/^CapabilityBoundingSet=$/m, '')).status,
    ).toBe(1);
  });
});
