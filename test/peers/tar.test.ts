import { execFileSync } from 'node:child_process';
import { linkSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { packArchive, parseArchive, readArchive, writeArchive } from '../../src/lib/maps/index.ts';
import { archivedMap, entriesOf, errorOf, sampleArchive } from '../maps/samples.ts';
import { hasProgram } from './peer.ts';

const root = mkdtempSync(join(tmpdir(), 'gw-tar-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

function tar(cwd: string, ...args: string[]): string {
  return execFileSync('tar', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

/** A folder with the files of a valid backup, as after unpacking it. */
function unpacked(name: string): string {
  const folder = join(root, name);
  mkdirSync(folder);
  for (const { name: file, body } of entriesOf(sampleArchive())) {
    mkdirSync(join(folder, file, '..'), { recursive: true });
    writeFileSync(join(folder, file), body as Uint8Array);
  }
  return folder;
}

const contents = (archive: Awaited<ReturnType<typeof parseArchive>>) =>
  archive.maps.map(({ id, data, overlays, image, localisation }) => [
    id,
    Buffer.from(data).toString('base64'),
    overlays,
    image && Buffer.from(image).toString('base64'),
    localisation && Buffer.from(localisation).toString('base64'),
  ]);

async function problems(path: string): Promise<readonly string[]> {
  const error = await errorOf(readArchive(path));
  expect(error.code).toBe('ARCHIVE_INVALID');
  return error.details?.problems as string[];
}

describe.skipIf(!hasProgram('tar'))('GNU tar', () => {
  it('lists and unpacks a backup of gw, without a warning, to the same bytes', async () => {
    const path = join(root, 'own.tar.gz');
    const long = 2 ** 53 - 1;
    const archive = sampleArchive({ maps: [archivedMap(1), archivedMap(long)] });
    await writeArchive(path, archive, { force: false });
    const listed = tar(root, '--list', '--gzip', '--verbose', '--utc', '--file', path);
    expect(listed.split('\n')[0]).toMatch(/^-rw-r--r-- 0\/0 +\d+ 2026-01-31 12:00 manifest\.json$/);
    expect(listed.match(/^-/gm)).toHaveLength(9);
    const folder = join(root, 'own');
    mkdirSync(folder);
    tar(folder, '--extract', '--gzip', '--file', path);
    const map = join(folder, 'maps', String(long));
    expect(readFileSync(join(map, 'map.json')).equals(Buffer.from(archive.maps[1]?.data ?? []))).toBe(true);
    expect(readFileSync(join(map, 'overlays.json'), 'utf8')).toBe(archive.maps[1]?.overlays);
    expect(execFileSync('gzip', ['--test', '--verbose', path], { encoding: 'utf8', stdio: 'pipe' })).toBe('');
  });

  it.each(['gnu', 'oldgnu', 'pax', 'ustar', 'v7'])(
    'packs one in its format %s, which is parsed like one of gw',
    async (form) => {
      const folder = unpacked(form);
      const path = join(root, `${form}.tar.gz`);
      tar(folder, '--create', '--gzip', `--format=${form}`, '--file', path, 'manifest.json', 'maps');
      expect(contents((await readArchive(path)).archive)).toEqual(contents(sampleArchive()));
      const dotted = join(root, `${form}-dotted.tar.gz`);
      tar(folder, '--create', '--gzip', `--format=${form}`, '--file', dotted, './manifest.json', './maps');
      expect(contents((await readArchive(dotted)).archive)).toEqual(contents(sampleArchive()));
    },
  );

  it('packs with other blocks, attributes and owners, with the same result', async () => {
    const folder = unpacked('owners');
    const path = join(root, 'owners.tar.gz');
    const options = [
      '--owner=technician:4294967294',
      '--group=Ünicode:2097152',
      '--mtime=2199-12-31',
      '--blocking-factor=200',
    ];
    tar(folder, '--create', '--gzip', '--file', path, ...options, 'manifest.json', 'maps');
    expect(contents((await readArchive(path)).archive)).toEqual(contents(sampleArchive()));
  });

  it('packs entries that are not allowed, and each is rejected with its name', async () => {
    const folder = unpacked('hostile');
    const add = (name: string, ...args: string[]) => {
      const path = join(root, `${name}.tar`);
      tar(folder, '--create', '--file', path, 'manifest.json', 'maps');
      tar(folder, '--append', '--absolute-names', '--file', path, ...args);
      execFileSync('gzip', ['--force', path]);
      return problems(`${path}.gz`);
    };
    writeFileSync(join(root, 'outside'), 'x');
    expect(await add('dotdot', '../outside')).toEqual([
      'it contains the file "../outside", which is not in the manifest',
    ]);
    const absolute = join(root, 'outside');
    expect(await add('absolute', absolute)).toEqual([expect.stringContaining('which is not in the manifest')]);
    symlinkSync('/etc/passwd', join(folder, 'link'));
    expect(await add('symlink', 'link')).toEqual(['it contains the symbolic link "link" to "/etc/passwd"']);
    expect(await add('twice', 'maps/1/map.json')).toEqual(['it contains maps/1/map.json twice']);
    linkSync(join(folder, 'maps/1/map.json'), join(folder, 'maps/1/again.json'));
    expect(await add('hardlink', 'maps/1/again.json', 'maps/1/map.json')).toEqual(
      expect.arrayContaining([
        'it contains the file "maps/1/again.json", which is not in the manifest',
        'it contains the hard link "maps/1/map.json" to "maps/1/again.json"',
        'maps/1/map.json is missing',
      ]),
    );
    rmSync(join(folder, 'maps/1/again.json'));
    expect(await add('device', '/dev/null')).toEqual(['it contains the device "/dev/null"']);
    execFileSync('mkfifo', [join(folder, 'pipe')]);
    expect(await add('pipe', 'pipe')).toEqual(['it contains the pipe "pipe"']);
    mkdirSync(join(folder, 'other'));
    expect(await add('folder', 'other')).toEqual(['it contains the folder "other/", which belongs to no map']);
    const long = `${'n'.repeat(150)}`;
    writeFileSync(join(folder, long), 'x');
    expect(await add('long', long)).toEqual([expect.stringMatching(/^it contains the file "n{59}…", which/)]);
  });

  it('packs with another first entry, a label, or sparse files: rejected', async () => {
    const folder = unpacked('odd');
    const pack = (name: string, ...args: string[]) => {
      const path = join(root, `${name}.tar.gz`);
      tar(folder, '--create', '--gzip', '--file', path, ...args);
      return problems(path);
    };
    expect((await pack('order', 'maps', 'manifest.json'))[0]).toMatch(
      /^the first entry is the file ".*", expected manifest\.json/,
    );
    expect((await pack('label', '--label=my backup', 'manifest.json', 'maps'))[0]).toContain('my backup');
    execFileSync('truncate', ['--size=1M', join(folder, 'maps/1/localisation.pbstream')]);
    expect((await pack('sparse', '--sparse', 'manifest.json', 'maps')).join()).toContain('localisation.pbstream');
    expect(await pack('plain-file', 'maps/1/map.json')).toEqual([expect.stringContaining('not a backup of gw')]);
  });

  it('and gzip pack in other forms: concatenated members are read, a bare tar is rejected', async () => {
    const whole = Buffer.from(await packArchive(sampleArchive()));
    const folder = unpacked('ways');
    writeFileSync(join(folder, 'a.tar'), execFileSync('gzip', ['--decompress', '--stdout'], { input: whole }));
    const bytes = readFileSync(join(folder, 'a.tar'));
    const gzip = (input: Buffer) => execFileSync('gzip', ['--best', '--stdout'], { input });
    const members = Buffer.concat([gzip(bytes.subarray(0, 700)), gzip(bytes.subarray(700))]);
    expect(contents(await parseArchive(members, 'x'))).toEqual(contents(sampleArchive()));
    writeFileSync(join(folder, 'b.tar'), bytes);
    expect(await problems(join(folder, 'b.tar'))).toEqual(['not a gzip file']);
  });
});
