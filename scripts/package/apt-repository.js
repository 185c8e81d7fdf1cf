// npm run apt-repository -- --key KEY --url URL --out DIR [--packages DIR] [--valid-days N]
// Makes a signed apt repository of the Debian packages of gw, or adds to one: versions that it has are kept, so that a
// gateway can go back. The same packages give the same indexes; only the signatures have a time of their own.
import { execFileSync, spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { hasProgram } from '../debian-packages.js';

const ARCHITECTURES = ['amd64', 'arm64'];
const PROGRAMS = { 'apt-ftparchive': 'apt-utils', gpg: 'gnupg', gpgv: 'gpgv', 'dpkg-deb': 'dpkg', xz: 'xz-utils' };
const POOL = 'pool/main/g/gw';
const SUITE = 'stable';
/** Where docs/fleet.md and packaging/ansible put the key on a gateway. */
const KEYRING = '/etc/apt/keyrings/gw.gpg';

/** An error with what to do about it. */
const refusal = (message, remedy, cause) => Object.assign(new Error(message, { cause }), { remedy });
const run = (program, words, options = {}) =>
  execFileSync(program, words, {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    stdio: ['inherit', 'pipe', 'inherit'],
    env: { ...process.env, LC_ALL: 'C' },
    ...options,
  });

try {
  makeRepository(optionsOf());
} catch (error) {
  if (error.remedy === undefined) throw error;
  process.stderr.write(`apt-repository: ${error.message}\n  do next  ${error.remedy}\n`);
  process.exitCode = 1;
}

function optionsOf() {
  const { values } = parseArgs({
    options: {
      packages: { type: 'string' },
      key: { type: 'string', multiple: true, default: [] },
      url: { type: 'string' },
      out: { type: 'string' },
      'valid-days': { type: 'string' },
    },
  });
  const { url, out, packages } = values;
  if (out === undefined) throw refusal('no folder for the repository', 'Add --out DIR.');
  if (!URL.canParse(url ?? '') || !/^(https?|file):\/\/[^\s]+$/.test(url)) {
    throw refusal(
      url === undefined ? 'no address of the repository' : `${url} is no address of a repository`,
      'Add the URL that gateways use, --url https://packages.example.com/gw (https, http or file).',
    );
  }
  const days = values['valid-days'];
  if (days !== undefined && !/^[1-9][0-9]{0,3}$/.test(days)) {
    throw refusal(
      `--valid-days ${days} is no number of days`,
      'Give 1 to 9999, or leave it out: valid without a limit.',
    );
  }
  for (const [program, debianPackage] of Object.entries(PROGRAMS)) {
    if (!hasProgram(program)) throw refusal(`${program} is missing`, `sudo apt-get install ${debianPackage}`);
  }
  if (values.key.length === 0) {
    throw refusal('no key to sign with', 'Add --key FINGERPRINT; `gpg --list-secret-keys` lists yours.');
  }
  return {
    packages: packages === undefined ? undefined : resolve(packages),
    keys: values.key.map(keyNamed),
    url: url.replace(/\/+$/, ''),
    out: resolve(out),
    validDays: days === undefined ? undefined : Number(days),
  };
}

/** The one secret key of gpg with this name, which can sign today. */
function keyNamed(name) {
  const listed = spawnSync('gpg', ['--batch', '--with-colons', '--list-secret-keys', '--', name], { encoding: 'utf8' });
  const rows = listed.stdout.split('\n').map((line) => line.split(':'));
  const [key, ...others] = rows.filter(([kind]) => kind === 'sec');
  if (key === undefined) {
    throw refusal(
      `gpg has no secret key ${name}`,
      '`gpg --list-secret-keys` lists yours; `gpg --quick-generate-key "gw packages" ed25519 sign 3y` makes one.',
    );
  }
  if (others.length > 0) throw refusal(`gpg has more than one key ${name}`, 'Name it by its whole fingerprint.');
  const [fingerprint] = rows.filter(([kind]) => kind === 'fpr').map((row) => row[9]);
  // Capital letters: what the key can do today, so none of an expired or revoked one.
  if (!key[11].includes('S')) {
    const why = { e: ' has expired', r: ' is revoked' }[key[1]] ?? ' cannot sign';
    const extend = `gpg --quick-set-expire ${fingerprint} 3y`;
    throw refusal(
      `the key ${fingerprint}${why}`,
      key[1] === 'e' ? `\`${extend}\`, or use another one.` : 'Use another one.',
    );
  }
  return { fingerprint, expires: key[6] === '' ? undefined : dayOf(Number(key[6])) };
}

function makeRepository({ packages, keys, url, out, validDays }) {
  const pool = join(out, POOL);
  const added = packages === undefined ? [] : addPackages(packages, pool);
  const kept = existsSync(pool) ? packagesIn(pool) : [];
  if (kept.length === 0)
    throw refusal(`no gw_*.deb in ${pool}`, '`npm run package` makes them; name their folder, --packages DIR.');

  const current = join(out, 'dists', SUITE);
  const next = join(out, 'dists', `.${SUITE}-next`);
  const previous = join(out, 'dists', `.${SUITE}-previous`);
  for (const left of [next, previous]) rmSync(left, { recursive: true, force: true });
  const before = existsSync(current) ? readFileSync(join(current, 'Release'), 'utf8') : '';
  for (const architecture of ARCHITECTURES) {
    const folder = join(next, 'main', `binary-${architecture}`);
    mkdirSync(folder, { recursive: true });
    keepByHash(join(current, 'main', `binary-${architecture}`), folder, before);
    const index = join(folder, 'Packages');
    writeFileSync(index, archive(['--arch', architecture, 'packages', POOL], {}, out));
    run('xz', ['--keep', '-6', index]);
  }
  const date = Math.max(...kept.map((name) => sourceTimeOf(join(pool, name))), dateOf(before));
  const fields = {
    Origin: 'gw',
    Label: 'gw',
    Suite: SUITE,
    Codename: SUITE,
    Architectures: ARCHITECTURES.join(' '),
    Components: 'main',
    Date: new Date(date).toUTCString().replace('GMT', 'UTC'),
    'Acquire-By-Hash': 'yes',
    ...(validDays && { ValidTime: validDays * 86_400 }),
  };
  writeFileSync(join(next, 'Release'), archive(['-o', 'APT::FTPArchive::DoByHash=true', 'release', '.'], fields, next));
  sign(next, keys);

  const keyring = join(out, 'gw.gpg');
  writeFileSync(keyring, exported(keys));
  run('gpgv', ['--quiet', '--keyring', keyring, join(next, 'InRelease')], { stdio: ['ignore', 'ignore', 'pipe'] });
  run('gpgv', ['--quiet', '--keyring', keyring, join(next, 'Release.gpg'), join(next, 'Release')], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const source = [`Types: deb`, `URIs: ${url}`, `Suites: ${SUITE}`, 'Components: main', `Signed-By: ${KEYRING}`];
  writeFileSync(join(out, 'gw.sources'), `${source.join('\n')}\n`);
  if (existsSync(current)) renameSync(current, previous);
  renameSync(next, current);
  rmSync(previous, { recursive: true, force: true });

  for (const name of kept) process.stdout.write(`${added.includes(name) ? 'added' : 'kept '}  ${name}\n`);
  for (const { fingerprint, expires } of keys) {
    process.stdout.write(
      `signed by ${fingerprint}, ${expires === undefined ? 'which never expires' : `until ${expires}`}\n`,
    );
  }
  process.stdout.write(`apt repository of ${kept.length} packages, dated ${fields.Date}, in ${out}\n`);
}

/** Copies the packages of this folder to the pool; gives their names. */
function addPackages(folder, pool) {
  const found = existsSync(folder) ? readdirSync(folder).filter((name) => /^gw_.*\.deb$/.test(name)) : [];
  if (found.length === 0) throw refusal(`no gw_*.deb in ${folder}`, '`npm run package` makes them, in packages/.');
  const isNew = (from, to) => {
    if (!existsSync(to)) return true;
    if (readFileSync(from).equals(readFileSync(to))) return false;
    // A gateway that has the other one would never get it.
    throw refusal(
      `${from} differs from the ${basename(to)} of the repository`,
      'Raise the version in package.json and make the package again: a published version keeps its bytes.',
    );
  };
  // All are looked at before one is copied.
  const added = found
    .map((file) => ({ from: join(folder, file), to: join(pool, nameOf(join(folder, file))) }))
    .filter(({ from, to }) => isNew(from, to));
  mkdirSync(pool, { recursive: true });
  for (const { from, to } of added) {
    copyFileSync(from, `${to}.part`);
    renameSync(`${to}.part`, to);
  }
  return added.map(({ to }) => basename(to));
}

/** `gw_0.2.0_amd64.deb`, by what the package says of itself. */
function nameOf(file) {
  const again = 'Copy it again from where `npm run package` made it, or make it again.';
  // To its end, since a copy may have been cut off.
  const read = spawnSync('dpkg-deb', ['--contents', file], { stdio: ['ignore', 'ignore', 'pipe'], encoding: 'utf8' });
  if (read.status !== 0) {
    throw refusal(`${file} is no whole Debian package: ${read.stderr.trim().split('\n').at(-1)}`, again);
  }
  const field = (name) => run('dpkg-deb', ['--field', file, name]).trim();
  const [name, version, architecture] = [field('Package'), field('Version'), field('Architecture')];
  if (name !== 'gw' || !ARCHITECTURES.includes(architecture)) {
    throw refusal(`${file} is ${name} for ${architecture}, not gw for ${ARCHITECTURES.join(' or ')}`, again);
  }
  return `${name}_${version}_${architecture}.deb`;
}

function packagesIn(pool) {
  return readdirSync(pool)
    .filter((name) => name.endsWith('.deb'))
    .sort();
}

/** In milliseconds: the time that `npm run package` gives every file of a package, which is that of its sources. */
function sourceTimeOf(file) {
  const control = execFileSync('dpkg-deb', ['--ctrl-tarfile', file]);
  const listed = run('tar', ['--list', '--verbose', '--utc', '--full-time', '--file=-'], {
    input: control,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [, day, time] = / (\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d) \.\/control$/m.exec(listed) ?? [];
  if (day === undefined) throw refusal(`${file} has no control file`, 'Remove it from the pool, and make it again.');
  return Date.parse(`${day}T${time}Z`);
}

/** A gateway that has just read the Release before still asks for the indexes that it names. */
function keepByHash(from, to, release) {
  const folder = 'by-hash/SHA256';
  if (!existsSync(join(from, folder))) return;
  mkdirSync(join(to, folder), { recursive: true });
  for (const hash of readdirSync(join(from, folder))) {
    if (release.includes(hash)) copyFileSync(join(from, folder, hash), join(to, folder, hash));
  }
}

/** Of the Release before: apt ignores one with an earlier date than it has read. */
function dateOf(release) {
  return Date.parse(/^Date: (.+)$/m.exec(release)?.[1] ?? '') || 0;
}

function archive(words, fields, cwd) {
  const settings = { MD5: 'false', SHA1: 'false', SHA512: 'false' };
  for (const [name, value] of Object.entries(fields)) settings[`Release::${name}`] = value;
  const options = Object.entries(settings).flatMap(([name, value]) => ['-o', `APT::FTPArchive::${name}=${value}`]);
  return run('apt-ftparchive', [...options, ...words], { cwd });
}

function sign(folder, keys) {
  const users = keys.flatMap(({ fingerprint }) => ['--local-user', fingerprint]);
  const release = join(folder, 'Release');
  for (const words of [
    ['--clear-sign', '--output', join(folder, 'InRelease')],
    ['--detach-sign', '--armor', '--output', join(folder, 'Release.gpg')],
  ]) {
    try {
      run('gpg', ['--batch', '--quiet', '--digest-algo', 'SHA512', ...users, ...words, release]);
    } catch (cause) {
      const tty = 'A passphrase is asked for on the terminal: `export GPG_TTY=$(tty)`.';
      throw refusal('gpg could not sign, see above', `Unlock the key, or plug in its token. ${tty}`, cause);
    }
  }
}

/** The public keys, as apt reads them: several while a key is replaced. */
function exported(keys) {
  return execFileSync('gpg', ['--batch', '--export', ...keys.map(({ fingerprint }) => fingerprint)]);
}

function dayOf(seconds) {
  return new Date(seconds * 1_000).toISOString().slice(0, 10);
}
