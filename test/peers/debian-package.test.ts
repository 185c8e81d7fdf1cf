import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasNamespaces, hasProgram } from './peer.ts';
import { bootSystemd, type SystemdSystem } from './systemd-system.ts';

const scripts = fileURLToPath(new URL('../../packaging/debian', import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), 'gw-debian-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

/** The scripts of the package of gw, with a service that does nothing in its place. */
function makePackage(version: string): string {
  const tree = join(scratch, version);
  const units = join(tree, 'lib/systemd/system');
  for (const folder of [units, join(tree, 'DEBIAN')]) mkdirSync(folder, { recursive: true });
  const unit = '[Service]\nExecStart=/bin/sleep infinity\n[Install]\nWantedBy=multi-user.target\n';
  writeFileSync(join(units, 'gw.service'), unit);
  writeFileSync(
    join(tree, 'DEBIAN/control'),
    `Package: gw\nVersion: ${version}\nArchitecture: all\nMaintainer: gw <gw@localhost>\nDescription: test\n`,
  );
  for (const name of ['postinst', 'prerm', 'postrm']) {
    copyFileSync(join(scripts, name), join(tree, 'DEBIAN', name));
    execFileSync('chmod', ['755', join(tree, 'DEBIAN', name)]);
  }
  execFileSync('dpkg-deb', ['--root-owner-group', '-Zgzip', '--build', tree, `${tree}.deb`], { stdio: 'ignore' });
  return `${tree}.deb`;
}

const programs = ['systemctl', 'nsenter', 'dpkg-deb', 'deb-systemd-helper'];

describe.skipIf(!programs.every(hasProgram) || !hasNamespaces())('the Debian package under systemd', () => {
  let system: SystemdSystem;
  beforeAll(async () => {
    system = await bootSystemd();
    // Images of containers forbid packages to start services.
    const { stderr } = await system.run(
      'rm -f /usr/sbin/policy-rc.d; rm /etc/systemd/system/gw.service; userdel gw; systemctl daemon-reload',
    );
    expect(stderr).toBe('');
  });
  afterAll(async () => await system?.[Symbol.asyncDispose]());

  const [first, second] = [makePackage('1.0.0'), makePackage('2.0.0')];
  const install = (file: string) => `dpkg --force-unsafe-io -i ${file}`;
  /** Runs the script, then says whether the service is enabled and active. */
  async function after(script: string): Promise<string> {
    const { stderr } = await system.run(`set -e; { ${script}; } > /dev/null`);
    const unexpected = stderr
      .split('\n')
      .filter((line) => line !== '' && !/^(Created|Removed) |downgrading/.test(line));
    expect(unexpected).toEqual([]);
    const { stdout } = await system.run('systemctl is-enabled gw.service; systemctl is-active gw.service');
    return stdout.trim().replace('\n', ' ');
  }
  const processId = async () => (await system.run('systemctl show gw --value -p MainPID')).stdout.trim();

  it('is installed without being enabled, with its user and folder', async () => {
    expect(await after(install(first))).toBe('disabled inactive');
    expect((await system.run('stat -c "%U %G %a" /var/lib/gw')).stdout).toBe('gw gw 700\n');
  });

  it('restarts a running service at an update, and starts none that a person has stopped', async () => {
    expect(await after('systemctl enable --now gw')).toBe('enabled active');
    const before = await processId();
    expect(await after(install(second))).toBe('enabled active');
    expect(await processId()).not.toBe(before);
    expect(await after(`systemctl stop gw; ${install(first)}`)).toBe('enabled inactive');
  });

  it('leaves the service alone at an update while a release runs', async () => {
    await after('systemctl start gw; mkdir /var/lib/gw/releases; ln -s 3.0.0 /var/lib/gw/releases/current');
    const before = await processId();
    expect(await after(install(second))).toBe('enabled active');
    expect(await processId()).toBe(before);
    await after('rm -r /var/lib/gw/releases');
  });

  it('that is removed and installed again starts the service where it was enabled', async () => {
    expect(await after('dpkg -r gw')).toBe('masked inactive');
    expect(await after(install(first))).toBe('enabled active');
    expect(await after(`systemctl disable --now gw; dpkg -r gw; ${install(first)}`)).toBe('disabled inactive');
  });

  it('keeps the mask of a person', async () => {
    await after('systemctl enable gw; systemctl mask gw');
    expect(await after(`dpkg -r gw; ${install(second)}`)).toBe('masked inactive');
    expect(await after('systemctl unmask gw')).toBe('enabled inactive');
  });

  it('that is purged leaves neither folder nor user nor a link', async () => {
    await after('dpkg -P gw');
    const { stdout } = await system.run('ls -d /var/lib/gw; getent passwd gw; find /etc/systemd/system -name "gw*"');
    expect(stdout).toBe('');
    expect(await after(install(first))).toBe('disabled inactive');
  });
});
