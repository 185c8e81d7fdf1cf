import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask, signIn, startServer, type TestServer } from '../server.ts';
import { png } from '../stand-ins.ts';

/** What a browser sends with a form of a page. */
const BROWSER = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
const FORM = { ...BROWSER, 'content-type': 'application/x-www-form-urlencoded' };

const filesIn = (server: TestServer) => readdir(join(server.dir, 'media')).catch(() => []);

function uploadForm(server: TestServer, name: string, bytes: Uint8Array<ArrayBuffer>, headers: Record<string, string>) {
  const body = new FormData();
  body.append('file', new Blob([bytes]), name);
  return ask(server.full, '/api/medien', { method: 'POST', body, headers: { ...BROWSER, ...headers } });
}

describe('the media page', () => {
  let server: TestServer;
  let cookie: string;
  beforeAll(async () => {
    server = await startServer({ password: true, disk: { mediaMb: 1 } });
    cookie = await signIn(server.full);
  });
  afterAll(() => server[Symbol.asyncDispose]());

  const page = async (path = '/medien', headers: Record<string, string> = {}) =>
    (await ask(server.full, path, { headers })).data as string;

  it('shows the library, and what a person may do', async () => {
    expect(await page()).toContain('Hier liegt noch keine Datei. Noch frei: 1,0\u00a0MB.');
    expect(await page('/medien?sprache=en')).toContain('There is no file here yet.');
    expect(await page()).not.toContain('type="file"');
    expect(await page('/medien', { cookie })).toContain('type="file"');
    expect((await ask(server.readOnly, '/medien', { headers: { cookie } })).status).toBe(403);
  });

  it('is linked from every page of the full socket, and from none of the read-only one', async () => {
    for (const path of ['/', '/service', '/anmeldung', '/medien']) expect(await page(path)).toContain('href="/medien"');
    for (const path of ['/', '/service']) expect((await ask(server.readOnly, path)).data).not.toContain('/medien');
  });

  it('takes an upload and a deletion of forms, and answers with the page', async () => {
    const stored = await uploadForm(server, 'Größe (1).png', new Uint8Array(png), { cookie });
    expect([stored.status, stored.headers.get('location')]).toEqual([303, '/medien']);
    expect(await filesIn(server)).toEqual(['Größe (1).png']);
    const path = encodeURIComponent('Größe (1).png');
    expect(await page()).toContain(`<img src="/api/medien/${path}"`);
    expect(await page(`/medien?loeschen=${path}`, { cookie })).toContain(`action="/api/medien/${path}/loeschen"`);
    const remove = (headers: Record<string, string>) =>
      ask(server.full, `/api/medien/${path}/loeschen`, { method: 'POST', headers });
    const refused = await remove(FORM);
    expect([refused.status, refused.data]).toEqual([401, expect.stringContaining('Dafür ist eine Anmeldung')]);
    expect(await filesIn(server)).toEqual(['Größe (1).png']);
    const deleted = await remove({ ...FORM, cookie });
    expect([deleted.status, deleted.headers.get('location')]).toEqual([303, '/medien']);
    expect(await filesIn(server)).toEqual([]);
    const gone = await remove({ ...FORM, cookie });
    expect([gone.status, gone.data]).toEqual([404, expect.stringContaining('Diese Datei gibt es nicht mehr.')]);
    expect((await remove({ cookie })).data.error.code).toBe('NOT_FOUND');
  });

  it('answers a refused form with a page that says why and leads back, and a script with a code', async () => {
    const full = await uploadForm(server, 'a.bin', new Uint8Array(1_100_000), { cookie });
    expect([full.status, full.data]).toEqual([507, expect.stringContaining('Für diese Datei ist kein Platz.')]);
    expect(full.data).toContain('Zurück zu den Medien');
    const named = await uploadForm(server, '.ssh', new Uint8Array(3), { cookie });
    expect([named.status, named.data]).toEqual([400, expect.stringContaining('Die Datei wurde nicht angenommen.')]);
    const unsigned = await uploadForm(server, 'a.bin', new Uint8Array(3), {});
    expect([unsigned.status, unsigned.data]).toEqual([401, expect.stringContaining('href="/anmeldung"')]);
    const script = await uploadForm(server, 'a.bin', new Uint8Array(1_100_000), { cookie, accept: 'application/json' });
    expect([script.status, script.data.error.code]).toEqual([507, 'NO_SPACE']);
    expect(await filesIn(server)).toEqual([]);
  });

  it('deletes nothing for a page of another site', async () => {
    await uploadForm(server, 'b.txt', new Uint8Array(3), { cookie });
    const { status } = await ask(server.full, '/api/medien/b.txt/loeschen', {
      method: 'POST',
      headers: { ...FORM, cookie, origin: 'http://other.example' },
    });
    expect(status).toBe(403);
    expect(await filesIn(server)).toEqual(['b.txt']);
    for (const name of ['..%2fpassword', '%2e%2e', '.']) {
      const path = `/api/medien/${name}/loeschen`;
      expect((await ask(server.full, path, { method: 'POST', headers: { ...FORM, cookie } })).status).toBe(404);
    }
    expect(await readdir(server.dir)).toContain('password');
  });

  it('may play media of this gateway, and nothing of another', async () => {
    const policy = (await ask(server.full, '/medien')).headers.get('content-security-policy');
    expect(policy).toContain("default-src 'self'");
    expect(policy).not.toMatch(/media-src|unsafe-inline/);
  });

  it('says that the library cannot be read, and does not call it empty', async () => {
    await using broken = await startServer();
    await symlink('media', join(broken.dir, 'media'));
    const { status, data } = await ask(broken.full, '/medien');
    expect([status, data]).toEqual([500, expect.stringContaining('Die Mediathek ist zurzeit nicht lesbar.')]);
    expect(data).not.toContain('noch keine Datei');
    expect(data).not.toContain(broken.dir);
  });
});

describe('a part of a media file', () => {
  it('is sent where a player asks for one, with the same protection as the whole', async () => {
    await using server = await startServer();
    await mkdir(join(server.dir, 'media'));
    await writeFile(join(server.dir, 'media', 'a.wav'), '0123456789');
    const part = (range: string, method = 'GET') =>
      ask(server.full, '/api/medien/a.wav', { method, headers: { range } });
    const { status, headers, data } = await part('bytes=3-5');
    expect([status, data, headers.get('content-range')]).toEqual([206, '345', 'bytes 3-5/10']);
    expect(headers.get('content-length')).toBe('3');
    expect(headers.get('content-security-policy')).toContain('sandbox');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect((await part('bytes=7-')).data).toBe('789');
    expect((await part('bytes=-1')).data).toBe('9');
    // What cannot be satisfied gets the whole file.
    for (const range of ['bytes=10-', 'bytes=0-1,4-5', 'x']) {
      const whole = await part(range);
      expect([whole.status, whole.data, whole.headers.get('content-range')]).toEqual([200, '0123456789', null]);
    }
    const head = await part('bytes=3-5', 'HEAD');
    const { headers: told } = head;
    expect([head.status, told.get('content-length'), told.get('accept-ranges')]).toEqual([200, '10', 'bytes']);
  });
});
