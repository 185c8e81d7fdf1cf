import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Ended, runProcess } from '../process.ts';
import { hasProgram } from './peer.ts';

const script = fileURLToPath(new URL('../../scripts/package/apt-repository.js', import.meta.url));
const hasPeers = ['apt-ftparchive', 'apt-get', 'gpg', 'gpg-agent', 'dpkg-deb', 'xz'].every(hasProgram);
const DAY_S = 86_400;

let dir: string;
let environment: NodeJS.ProcessEnv;

const run = (program: string, words: readonly string[], env: NodeJS.ProcessEnv = environment) =>
  runProcess(program, words, { env });
async function done(program: string, words: readonly string[]): Promise<Ended> {
  const ended = await run(program, words);
  if (ended.code !== 0) throw new Error(`${program} ${words.join(' ')}: ${ended.stdout}${ended.stderr}`);
  return ended;
}

const newKey = (name: string, validity: string, ...options: string[]) =>
  done('gpg', ['--batch', '--passphrase', '', ...options, '--quick-generate-key', name, 'ed25519', 'sign', validity]);

/** A folder with a package of gw without files, for each processor. */
async function packagesOf(version: string, { sourceTime = 1_800_000_000, name = 'gw', content = 'gw' } = {}) {
  const folder = join(dir, `packages-${version}-${name}-${content}`);
  for (const architecture of ['amd64', 'arm64']) {
    const tree = join(folder, architecture);
    mkdirSync(join(tree, 'DEBIAN'), { recursive: true });
    const fields = { Package: name, Version: version, Architecture: architecture, Maintainer: 'gw <gw@localhost>' };
    const lines = Object.entries({ ...fields, Description: content }).map(([field, value]) => `${field}: ${value}\n`);
    writeFileSync(join(tree, 'DEBIAN/control'), lines.join(''));
    const made = join(folder, `gw_${version}_${architecture}.deb`);
    const env = { ...environment, SOURCE_DATE_EPOCH: String(sourceTime) };
    await done('touch', ['--date', `@${sourceTime}`, join(tree, 'DEBIAN/control'), join(tree, 'DEBIAN'), tree]);
    const ended = await run('dpkg-deb', ['--root-owner-group', '--build', tree, made], env);
    if (ended.code !== 0) throw new Error(ended.stderr);
  }
  return folder;
}

const keyOfRobots = 'gw packages';
function publish(repository: string, words: readonly string[], { keys = [keyOfRobots], env = environment } = {}) {
  const signed = keys.flatMap((key) => ['--key', key]);
  const place = ['--url', `file://${repository}/`, '--out', repository];
  return run(process.execPath, [script, ...signed, ...place, ...words], env);
}
async function published(repository: string, words: readonly string[], options = {}): Promise<string> {
  const ended = await publish(repository, words, options);
  if (ended.code !== 0) throw new Error(ended.stderr);
  return ended.stdout;
}
const releaseOf = (repository: string) => readFileSync(join(repository, 'dists/stable/Release'), 'utf8');

/** A gateway, as far as apt-get is concerned: folders of its own, with the source and the key of this repository. */
function gatewayOf(repository: string, { architecture = 'amd64', installed = '' } = {}) {
  const root = join(dir, `gateway-${Math.random()}`);
  for (const path of ['etc/sources.list.d', 'state/lists/partial', 'cache/archives/partial']) {
    mkdirSync(join(root, path), { recursive: true });
  }
  const keyring = join(root, 'gw.gpg');
  copyFileSync(join(repository, 'gw.gpg'), keyring);
  const source = readFileSync(join(repository, 'gw.sources'), 'utf8');
  writeFileSync(join(root, 'etc/sources.list.d/gw.sources'), source.replace('/etc/apt/keyrings/gw.gpg', keyring));
  const status = `Package: gw\nStatus: install ok installed\nVersion: ${installed}\nArchitecture: ${architecture}\n`;
  const rest = 'Maintainer: gw <gw@localhost>\nDescription: gw\n';
  writeFileSync(join(root, 'state/status'), installed === '' ? '' : `${status}${rest}`);
  const folders = {
    'Dir::Etc': 'etc',
    'Dir::State': 'state',
    'Dir::State::status': 'state/status',
    'Dir::Cache': 'cache',
  };
  const options = Object.entries(folders).map(([name, path]) => `${name}=${join(root, path)}`);
  options.push('APT::Sandbox::User=root', `APT::Architecture=${architecture}`, `APT::Architectures=${architecture}`);
  return {
    keyring,
    apt: (...words: string[]) =>
      // Without it a refused index is a warning, and the one from before is used.
      run('apt-get', [...options, 'APT::Update::Error-Mode=any'].flatMap((one) => ['-o', one]).concat(words)),
  };
}

describe.skipIf(!hasPeers)('the apt repository of gw', () => {
  let first: string;
  let second: string;
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'gw-apt-'));
    environment = {
      PATH: `${process.env.PATH}:/usr/sbin:/sbin`,
      GNUPGHOME: join(dir, 'gnupg'),
      LC_ALL: 'C',
      HOME: dir,
    };
    mkdirSync(join(dir, 'gnupg'), { mode: 0o700 });
    await newKey(keyOfRobots, 'never');
    await newKey('next key', '1y');
    [first, second] = [await packagesOf('0.2.0'), await packagesOf('0.10.0', { sourceTime: 1_800_000_000 + DAY_S })];
  });
  afterAll(async () => {
    await run('gpgconf', ['--kill', 'all']);
    await rm(dir, { recursive: true, force: true });
  });

  it('gives apt-get the newest version, and an older one where it is named', async () => {
    const repository = join(dir, 'two');
    await published(repository, ['--packages', first]);
    const report = await published(repository, ['--packages', second]);
    expect(report).toMatch(/^kept +gw_0\.2\.0_amd64\.deb$/m);
    expect(report).toMatch(/^added +gw_0\.10\.0_arm64\.deb$/m);
    expect(report).toMatch(/^signed by [0-9A-F]{40}, which never expires$/m);
    for (const architecture of ['amd64', 'arm64']) {
      const { apt } = gatewayOf(repository, { architecture, installed: '0.2.0' });
      expect(await apt('update')).toMatchObject({ code: 0, stderr: '' });
      expect((await apt('--simulate', 'upgrade')).stdout).toContain(
        `Inst gw [0.2.0] (0.10.0 gw:stable [${architecture}])`,
      );
      expect(await apt('--yes', '--download-only', 'install', 'gw=0.10.0')).toMatchObject({ code: 0 });
    }
    const { apt } = gatewayOf(repository, { installed: '0.10.0' });
    await apt('update');
    const back = await apt('--simulate', '--allow-downgrades', 'install', 'gw=0.2.0');
    expect(back.stdout).toContain('Inst gw [0.10.0] (0.2.0 gw:stable [amd64])');
  });

  it('is refused by apt-get where one byte of an index differs', async () => {
    const repository = join(dir, 'index');
    await published(repository, ['--packages', first]);
    const index = join(repository, 'dists/stable/main/binary-amd64');
    const paths = readdirSync(index, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    expect(paths).toHaveLength(4);
    for (const { parentPath, name } of paths) flipByte(join(parentPath, name));
    const refused = await gatewayOf(repository).apt('update');
    expect(refused.code).not.toBe(0);
    expect(refused.stderr).toContain('Hash Sum mismatch');
  });

  it('is refused by apt-get where one byte of a package differs', async () => {
    const repository = join(dir, 'package');
    await published(repository, ['--packages', first]);
    const { apt } = gatewayOf(repository);
    expect(await apt('update')).toMatchObject({ code: 0 });
    flipByte(join(repository, 'pool/main/g/gw/gw_0.2.0_amd64.deb'));
    const refused = await apt('--yes', '--download-only', 'install', 'gw');
    expect(refused.code).not.toBe(0);
    expect(refused.stderr).toContain('Hash Sum mismatch');
  });

  it('is refused by apt-get where its Release differs, has no signature, or one by another key', async () => {
    const repository = join(dir, 'signature');
    await published(repository, ['--packages', first]);
    const { apt } = gatewayOf(repository);
    const dists = join(repository, 'dists/stable');
    const signed = readFileSync(join(dists, 'InRelease'), 'utf8');
    writeFileSync(join(dists, 'InRelease'), signed.replace('Label: gw', 'Label: gx'));
    expect((await apt('update')).stderr).toMatch(/BADSIG|invalid/);
    await published(repository, ['--packages', first], { keys: ['next key'] });
    expect((await apt('update')).stderr).toContain('NO_PUBKEY');
    for (const name of ['InRelease', 'Release.gpg']) rmSync(join(dists, name));
    expect((await apt('update')).stderr).toContain('is not signed');
    // The same gateway takes it from its own key.
    await published(repository, ['--packages', first]);
    expect(await apt('update')).toMatchObject({ code: 0 });
  });

  it('is accepted with the key before and with the next one while both sign', async () => {
    const repository = join(dir, 'keys');
    await published(repository, ['--packages', first]);
    const [before] = [gatewayOf(repository)];
    await published(repository, ['--packages', first], { keys: ['next key'] });
    const after = gatewayOf(repository);
    const report = await published(repository, [], { keys: [keyOfRobots, 'next key'] });
    expect(report).toMatch(/^signed by [0-9A-F]{40}, until \d{4}-\d\d-\d\d$/m);
    for (const { apt } of [before, after, gatewayOf(repository)])
      expect(await apt('update')).toMatchObject({ code: 0 });
  });

  it('has the indexes of the Release before, for a gateway that is just reading it', async () => {
    const repository = join(dir, 'by-hash');
    await published(repository, ['--packages', first]);
    const { apt } = gatewayOf(repository);
    const release = ['InRelease', 'Release', 'Release.gpg'].map((name) => join(repository, 'dists/stable', name));
    const before = release.map((path) => readFileSync(path));
    await published(repository, ['--packages', second]);
    for (const [index, path] of release.entries()) writeFileSync(path, before[index] ?? '');
    expect(await apt('update')).toMatchObject({ code: 0 });
    expect((await apt('--simulate', 'install', 'gw')).stdout).toContain('Inst gw (0.2.0 ');
  });

  it('has the same indexes for the same packages, dated as their newest source', async () => {
    const [one, two] = [join(dir, 'one'), join(dir, 'other')];
    await published(one, ['--packages', first]);
    await published(one, ['--packages', second]);
    await published(two, ['--packages', second]);
    await published(two, ['--packages', first]);
    expect(releaseOf(one)).toBe(releaseOf(two));
    expect(releaseOf(one)).toContain(
      `Date: ${new Date((1_800_000_000 + DAY_S) * 1_000).toUTCString().replace('GMT', 'UTC')}`,
    );
    expect(releaseOf(one)).not.toContain('Valid-Until');
    await published(one, ['--valid-days', '14']);
    const until = Date.parse(/^Valid-Until: (.+)$/m.exec(releaseOf(one))?.[1] ?? '');
    expect(Math.abs(until - Date.now() - 14 * DAY_S * 1_000)).toBeLessThan(60_000);
  });

  it('withdraws a version that was removed from its pool, also where apt-get has read it', async () => {
    const repository = join(dir, 'withdrawn');
    await published(repository, ['--packages', first]);
    await published(repository, ['--packages', second]);
    const { apt } = gatewayOf(repository);
    await apt('update');
    expect((await apt('--simulate', 'install', 'gw')).stdout).toContain('Inst gw (0.10.0 ');
    const date = /^Date: .*$/m.exec(releaseOf(repository))?.[0] ?? 'none';
    for (const architecture of ['amd64', 'arm64'])
      rmSync(join(repository, `pool/main/g/gw/gw_0.10.0_${architecture}.deb`));
    await published(repository, []);
    expect(releaseOf(repository)).toContain(date);
    // apt compares times of files by seconds.
    await done('touch', ['--date', '+1 minute', join(repository, 'dists/stable/InRelease')]);
    await apt('update');
    expect((await apt('--simulate', 'install', 'gw')).stdout).toContain('Inst gw (0.2.0 ');
  });

  it('would be ignored with an earlier date', async () => {
    const repository = join(dir, 'earlier');
    await published(repository, ['--packages', second]);
    const { apt } = gatewayOf(repository);
    await apt('update');
    rmSync(join(repository, 'dists'), { recursive: true });
    rmSync(join(repository, 'pool'), { recursive: true });
    await published(repository, ['--packages', first]);
    await done('touch', ['--date', '+1 minute', join(repository, 'dists/stable/InRelease')]);
    await apt('update');
    expect((await apt('--simulate', 'install', 'gw')).stdout).toContain('Inst gw (0.10.0 ');
  });

  it('is not made where something is missing or wrong, and says what to do', async () => {
    const repository = join(dir, 'refused');
    await published(repository, ['--packages', first]);
    const before = releaseOf(repository);
    const cut = join(dir, 'cut');
    mkdirSync(cut);
    const whole = readFileSync(join(second, 'gw_0.10.0_amd64.deb'));
    writeFileSync(join(cut, 'gw_0.10.0_amd64.deb'), whole.subarray(0, whole.length - 100));
    await newKey('old key', '1d', '--faked-system-time', '20200101T000000!');
    const programs = join(dir, 'programs');
    mkdirSync(programs);
    for (const name of ['apt-ftparchive', 'gpgv', 'dpkg-deb', 'xz'])
      symlinkSync(`/usr/bin/${name}`, join(programs, name));
    const add = ['--packages', second];
    const noGpg = { env: { ...environment, PATH: `${programs}:${dirname(process.execPath)}` } };
    const cases: readonly (readonly [Ended, RegExp, RegExp])[] = [
      [await publish(repository, ['--packages', dir]), /no gw_\*\.deb in/, /npm run package/],
      [await publish(join(dir, 'empty'), []), /no gw_\*\.deb in .*pool/, /--packages DIR/],
      [await publish(repository, ['--packages', cut]), /no whole Debian package/, /Copy it again/],
      [await publish(repository, ['--packages', await packagesOf('1', { name: 'adb' })]), /is adb for amd64/, /again/],
      [
        await publish(repository, ['--packages', await packagesOf('0.2.0', { content: 'x' })]),
        /differs/,
        /Raise the version/,
      ],
      [await publish(repository, add, { keys: ['nobody'] }), /no secret key nobody/, /--quick-generate-key/],
      [await publish(repository, add, { keys: ['key'] }), /more than one key/, /whole fingerprint/],
      [await publish(repository, add, { keys: ['old key'] }), /has expired/, /--quick-set-expire [0-9A-F]{40} /],
      [await publish(repository, add, { keys: [] }), /no key/, /--key FINGERPRINT/],
      [await publish(repository, add, noGpg), /gpg is missing/, /apt-get install gnupg/],
      [await publish(repository, [...add, '--url', 'packages.example.com']), /no address/, /--url https:/],
      [await publish(repository, [...add, '--valid-days', '0']), /no number of days/, /1 to 9999/],
    ];
    for (const [{ code, stderr }, message, remedy] of cases) {
      expect(code).toBe(1);
      expect(stderr).toMatch(message);
      expect(stderr.split('\n')[1]).toMatch(remedy);
      expect(stderr.split('\n')[1]).toMatch(/^ {2}do next {2}/);
    }
    expect(releaseOf(repository)).toBe(before);
  });
});

function flipByte(path: string): void {
  const bytes = readFileSync(path);
  const at = Math.floor(bytes.length / 2);
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  writeFileSync(path, bytes);
}
