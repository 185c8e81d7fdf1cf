import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmod, mkdir, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { checkFile, nameOfId } from '../../../src/lib/toolkit/own-check/file.ts';
import { forAll } from '../kit.ts';
import { context, tempDir, toolkit } from './peers.ts';

const look = (path: string, more = {}) =>
  checkFile(toolkit(), { path, content: true, sha256: true, timeoutS: 5, ...more }, context);

test('type, mode, size, owner, text and hash of a file', async () => {
  const path = join(await tempDir(), 'a.conf');
  await writeFile(path, 'port = 1\n');
  await chmod(path, 0o640);
  const sha256 = createHash('sha256').update('port = 1\n').digest('hex');
  const found = await look(path);
  expect(found).toMatchObject({ exists: true, type: 'file', mode: '0640', size: 9, content: 'port = 1\n', sha256 });
  expect(found.ownerId).toBe(process.getuid?.());
  expect(found.detail).toMatch(/from this machine/);
  expect(found.detail).not.toMatch(/undefined/);
});

test('what is not asked for is not in the result', async () => {
  const path = join(await tempDir(), 'a');
  await writeFile(path, 'x');
  const found = await look(path, { content: false, sha256: false });
  expect(found).not.toHaveProperty('content');
  expect(found).not.toHaveProperty('sha256');
});

test('a missing file and a link that leads nowhere do not exist', async () => {
  const dir = await tempDir();
  await symlink('/none/of/this', join(dir, 'link'));
  expect(await look(join(dir, 'none'))).toMatchObject({ exists: false });
  expect(await look(join(dir, 'link'))).toMatchObject({ exists: false, linkTo: '/none/of/this' });
});

test('of a link, what it leads to', async () => {
  const dir = await tempDir();
  await writeFile(join(dir, 'real'), 'x');
  await symlink('real', join(dir, 'link'));
  expect(await look(join(dir, 'link'))).toMatchObject({ exists: true, type: 'file', linkTo: 'real', content: 'x' });
});

test('a folder, a pipe and a device are reported, and never read', async () => {
  const dir = await tempDir();
  await mkdir(join(dir, 'folder'));
  execFileSync('mkfifo', [join(dir, 'pipe')]);
  const none = { content: 'not-checked', sha256: 'not-checked' };
  expect(await look(join(dir, 'folder'))).toMatchObject({ type: 'folder', ...none });
  expect(await look(join(dir, 'pipe'))).toMatchObject({ type: 'pipe', ...none });
  expect(await look('/dev/zero')).toMatchObject({ type: 'device', ...none });
});

test('a file beyond the bounds is not checked', async () => {
  const path = join(await tempDir(), 'large');
  await writeFile(path, '');
  await truncate(path, 2 ** 33);
  expect(await look(path)).toMatchObject({ exists: true, content: 'not-checked', sha256: 'not-checked' });
  await truncate(path, 2 ** 21);
  expect(await look(path)).toMatchObject({ content: 'not-checked', sha256: expect.stringMatching(/^[0-9a-f]{64}$/) });
});

test('bytes that are no text are not checked', async () => {
  const path = join(await tempDir(), 'bytes');
  await writeFile(path, Buffer.from([0xff]));
  expect(await look(path)).toMatchObject({ content: 'not-checked' });
});

test('of what cannot be looked at nothing is said', async () => {
  const dir = await tempDir();
  await symlink('loop', join(dir, 'loop'));
  expect(await look(join(dir, 'loop'))).toMatchObject({ exists: 'not-checked' });
  expect(await look(join(dir, 'x'.repeat(300)))).toMatchObject({ exists: 'not-checked' });
});

test('a name of an id is one of the text, for any text', { tags: 'property' }, () => {
  const passwd = 'root:x:0:0:root:/root:/bin/sh\nbroken\nkm:x:1000:1000::/home/km:/bin/sh\n';
  expect(nameOfId(1000, passwd)).toBe('km');
  expect(nameOfId(1, passwd)).toBeUndefined();
  forAll(fc.nat(), fc.string({ unit: fc.constantFrom('a', ':', '\n', '0', '1', ' ', 'x') }), (id, text) => {
    const name = nameOfId(id % 12, text);
    if (name !== undefined) expect(text.split('\n').some((line) => line.startsWith(`${name}:`))).toBe(true);
  });
});
