import { execFileSync } from 'node:child_process';
import { createHash, sign } from 'node:crypto';
import { mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { packTar, type TarEntry } from 'modern-tar';
import { describe, expect, test } from 'vitest';
import { readReleaseKeys } from '../../../src/lib/cloud/release/keys.ts';
import { pathProblem, readManifest } from '../../../src/lib/cloud/release/manifest.ts';
import { openPackage, verifyPackage } from '../../../src/lib/cloud/release/read-package.ts';
import { unpackPackage, verifyInstalled } from '../../../src/lib/cloud/release/unpack.ts';
import { writePackage } from '../../../src/lib/cloud/release/write-package.ts';
import { GwError } from '../../../src/lib/error/index.ts';
import { isFull, runs } from '../../properties.ts';
import { fresh } from '../fresh.ts';
import { longPath, makeKeys, makePackage, scratch, writeTree } from './packages.ts';

const keys = makeKeys();
const { publicKey, privateKey } = keys;
const sha256 = (content: string | Uint8Array) => createHash('sha256').update(content).digest('hex');
const fileRow = (path: string, content: string) => ({ path, bytes: content.length, sha256: sha256(content) });

/** Problems that the verification names; empty: it accepts the package. */
async function problemsOf(path: string, key = publicKey): Promise<readonly string[]> {
  try {
    await verifyPackage(path, { keys: [key] });
    return [];
  } catch (error) {
    if (!(error instanceof GwError) || error.code !== 'RELEASE_INVALID') throw error;
    return (error.details?.problems as readonly string[]) ?? [error.message];
  }
}

/** The manifest as it stands in a package. */
async function manifestText(path: string): Promise<string> {
  const bytes = await readFile(path);
  const size = Number.parseInt(bytes.subarray(124, 135).toString('ascii'), 8);
  return bytes.subarray(512, 512 + size).toString('utf8');
}

/** A tar with any manifest and entries, signed. */
async function craft(
  dir: string,
  manifest: unknown,
  entries: readonly TarEntry[],
  change: { order?: (entries: TarEntry[]) => TarEntry[]; text?: string } = {},
): Promise<string> {
  const text = change.text ?? JSON.stringify(manifest);
  const bytes = Buffer.from(text);
  const signature = sign(null, bytes, privateKey);
  const all: TarEntry[] = [
    { header: { name: 'manifest.json', size: bytes.length }, body: bytes },
    { header: { name: 'manifest.sig', size: signature.length }, body: signature },
    ...entries,
  ];
  const path = join(dir, `${crypto.randomUUID()}.tar`);
  await writeFile(path, await packTar(change.order?.(all) ?? all));
  return path;
}

const run = 'process.exit(0);\n';
const manifestOf = (files: readonly object[], more: object = {}) => ({
  schema: 'gw/release/1',
  version: '1.0.0',
  minimumVersion: '0.1.0',
  files: [fileRow('bin/run.js', run), ...files],
  ...more,
});
const entry = (name: string, body: string): TarEntry => ({ header: { name, size: body.length }, body });
const program = entry('bin/run.js', run);

const it = test.extend('folder', fresh(scratch));

describe('a release package', () => {
  it('is verified and unpacked with its contents and modes, and verified again where it is installed', async ({
    folder,
  }) => {
    const { dir } = folder;
    const big = Buffer.alloc(3 * 1024 * 1024 + 7, 'x');
    const made = await makePackage(dir, privateKey, { version: '1.2.3', files: { 'dist/big.bin': big } });
    const verified = await verifyPackage(made.path, { keys: [publicKey] });
    expect(verified).toMatchObject({ bytes: made.bytes, sha256: made.sha256, manifest: { version: '1.2.3' } });
    expect(sha256(await readFile(made.path))).toBe(made.sha256);
    const options = { keys: [publicKey] as const, dir, folder: '1.2.3', signal: new AbortController().signal };
    await unpackPackage(made.path, options);
    expect((await stat(join(dir, '1.2.3/bin/run.js'))).mode & 0o777).toBe(0o700);
    expect((await stat(join(dir, '1.2.3', longPath))).mode & 0o777).toBe(0o600);
    expect(await readFile(join(dir, '1.2.3/docs/Grüße.md'), 'utf8')).toBe('Grüße\n');
    expect(sha256(await readFile(join(dir, '1.2.3/dist/big.bin')))).toBe(sha256(big));
    expect(await verifyInstalled(dir, '1.2.3', { keys: [publicKey] })).toMatchObject({ version: '1.2.3' });

    await writeFile(join(dir, '1.2.3/dist/empty.js'), 'changed');
    await writeFile(join(dir, '1.2.3/dist/added.js'), '');
    await expect(verifyInstalled(dir, '1.2.3', { keys: [publicKey] })).rejects.toMatchObject({
      code: 'RELEASE_INVALID',
      details: { problems: ['"dist/empty.js" was changed', '"dist/added.js" is not in the manifest'] },
    });
  });

  it('is the same for the same files, and holds no links', async ({ folder }) => {
    const [one, two] = await Promise.all([1, 2].map(() => makePackage(folder.dir, privateKey, { version: '1.0.0' })));
    expect(one?.sha256).toBe(two?.sha256);
    const tree = join(folder.dir, 'tree');
    await writeTree(tree, { 'bin/run.js': '' });
    await symlink('bin/run.js', join(tree, 'link'));
    const options = { version: '1.0.0', minimumVersion: '1.0.0', privateKey, out: join(folder.dir, 'out.tar') };
    await expect(writePackage(tree, options)).rejects.toMatchObject({
      code: 'RELEASE_INVALID',
      message: expect.stringContaining('link is neither a file nor a folder'),
    });
    expect(await readdir(folder.dir)).not.toContain('out.tar');
  });

  it('with any byte changed is rejected, or has the same files', { tags: 'property' }, async ({ folder }) => {
    const { path } = await makePackage(folder.dir, privateKey, { version: '1.0.0', files: { 'a.txt': 'a' } });
    const good = await readFile(path);
    const { manifest } = await verifyPackage(path, { keys: [publicKey] });
    const damaged = join(folder.dir, 'damaged.tar');
    let accepted = 0;
    await fc.assert(
      fc.asyncProperty(fc.nat(good.length - 1), fc.integer({ min: 1, max: 255 }), async (at, mask) => {
        const bytes = Buffer.from(good);
        bytes[at] = (bytes[at] ?? 0) ^ mask;
        await writeFile(damaged, bytes);
        const contents = new Map<string, string>();
        try {
          const result = await openPackage(damaged, {
            keys: [publicKey],
            sink: {
              onManifest: () => {},
              openFile: async ({ path: name }) => {
                const parts: Uint8Array[] = [];
                return {
                  write: async (chunk) => void parts.push(Buffer.from(chunk)),
                  close: async () => void contents.set(name, sha256(Buffer.concat(parts))),
                };
              },
            },
          });
          // Only padding and fields of no meaning may differ.
          accepted += 1;
          expect(result.manifest).toEqual(manifest);
          expect(Object.fromEntries(contents)).toEqual(
            Object.fromEntries(manifest.files.map((file) => [file.path, file.sha256])),
          );
          expect(result.sha256).not.toBe(sha256(good));
        } catch (error) {
          expect(error).toMatchObject({ code: 'RELEASE_INVALID' });
        }
      }),
      { numRuns: runs(400) },
    );
    // Otherwise the package could be padding throughout.
    expect(accepted).toBeLessThan(runs(400));
  });

  it('with one bit changed is accepted only where tar reads nothing, and never when cut', { tags: 'property' }, async ({
    folder,
  }) => {
    const tree = join(folder.dir, 'tree');
    await writeTree(tree, { 'bin/run.js': run });
    const path = join(folder.dir, 'small.tar');
    await writePackage(tree, { version: '1.0.0', minimumVersion: '1.0.0', privateKey, out: path });
    const good = await readFile(path);
    const { manifest } = await verifyPackage(path, { keys: [publicKey] });
    const damaged = join(folder.dir, 'damaged.tar');
    const judge = async (bytes: Uint8Array) => {
      await writeFile(damaged, bytes);
      return await verifyPackage(damaged, { keys: [publicKey] }).then(
        (result) => result.manifest,
        (error: GwError) => error.code,
      );
    };
    const accepted: number[] = [];
    // Every eleventh byte, since all of them take ten seconds.
    for (let at = 0; at < good.length; at += isFull ? 11 : 121) {
      const bytes = Buffer.from(good);
      bytes[at] = (bytes[at] ?? 0) ^ (1 << (at % 8));
      const found = await judge(bytes);
      if (found !== 'RELEASE_INVALID') {
        expect(found, String(at)).toEqual(manifest);
        accepted.push(at);
      }
      if (at % 4 === 0) expect(await judge(good.subarray(0, at)), `cut at ${at}`).toBe('RELEASE_INVALID');
    }
    // The padding after the three files, and the leading zero and the last byte of each checksum field.
    const sizes = [Buffer.byteLength(await manifestText(path)), 64, run.length];
    let start = 0;
    const unread = new Set<number>();
    for (const size of sizes) {
      unread.add(start + 148).add(start + 155);
      const end = start + 512 + size;
      start += 512 + Math.ceil(size / 512) * 512;
      for (let at = end; at < start; at += 1) unread.add(at);
    }
    expect(accepted.filter((at) => !unread.has(at))).toEqual([]);
  });

  it('is rejected for the key of another, before anything of it is parsed', async ({ folder }) => {
    const path = await craft(folder.dir, null, [program], { text: 'not json' });
    expect(await problemsOf(path, makeKeys().publicKey)).toEqual([
      'the signature of manifest.json does not match the release key',
    ]);
    expect(await problemsOf(path)).toEqual([expect.stringContaining('not JSON')]);
  });

  const a = fileRow('a', 'a');
  const link = { header: { name: 'a', size: 0, type: 'symlink', linkname: '/etc/passwd' } } as const;
  const device = { header: { name: 'a', size: 0, type: 'character-device' } } as const;
  const bin = { header: { name: 'bin/', size: 0, type: 'directory' } } as const;
  const swapped = ([m, s, ...rest]: TarEntry[]) => [s, m, ...rest] as TarEntry[];
  const short = ([m, _, p]: TarEntry[]) => [m, entry('manifest.sig', 'x'), p] as TarEntry[];
  const twice = { text: '{"version":"1.0.0","version":"2.0.0"}' };
  it.each<[string, RegExp, unknown, readonly TarEntry[], Parameters<typeof craft>[3]?]>([
    ['nothing', /first entry is missing/, null, [], { order: () => [] }],
    ['the signature first', /first entry is the file "manifest.sig"/, manifestOf([]), [program], { order: swapped }],
    ['a short signature', /has 1 bytes, expected 64/, manifestOf([]), [program], { order: short }],
    ['a missing file', /"a" is missing/, manifestOf([a]), [program]],
    ['a file twice', /"bin\/run.js", which is there twice/, manifestOf([]), [program, program]],
    ['an unlisted file', /"b", which is not in the/, manifestOf([]), [program, entry('b', 'b')]],
    ['a second manifest', /"manifest.json", which is not in/, manifestOf([]), [program, entry('manifest.json', '{}')]],
    ['another size', /"a" has 2 bytes, expected 1/, manifestOf([a]), [program, entry('a', 'ab')]],
    ['another content', /"a": SHA-256 differs/, manifestOf([a]), [program, entry('a', 'b')]],
    ['a link in place of a file', /symlink "a" to "\/etc\/passwd"/, manifestOf([fileRow('a', '')]), [program, link]],
    ['a device in place of a file', /the character-device "a"/, manifestOf([fileRow('a', '')]), [program, device]],
    ['a folder', /the directory "bin\/", which is not in the manifest/, manifestOf([]), [bin, program]],
    ['no program', /bin\/run.js is missing; the launcher/, { ...manifestOf([]), files: [] }, []],
    ['an unknown field', /unknown field "extra"/, manifestOf([], { extra: 1 }), [program]],
    ['an unknown field of a file', /"files.1.mode"/, manifestOf([{ ...a, mode: 7 }]), [program, entry('a', 'a')]],
    ['no semantic version', /"version": expected a/, manifestOf([], { version: '1.0' }), [program]],
    ['another schema', /"schema"/, manifestOf([], { schema: 'gw/release/2' }), [program]],
    ['a key twice', /names the key "version" twice/, null, [program], twice],
  ])('with %s is rejected', async (_name, expected, manifest, entries, change) => {
    await using folder = scratch();
    expect((await problemsOf(await craft(folder.dir, manifest, entries, change))).join('\n')).toMatch(expected);
  });

  it.each([
    ['', 'empty'],
    ['/etc/passwd', 'absolute'],
    ['../x', '".."'],
    ['a/./b', '"."'],
    ['a//b', 'empty element'],
    ['a/', 'empty element'],
    ['a\\b', 'backslash'],
    ['a\nb', 'control'],
    ['e\u0301', 'NFC'],
    ['manifest.sig', 'reserved'],
    ['x'.repeat(256), 'longer'],
    [`${'x/'.repeat(600)}x`, 'longer'],
  ])('with the path %j is rejected', (path, problem) => {
    expect(pathProblem(path)).toContain(problem);
    const bytes = Buffer.from(JSON.stringify(manifestOf([fileRow(path, 'a')])));
    expect(readManifest(bytes).ok).toBe(false);
  });

  it.each([
    [['A', 'a'], 'differ in case only'],
    [['a', 'a'], 'listed twice'],
    [['lib/x', 'Lib/y'], 'folders "lib" and "Lib" differ in case only'],
    [['lib', 'lib/x'], 'is a file and a folder'],
    [['MANIFEST.JSON'], 'differ in case only'],
  ])('with the paths %j is rejected', (paths, problem) => {
    const reading = readManifest(Buffer.from(JSON.stringify(manifestOf(paths.map((path) => fileRow(path, 'a'))))));
    expect(reading.ok ? [] : reading.problems.join()).toContain(problem);
  });

  it('accepts no path that leaves its folder', { tags: 'property' }, () => {
    const part = fc.constantFrom('a', '..', '.', '', 'b.js', '\\', '\0', '~', 'C:', ' ');
    fc.assert(
      fc.property(
        fc.array(part, { maxLength: 6 }).map((parts) => parts.join('/')),
        (path) => {
          if (pathProblem(path) !== null) return;
          expect(join('/srv/folder', path).startsWith('/srv/folder/')).toBe(true);
          expect(join('/srv/folder', path)).toBe(`/srv/folder/${path}`);
        },
      ),
    );
  });
});

describe('tar and openssl agree', () => {
  const shell = (dir: string, script: string) =>
    execFileSync('sh', ['-ec', script], { cwd: dir, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });

  it.each(['gnu', 'pax', 'ustar'])('with verifyPackage on a package that they made (%s)', async (format) => {
    await using folder = scratch();
    const { dir } = folder;
    // 120 characters below a folder: what the older formats store in two fields.
    const files = { 'bin/run.js': run, 'docs/a b.md': 'ä', [`lib/${'x'.repeat(90)}/module.js`]: 'export {};\n' };
    await writeTree(join(dir, 'tree'), files);
    const rows = Object.entries(files).map(([path, content]) => ({
      path,
      bytes: Buffer.byteLength(content),
      sha256: sha256(content),
    }));
    await writeFile(
      join(dir, 'tree/manifest.json'),
      JSON.stringify({ schema: 'gw/release/1', version: '2.0.0-rc.1', minimumVersion: '1.0.0', files: rows }),
    );
    await writeFile(join(dir, 'list'), ['manifest.json', 'manifest.sig', ...Object.keys(files)].join('\n'));
    shell(
      dir,
      `openssl genpkey -algorithm ed25519 -out key.pem
       openssl pkey -in key.pem -pubout -out public.pem
       openssl pkeyutl -sign -rawin -inkey key.pem -in tree/manifest.json -out tree/manifest.sig
       tar --format=${format} --no-recursion -C tree -cf package.tar -T list`,
    );
    const key = await readReleaseKeys(join(dir, 'public.pem'));
    const { manifest, sha256: whole } = await verifyPackage(join(dir, 'package.tar'), { keys: key });
    expect(manifest.version).toBe('2.0.0-rc.1');
    expect(shell(dir, 'sha256sum package.tar').split(' ')[0]).toBe(whole);
    expect(await problemsOf(join(dir, 'package.tar'))).toEqual([expect.stringContaining('does not match')]);
  });

  it('with writePackage on its package', async ({ folder }) => {
    const { dir } = folder;
    const { path } = await makePackage(dir, privateKey, { version: '1.2.3' });
    await writeFile(join(dir, 'public.pem'), keys.publicPem);
    await mkdir(join(dir, 'out'));
    shell(dir, `tar -C out -xf ${path}`);
    const verified = shell(
      dir,
      'openssl pkeyutl -verify -rawin -pubin -inkey public.pem -in out/manifest.json -sigfile out/manifest.sig',
    );
    expect(verified).toContain('Signature Verified Successfully');
    const { files } = JSON.parse(await readFile(join(dir, 'out/manifest.json'), 'utf8'));
    await writeFile(
      join(dir, 'sums'),
      files.map((file: { path: string; sha256: string }) => `${file.sha256}  ${file.path}\n`).join(''),
    );
    expect(shell(join(dir, 'out'), 'sha256sum --check --quiet ../sums')).toBe('');
    expect(Number(shell(dir, 'find out -type f | wc -l'))).toBe(files.length + 2);
  });
});
