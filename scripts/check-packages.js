// Makes the packages of x64, compressed quickly, and looks into them: what a gateway would get starts, says where it comes
// from, and its bill of materials names what is in it; the release is installed over the simulated cloud. An installation
// for arm64 has the same files, and starts in qemu.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { librariesOf, programsIn } from './package/programs.js';
import { sourceOf, stageGateway } from './package/stage.js';

/** Where Debian's libc6-arm64-cross and libstdc++6-arm64-cross lie. */
const ARM64_LIBRARIES = '/usr/aarch64-linux-gnu';

const root = fileURLToPath(new URL('..', import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), 'gw-packages-'));
const run = (program, words, options = {}) =>
  execFileSync(program, words, { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024, ...options });
const expect = (is, what) => {
  if (!is) throw new Error(what);
};

const program = (arch) => `node_modules/node-linux-${arch}/bin/node`;

try {
  const out = join(scratch, 'out');
  // Where the simulator looks for the key with which its cloud signs releases.
  const keyFile = join(scratch, 'robot/secrets/release-signing-key.pem');
  mkdirSync(join(scratch, 'robot/secrets'), { recursive: true, mode: 0o700 });
  run('node', [join(root, 'bin/run.js'), 'release', 'key', 'new', keyFile]);
  const made = ['--arch', 'x64', '--level', '1', '--out', out, '--signing-key', keyFile];
  run('node', [join(root, 'scripts/package/make.js'), ...made], { stdio: ['ignore', 'ignore', 'inherit'] });
  const named = (pattern) => {
    const name = readdirSync(out).find((one) => pattern.test(one));
    expect(name !== undefined, `no file like ${pattern} was made`);
    return join(out, name);
  };
  run('sha256sum', ['--check', '--quiet', 'SHA256SUMS'], { cwd: out });
  const signed = ['-in', 'SHA256SUMS', '-sigfile', 'SHA256SUMS.sig', '-inkey', keyFile.replace(/\.pem$/, '.pub.pem')];
  run('openssl', ['pkeyutl', '-verify', '-rawin', '-pubin', ...signed], { cwd: out });

  run('tar', ['xzf', named(/linux-x64\.tar\.gz$/), '-C', scratch]);
  const folder = readdirSync(scratch).find((name) => name.startsWith('gw-'));
  // Without the Node.js of this machine.
  const gw = (...words) =>
    run(join(scratch, folder, 'bin/gw'), words, { cwd: scratch, env: { PATH: '/usr/bin:/bin' } });
  const version = JSON.parse(gw('version', '--json')).data;
  expect(version.origin?.kind === 'tar', 'gw version does not say that it comes from the archive');
  expect(version.nodePath.startsWith(join(scratch, folder)), `it runs on ${version.nodePath}`);
  expect(!/^ {2}(sim|demo) /m.test(gw('--help')), 'a gateway has no simulator, and its help names one');
  for (const words of [['demo'], ['sim', 'cloud', 'stop'], ['help', 'sim']]) {
    const { status, stderr } = spawnSync(join(scratch, folder, 'bin/gw'), words, { encoding: 'utf8' });
    expect(status === 2 && stderr.startsWith('gw: The package of a gateway has no simulator'), `${words}: ${stderr}`);
  }
  expect(JSON.parse(gw('evidence', 'list', '--json')).ok, 'gw evidence list does not work');
  const installed = run('find', [
    join(scratch, folder),
    '-name',
    '*.map',
    '-o',
    '-name',
    'aedes',
    '-o',
    '-name',
    'include',
  ]);
  expect(installed === '', `left in: ${installed}`);

  const x64 = join(scratch, folder);
  // Every library, whose files are left out in part, and those that write a PDF with its fonts.
  const { dependencies } = JSON.parse(readFileSync(join(x64, 'package.json'), 'utf8'));
  const imports = Object.keys(dependencies).map((name) => `await import('${name}');`);
  const words = ['--import', 'reflect-metadata', '--input-type=module', '--eval', imports.join('')];
  run(join(x64, program('x64')), words, { cwd: x64 });
  gw('site', 'init', 'site.yaml', '--yes', '--name', 'Test', '--chassis-host', '127.0.0.1', '--serial', 'SN0007');
  gw('network', 'request', '--out', 'letter.pdf');
  expect(readFileSync(join(scratch, 'letter.pdf'), 'latin1').startsWith('%PDF-'), 'gw network request wrote no PDF');
  /** Its files, the runtime under one name for all processors; its compiled ones are for this one. */
  const filesFor = (arch, installation) => {
    const compiled = programsIn(installation);
    const others = compiled.filter(({ processor }) => processor !== arch);
    expect(compiled.length > 0 && others.length === 0, `not for ${arch}: ${others.map(({ path }) => path)}`);
    return readdirSync(installation, { recursive: true, encoding: 'utf8' })
      .map((path) => path.replace(`node-linux-${arch}`, 'node-linux'))
      .sort();
  };
  const x64Files = filesFor('x64', x64);
  const arm64 = join(scratch, 'arm64');
  stageGateway(arm64, { arch: 'arm64', kind: 'tar', source: sourceOf() });
  const arm64Files = filesFor('arm64', arm64);
  const different = [
    ...x64Files.filter((path) => !arm64Files.includes(path)),
    ...arm64Files.filter((path) => !x64Files.includes(path)),
  ];
  expect(different.length === 0, `only for one processor: ${different}`);
  const launcher = readFileSync(join(root, 'packaging/gw.sh'), 'utf8');
  for (const [arch, installation] of Object.entries({ x64, arm64 })) {
    const { glibc } = librariesOf(join(installation, program(arch)));
    expect(
      launcher.includes(`glibc ${glibc} or newer`),
      `Node.js for ${arch} needs glibc ${glibc}, gw.sh names another`,
    );
  }
  expect(
    existsSync(join(ARM64_LIBRARIES, 'lib/libstdc++.so.6')),
    'apt install qemu-user libc6-arm64-cross libstdc++6-arm64-cross',
  );
  const emulated = (...words) =>
    JSON.parse(
      run('qemu-aarch64', ['-L', ARM64_LIBRARIES, join(arm64, program('arm64')), join(arm64, 'bin/run.js'), ...words]),
    );
  expect(emulated('version', '--json').data.architecture === 'arm64', 'gw for arm64 does not start');
  expect(emulated('evidence', 'list', '--json').ok, 'gw evidence list does not work on arm64');

  const fields = run('dpkg-deb', ['--field', named(/_amd64\.deb$/)]);
  const { glibc, gcc } = librariesOf(join(x64, program('x64')));
  expect(fields.includes(`Depends: libc6 (>= ${glibc}), libstdc++6 (>= ${gcc}),`), fields);
  expect(/^Architecture: amd64$/m.test(fields), fields);
  const content = run('dpkg-deb', ['--contents', named(/_amd64\.deb$/)]);
  for (const path of [
    './usr/bin/gw',
    './lib/systemd/system/gw.service',
    './usr/share/doc/gw/copyright',
    './usr/share/doc/gw/changelog.gz',
  ]) {
    expect(content.includes(path), `the Debian package lacks ${path}`);
  }
  const owners = new Set(
    content
      .trim()
      .split('\n')
      .map((line) => line.split(/ +/)[1]),
  );
  expect(owners.size === 1 && owners.has(['root', 'root'].join('/')), `files of ${[...owners].join(', ')}`);

  const planned = installedByApt(out);
  expect(/^Inst gw \(\S+ gw:stable \[amd64\]\)$/m.test(planned), `apt-get would not install the package:\n${planned}`);

  const bom = JSON.parse(readFileSync(named(/\.cdx\.json$/), 'utf8'));
  const names = new Set(bom.components.map(({ name }) => name));
  for (const name of ['node', 'fastify', 'zod', 'ssh2']) expect(names.has(name), `the bill of materials lacks ${name}`);
  expect(!names.has('aedes') && !names.has('vitest'), 'the bill of materials names what is not there');
  const without = bom.components.filter(({ licenses = [] }) => licenses.length === 0).map(({ name }) => name);
  expect(without.length === 0, `no licence is known of ${without.join(', ')}`);

  const npm = run('tar', ['tzf', named(/gw-[^-]*\.tgz$/)]);
  expect(npm.includes('package/npm-shrinkwrap.json'), 'the npm tarball has no lock');
  // Only root may make a network of its own.
  if (process.getuid() === 0) {
    const check = ['--net', process.execPath, join(root, 'scripts/check-release.js')];
    process.stdout.write(run('unshare', [...check, out, join(scratch, folder), scratch]));
  } else process.stdout.write('release: not installed, since only root may make a network of its own\n');
  process.stdout.write(
    `packages: ${readdirSync(out).length} files, ${bom.components.length} components, started on x64 and arm64\n`,
  );
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

/** What apt-get plans, with the packages of this machine, from a repository of these that a throwaway key has signed. */
function installedByApt(packages) {
  const env = { ...process.env, GNUPGHOME: join(scratch, 'gnupg') };
  const repository = join(scratch, 'repository');
  mkdirSync(env.GNUPGHOME, { mode: 0o700 });
  try {
    const key = [
      '--batch',
      '--quiet',
      '--passphrase',
      '',
      '--quick-generate-key',
      'throwaway',
      'ed25519',
      'sign',
      '1d',
    ];
    run('gpg', key, { env, stdio: ['ignore', 'ignore', 'inherit'] });
    const words = ['--packages', packages, '--key', 'throwaway', '--url', `file://${repository}`, '--out', repository];
    run('node', [join(root, 'scripts/package/apt-repository.js'), ...words], { env });
  } finally {
    run('gpgconf', ['--kill', 'all'], { env });
  }
  const apt = join(scratch, 'apt');
  for (const path of ['etc/sources.list.d', 'etc/preferences.d', 'state/lists/partial', 'cache/archives/partial']) {
    mkdirSync(join(apt, path), { recursive: true });
  }
  const source = readFileSync(join(repository, 'gw.sources'), 'utf8');
  const own = source.replace('/etc/apt/keyrings/gw.gpg', join(repository, 'gw.gpg'));
  writeFileSync(join(apt, 'etc/sources.list.d/gw.sources'), own);
  const folders = ['etc', 'state', 'cache'].map((name) => `Dir::${name}=${join(apt, name)}`);
  const options = [...folders, 'Dir::State::status=/var/lib/dpkg/status', 'APT::Sandbox::User=root'];
  const aptGet = (...words) =>
    run('apt-get', [...options, 'APT::Update::Error-Mode=any'].flatMap((one) => ['-o', one]).concat(words));
  aptGet('update');
  aptGet('--yes', '--download-only', '--no-install-recommends', 'install', 'gw');
  return aptGet('--simulate', '--no-install-recommends', 'install', 'gw');
}
