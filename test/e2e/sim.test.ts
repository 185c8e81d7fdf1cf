import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runGw, startGw } from './gw.ts';

it('gw sim uses a given serial number in all its files and answers', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'gw-sim-serial-'));
  try {
    await using sim = startGw(['sim', '--dir', dir, '--chassis-port', '0', '--serial', 'SN_00-7', '--json']);
    await sim.untilOutput('"event":"ready"');
    const ready = JSON.parse(
      sim
        .stdout()
        .split('\n')
        .find((line) => line.includes('"event":"ready"')) ?? '',
    );
    const { chassis } = ready;
    expect(chassis.serial).toBe('SN_00-7');
    const info = await (await fetch(`http://127.0.0.1:${chassis.port}/device/info`)).json();
    expect(info).toMatchObject({ device: { sn: 'SN_00-7', name: 'SN_00-7' } });
    expect(readFileSync(join(dir, 'site.yaml'), 'utf8')).toContain('serial: SN_00-7');
    expect(readFileSync(join(dir, 'evidence.jsonl'), 'utf8')).toContain('"serial":"SN_00-7"');
    const probe = await runGw(['chassis', 'probe', '--site', join(dir, 'site.yaml'), '--json']);
    expect(probe.stdout).toContain('SN_00-7');
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});

it('gw sim refuses a serial number that is invalid in a site file', async () => {
  const { code, stderr } = await runGw(['sim', '--serial', 'two words']);
  expect(code).toBe(2);
  expect(stderr).toContain('--serial: expected');
});

it('gw sim writes a site without verified facts, and gw sim fault switches its faults', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'gw-sim-fault-'));
  try {
    const words = ['--chassis-port', '0', '--evidence', 'none', '--with', 'password'];
    await using sim = startGw(['sim', '--dir', dir, ...words, '--json']);
    await sim.untilOutput('"event":"ready"');
    expect(existsSync(join(dir, 'evidence.jsonl')) && readFileSync(join(dir, 'evidence.jsonl'), 'utf8')).toBeFalsy();
    expect(readFileSync(join(dir, 'site.yaml'), 'utf8')).toContain('passwordFile:');
    const address = () => runGw(['chassis', 'address', '--site', join(dir, 'site.yaml')]);
    for (const [state, code] of [
      ['on', 4],
      ['off', 0],
    ] as const) {
      const switched = await runGw(['sim', 'fault', 'wrong-serial', state, '--dir', dir]);
      expect([switched.code, switched.stderr]).toEqual([0, '']);
      expect((await address()).code, state).toBe(code);
    }
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});
