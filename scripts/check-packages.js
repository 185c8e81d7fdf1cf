// Makes the packages of this processor, compressed quickly, and looks into them: what a gateway would get starts, says
// where it comes from, and its bill of materials names what is in it.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), 'gw-packages-'));
const run = (program, words, options = {}) =>
  execFileSync(program, words, { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024, ...options });
const expect = (is, what) => {
  if (!is) throw new Error(what);
};

try {
  const out = join(scratch, 'out');
  run('node', [join(root, 'scripts/package/make.js'), '--arch', 'x64', '--level', '1', '--out', out], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const named = (pattern) => {
    const name = readdirSync(out).find((one) => pattern.test(one));
    expect(name !== undefined, `no file like ${pattern} was made`);
    return join(out, name);
  };
  run('sha256sum', ['--check', '--quiet', 'SHA256SUMS'], { cwd: out });

  run('tar', ['xzf', named(/linux-x64\.tar\.gz$/), '-C', scratch]);
  const [folder] = readdirSync(scratch).filter((name) => name.startsWith('gw-'));
  // Without the Node.js of this machine.
  const gw = (...words) =>
    run(join(scratch, folder, 'bin/gw'), words, { cwd: scratch, env: { PATH: '/usr/bin:/bin' } });
  const version = JSON.parse(gw('version', '--json')).data;
  expect(version.origin?.kind === 'tar', 'gw version does not say that it comes from the archive');
  expect(version.nodePath.startsWith(join(scratch, folder)), `it runs on ${version.nodePath}`);
  expect(!/^ {2}(sim|demo) /m.test(gw('--help')), 'a gateway has no simulator, and its help names one');
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

  const fields = run('dpkg-deb', ['--field', named(/_amd64\.deb$/)]);
  expect(/^Depends: libc6/m.test(fields) && /^Architecture: amd64$/m.test(fields), fields);
  const content = run('dpkg-deb', ['--contents', named(/_amd64\.deb$/)]);
  for (const path of ['./usr/bin/gw', './lib/systemd/system/gw.service', './usr/share/doc/gw/copyright']) {
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
  process.stdout.write(`packages: ${readdirSync(out).length} files, ${bom.components.length} components, started\n`);
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
  for (const path of ['etc/sources.list.d', 'state/lists/partial', 'cache/archives/partial']) {
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
