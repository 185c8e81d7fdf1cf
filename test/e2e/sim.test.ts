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

it('gw sim cloud plays the cloud of a running simulator, which ends also while its broker restarts', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'gw-sim-play-'));
  try {
    await using sim = startGw(['sim', '--dir', dir, '--chassis-port', '0', '--with', 'cloud', '--json']);
    await sim.untilOutput('"event":"ready"');
    const cloud = (...words: string[]) => runGw(['sim', 'cloud', ...words, '--dir', dir]);
    const stop = await cloud('stop', '--reason', 'drill');
    expect([stop.code, stop.stdout.split('\n')[0]]).toEqual([
      0,
      'Stop published for SIM-0001; whether the device received it is not checked.',
    ]);
    const file = join(dir, 'evidence.jsonl');
    const unreadable = await cloud('release', file);
    expect([unreadable.code, unreadable.stderr.replace(/\s+/g, ' ').includes('no manifest.json')]).toEqual([2, true]);
    const waited = await cloud('release', file, '--version', '2.0.0', '--wait', '--timeout', '1', '--json');
    expect([waited.code, JSON.parse(waited.stdout)]).toMatchObject([1, { ok: false, data: { ended: false } }]);
    const { jobId } = JSON.parse(waited.stdout).data.job;
    expect((await cloud('cancel', jobId)).stdout).toContain('is cancelled.');
    expect((await cloud('jobs')).stdout).toContain('1 job, 0 not ended.');
    expect((await cloud('send', 'gw/SIM-0001/stop', '{}')).code).toBe(0);
    expect((await cloud('received')).stdout.trim()).toBe('No message received.');
    expect((await cloud('restart')).stdout).toContain('accepts connections; no client was connected.');
    await runGw(['sim', 'fault', 'cloud-restarting', 'on', '--dir', dir]);
    expect((await sim.end()).code).toBe(0);
    expect((await cloud('jobs')).code).toBe(3);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});
