import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';

const packaging = fileURLToPath(new URL('../../packaging', import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), 'gw-musl-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const busybox = ['/bin/busybox', '/usr/bin/busybox'];
const runtime = `gw/node_modules/node-linux-${process.arch}/bin/node`;

/** A system without glibc: the tools of busybox, linked statically, and an installation of gw with its launchers. */
function createRoot(): string {
  const root = mkdtempSync(join(scratch, 'root-'));
  for (const path of ['bin', 'dev', 'lib', 'tmp', 'usr/bin', 'gw/bin', 'gw/packaging', `${runtime}/..`]) {
    mkdirSync(join(root, path), { recursive: true });
  }
  copyFileSync(busybox.find((path) => spawnSync(path).error === undefined) ?? 'busybox', join(root, 'bin/busybox'));
  for (const tool of ['sh', 'dirname', 'readlink', 'uname']) symlinkSync('busybox', join(root, 'bin', tool));
  writeFileSync(join(root, 'dev/null'), '');
  copyFileSync(join(packaging, 'gw.sh'), join(root, 'gw/bin/gw'));
  chmodSync(join(root, 'gw/bin/gw'), 0o755);
  for (const name of ['gw.sh', 'launch.sh', 'boot.js'])
    copyFileSync(join(packaging, name), join(root, 'gw/packaging', name));
  // Linked against glibc, as Node.js is, whose loader is missing in this root.
  copyFileSync('/bin/true', join(root, runtime));
  return root;
}

const inside = (root: string, ...words: string[]) =>
  spawnSync('unshare', ['--map-root-user', 'chroot', root, ...words], {
    encoding: 'utf8',
    env: { PATH: '/usr/bin:/bin:/usr/sbin:/sbin' },
  });
const launchers = [['/gw/bin/gw'], ['/bin/sh', '/gw/packaging/launch.sh', '/tmp/releases']];

function canChroot(): boolean {
  if (!busybox.some((path) => spawnSync(path).error === undefined)) return false;
  return inside(createRoot(), '/bin/sh', '-c', 'exit 7').status === 7;
}

describe.runIf(canChroot())('gw on a system without glibc', () => {
  let root: string;
  beforeEach(() => {
    root = createRoot();
  });

  it.each(launchers)('with musl says in one line what it needs: %s', (...launcher) => {
    writeFileSync(join(root, 'lib/ld-musl-x86_64.so.1'), '');
    const { status, stdout, stderr } = inside(root, ...launcher, 'version');
    expect([status, stdout]).toEqual([70, '']);
    expect(stderr).toMatch(
      /^gw: needs glibc 2\.28 or newer, this system has musl \(no \/lib\S+\); install gw on a Linux with glibc, Debian 10 or newer\n$/,
    );
  });

  it.each(launchers)('with another C library names none: %s', (...launcher) => {
    const { status, stderr } = inside(root, ...launcher, 'version');
    expect(status).toBe(70);
    expect(stderr).toMatch(/^gw: needs glibc 2\.28 or newer, this system has another C library .*\n$/);
  });

  it.each(launchers)('without Node.js for this processor says so in one line: %s', (...launcher) => {
    rmSync(join(root, runtime));
    const { status, stderr } = inside(root, ...launcher, 'version');
    expect(status).toBe(70);
    expect(stderr).toMatch(
      /^gw: no Node\.js for this processor \(\S+\) in \/gw\/node_modules; install the package for it .*\n$/,
    );
  });

  it('starts with the Node.js of the system, as after an installation by npm', () => {
    const node = join(root, 'usr/bin/node');
    writeFileSync(
      node,
      '#!/bin/sh\nfor word; do [ "$word" = /gw/packaging/boot.js ] && echo base; done; echo "node $*"\n',
    );
    chmodSync(node, 0o755);
    const { status, stdout, stderr } = inside(root, '/bin/sh', '/gw/packaging/launch.sh', '/tmp/releases', 'serve');
    expect([status, stdout, stderr]).toEqual([0, 'node --disable-sigusr1 /gw/bin/run.js serve\n', '']);
  });
});

it('an old Node.js of the system says so where the one that came along does not start', () => {
  const root = mkdtempSync(join(scratch, 'old-'));
  const bundled = join(root, `node_modules/node-${process.platform}-${process.arch}/bin/node`);
  for (const folder of [join(root, 'bin'), join(bundled, '..')]) mkdirSync(folder, { recursive: true });
  copyFileSync(fileURLToPath(new URL('../../bin/run.js', import.meta.url)), join(root, 'bin/run.js'));
  writeFileSync(join(root, 'package.json'), '{"type":"module"}');
  // As with the loader of glibc, the kernel finds no program that could load it.
  writeFileSync(bundled, '#!/no/such/loader\n');
  chmodSync(bundled, 0o755);
  const old = "Object.defineProperty(process,'versions',{value:{...process.versions,node:'18.19.0'}})";
  const words = ['--import', `data:text/javascript,${old}`, join(root, 'bin/run.js'), 'version'];
  const { status, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8' });
  expect(status).toBe(70);
  expect(stderr).toMatch(
    /^gw: needs Node 22\.19 or newer, this is 18\.19\.0, .* it needs glibc, .*; install a newer Node\.\n$/,
  );
});
