import { spawnSync } from 'node:child_process';
import { chmodSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), 'gw-peers-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

/** Foreign programs that a benchmark starts. */
const foreign = ['adb', 'chromium', 'jq', 'mosquitto', 'nginx', 'openssl', 'sshd', 'wrk'];

describe('a benchmark', () => {
  it.each(globSync('bench/benchmarks/*.js', { cwd: root }))('%s names every foreign program that it starts', (path) => {
    const text = readFileSync(join(root, path), 'utf8');
    const declared = /^ {2}peers: (.*?),\n {2}async/ms.exec(text)?.[1] ?? '';
    const started = foreign.filter((name) =>
      new RegExp(
        `(spawnSync|spawn|startChild|run|execFile)\\(\\s*'${name}'|start${name}\\b|import \\{ ${name} \\}`,
        'i',
      ).test(text),
    );
    expect(started.filter((name) => !declared.includes(name))).toEqual([]);
  });

  it('is skipped with the Debian package of its missing peer', () => {
    const run = spawnSync(process.execPath, [join(root, 'bench/run.js'), 'overlays-json'], {
      encoding: 'utf8',
      env: { PATH: scratch, GW_INSTALL_PEERS: 'no' },
    });
    expect(run.stderr).toBe('');
    expect(run.stdout).toContain('skipped: needs the Debian package jq');
    expect(run.stdout).not.toContain('written:');
    expect(run.status).toBe(0);
  });
});

describe.skipIf(process.getuid?.() !== 0)('as root, missing packages', () => {
  const log = join(scratch, 'log');
  const aptGet = join(scratch, 'apt-get');
  writeFileSync(aptGet, `#!/bin/sh\necho "$@" >>${log}\n`);
  chmodSync(aptGet, 0o755);
  const bring = (env: Record<string, string>) => {
    writeFileSync(log, '');
    const url = new URL('../../scripts/debian-packages.js', import.meta.url).href;
    const packages = JSON.stringify([
      ['here', aptGet],
      ['not-here', 'no-such-program'],
    ]);
    const code = `import { bringPackages } from '${url}'; bringPackages(${packages}, 'for a test', 'nothing is measured');`;
    const run = spawnSync(process.execPath, ['--input-type=module', '-e', code], {
      encoding: 'utf8',
      env: { PATH: scratch, ...env },
    });
    return { stderr: run.stderr, calls: readFileSync(log, 'utf8') };
  };

  it('are installed; present ones are not installed again', () => {
    const { stderr, calls } = bring({});
    expect(calls).toContain('install -y --no-install-recommends not-here\n');
    expect(stderr).toBe('installing Debian packages for a test: not-here\n');
  });

  it('are not installed with GW_INSTALL_PEERS=no', () => {
    expect(bring({ GW_INSTALL_PEERS: 'no' })).toEqual({ stderr: '', calls: '' });
  });
});
