import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { unpackTar } from 'modern-tar';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sha256 } from '../../../src/lib/lifecycle/index.ts';
import { thisMachine } from '../../../src/lib/toolkit/doctor/doctor.ts';
import type { BundleManifest } from '../../../src/lib/toolkit/support/bundle.result.ts';
import {
  bundleOf,
  collectBundle,
  refuseExisting,
  resultOf,
  writeBundle,
} from '../../../src/lib/toolkit/support/bundle.ts';
import { freePort } from '../../free-port.ts';
import { sharedFolder } from '../kit.ts';

const SECRET = 'planted-Secret-0815';
const dir = sharedFolder();
let site: string;
let server: Server;
let answer = 'garbage';
const signal = new AbortController().signal;
const context = { signal, onProgress: () => {} };
const host = () => ({
  ...thisMachine({
    version: '1.2.3',
    folder: dir,
    node: { version: '24.0.0', path: '/n' },
    home: dir,
    path: '/bin',
    signal,
  }),
  sockets: async () => [],
  run: () => Promise.reject(new Error(`failed with ${SECRET}`)),
});

beforeAll(async () => {
  site = join(dir, 'site.yaml');
  const port = await freePort();
  const files = 'operator: { port: PORT, passwordFile: password }\nfleet: { keyFile: key }\n';
  writeFileSync(
    site,
    `# ${SECRET}\nname: ${SECRET}\nchassis: { host: 127.0.0.1, port: 1, serial: S1, secretFile: secret }\n${files.replace('PORT', String(port))}`,
  );
  for (const name of ['password', 'secret', 'key']) writeFileSync(join(dir, name), `${SECRET}\n`, { mode: 0o600 });
  server = createServer((_request, response) => response.end(answer));
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
});
let bundle: Awaited<ReturnType<typeof collectBundle>>;
beforeAll(async () => {
  bundle = await collectBundle(site, host(), context);
});
afterAll(() => {
  server.close();
});

async function contentsOf(bytes: Uint8Array) {
  const entries = await unpackTar(gunzipSync(bytes));
  return new Map(entries.map(({ header, data }) => [header.name, Buffer.from(data ?? []).toString()]));
}

describe('the support bundle', () => {
  it('holds no planted secret, with the sum of each file and every missing source', async () => {
    for (const text of ['garbage', JSON.stringify({ error: { code: 'X', message: SECRET } }), 'x'.repeat(5_000_000)]) {
      answer = text;
      const { bytes, contents } = await collectBundle(site, host(), context);
      const files = await contentsOf(bytes);
      expect([...files.values()].join('\n')).not.toContain(SECRET);
      expect([...files.values()].join('\n')).not.toContain(Buffer.from(SECRET).toString('base64').slice(0, -2));
      const manifest = JSON.parse(files.get('manifest.json') ?? '') as BundleManifest;
      for (const file of manifest.files) expect(file.sha256).toBe(sha256(Buffer.from(files.get(file.name) ?? '')));
      expect([...files.keys()].slice(1)).toEqual(manifest.files.map(({ name }) => name));
      expect(manifest.missing).toEqual(contents.missing);
      expect(contents.missing.map(({ name }) => name)).toEqual(expect.arrayContaining(['health.json', 'log.json']));
      expect(contents.files.find(({ name }) => name === 'site.yaml')?.redacted).toBe(1);
    }
  });

  it('is made without a site file and with a damaged one', async () => {
    const bad = join(dir, 'bad.yaml');
    writeFileSync(bad, 'name: [\npassword: planted-0815\n');
    const damaged = await collectBundle(bad, host(), context);
    expect([...(await contentsOf(damaged.bytes)).values()].join()).not.toContain('planted-0815');
    expect(damaged.contents.serial).toBeNull();
    const missing = (await collectBundle(join(dir, 'none.yaml'), host(), context)).contents.missing;
    expect(missing.find(({ name }) => name === 'site.yaml')?.reason).toBe('ENOENT');
    mkdirSync(join(dir, 'folder.yaml'));
    const folder = (await collectBundle(join(dir, 'folder.yaml'), host(), context)).contents;
    expect(folder.missing.map(({ name }) => name)).toContain('site.yaml');
  });

  it('says which secret it could not search for', async () => {
    const own = join(dir, 'unread.yaml');
    mkdirSync(join(dir, 'no-file'));
    writeFileSync(own, 'name: x\nchassis: { host: 127.0.0.1, port: 1, serial: S1, secretFile: no-file }\n');
    const { missing } = (await collectBundle(own, host(), context)).contents;
    expect(missing).toContainEqual({
      name: join(dir, 'no-file'),
      holds: 'a secret, which could not be searched for in the files of the archive',
      reason: 'not a file: folder',
    });
  });

  it('is a new file of its owner alone, and leaves nothing where it cannot be written', async () => {
    const path = join(dir, 'out', 'b.tar.gz');
    await writeBundle(bundle, path);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const before = readFileSync(path);
    await expect(writeBundle({ ...bundle, bytes: Buffer.from('x') }, path)).rejects.toMatchObject({
      code: 'FILE_EXISTS',
    });
    await expect(refuseExisting(path)).rejects.toMatchObject({ code: 'FILE_EXISTS' });
    expect(readFileSync(path).equals(before)).toBe(true);
    await expect(writeBundle(bundle, join(site, 'b.tar.gz'))).rejects.toMatchObject({ code: 'FILE_UNWRITABLE' });
    expect(readdirSync(join(dir, 'out'))).toEqual(['b.tar.gz']);
  });

  it('arrives whole from another machine, or is refused', async () => {
    const inline = resultOf(bundle, 'inline');
    expect(Buffer.from(bundleOf(inline).bytes).equals(Buffer.from(bundle.bytes))).toBe(true);
    const changed = { ...inline, archive: [`AAAA${inline.archive?.join('').slice(4)}`] };
    expect(() => bundleOf(changed)).toThrow(expect.objectContaining({ code: 'REMOTE_GW_BAD_ANSWER' }));
    expect(() => bundleOf({ ...inline, archive: null })).toThrow();
  });
});
