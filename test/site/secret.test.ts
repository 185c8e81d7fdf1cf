import { execFileSync } from 'node:child_process';
import { chmod, chown, mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { GwError } from '../../src/lib/error/index.ts';
import { isAbsentCredential, readSecret } from '../../src/lib/site/index.ts';
import { folderOfFile } from '../lifecycle/folder.ts';

const CONTENT = 'hunter2';

describe('a secret file', () => {
  const dir = folderOfFile();
  const secret = async (name: string, content: string | Uint8Array = `${CONTENT}\n`, mode = 0o600) => {
    const path = join(dir, name);
    await writeFile(path, content);
    await chmod(path, mode);
    return path;
  };
  const refusalOf = async (path: string): Promise<GwError> => {
    const error = await readSecret(path, 'operator.passwordFile').then(
      () => expect.fail('was read'),
      (caught: unknown) => caught,
    );
    if (!(error instanceof GwError)) throw error;
    expect(error).toMatchObject({ code: 'SECRET_UNREADABLE', exitCode: 2 });
    expect(error.message).toContain(path);
    expect(error.message).toContain('operator.passwordFile');
    expect(JSON.stringify(error) + error.stack).not.toContain(CONTENT);
    return error;
  };

  it('yields its content without one trailing line end', async () => {
    expect(await readSecret(await secret('plain', CONTENT))).toBe(CONTENT);
    expect(await readSecret(await secret('line'))).toBe(CONTENT);
    expect(await readSecret(await secret('windows', `${CONTENT}\r\n`))).toBe(CONTENT);
    expect(await readSecret(await secret('two', `${CONTENT}\n\n`))).toBe(`${CONTENT}\n`);
    expect(await readSecret(await secret('only-read', CONTENT, 0o400))).toBe(CONTENT);
  });

  it.each([0o644, 0o640, 0o604, 0o660, 0o620, 0o601, 0o777])(
    'with mode %o is rejected with the chmod command that repairs it',
    async (mode) => {
      const path = await secret(`mode-${mode}`, CONTENT, mode);
      const error = await refusalOf(path);
      expect(error.remedy).toContain(`chmod 600 ${path}`);
      expect(error.message).toContain(mode.toString(8));
    },
  );

  it('that is missing, empty, not text, or too large is rejected', async () => {
    expect((await refusalOf(join(dir, 'none'))).message).toContain('file not found');
    expect((await refusalOf(await secret('empty', '\n'))).message).toContain('empty');
    expect((await refusalOf(await secret('binary', Uint8Array.of(0xff, 0xfe)))).message).toContain('UTF-8');
    expect((await refusalOf(await secret('large', CONTENT.repeat(10_000)))).message).toContain('70000 bytes');
  });

  it('that would be a credential of a service that does not run is named as such, and no other missing file is', async () => {
    const credential = await readSecret('/run/credentials/gw-test.service/key', 'fleet.keyFile').catch(
      (error) => error,
    );
    expect(credential).toMatchObject({
      code: 'SECRET_UNREADABLE',
      remedy: expect.stringContaining('LoadCredential=key:FILE'),
    });
    expect(isAbsentCredential(credential)).toBe(true);
    const file = await readSecret('/run/credentials-gw-test/key').catch((error) => error);
    expect([file.code, isAbsentCredential(file)]).toEqual(['SECRET_UNREADABLE', false]);
  });

  it.skipIf(process.getuid?.() !== 0).each<[number, boolean]>([
    [0o400, true],
    // With an access control list of systemd, whose mask this is.
    [0o440, true],
    [0o444, false],
    [0o460, false],
    [0o660, false],
  ])('that is a credential has the modes of systemd, and no others: %i', async (mode, isAccepted) => {
    const folder = `/run/credentials/gw-test-${process.pid}.service`;
    await mkdir(folder, { recursive: true, mode: 0o700 });
    try {
      const path = join(folder, 'key');
      await writeFile(path, `${CONTENT}\n`);
      await chmod(path, mode);
      if (isAccepted) expect(await readSecret(path)).toBe(CONTENT);
      else await expect(readSecret(path)).rejects.toMatchObject({ remedy: expect.stringContaining('LoadCredential=') });
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('that is a folder, a pipe, a device or a symbolic link is rejected', async () => {
    await mkdir(join(dir, 'folder'), { mode: 0o700 });
    execFileSync('mkfifo', ['-m', '600', join(dir, 'pipe')]);
    await symlink(await secret('target'), join(dir, 'link'));
    expect((await refusalOf(join(dir, 'folder'))).message).toContain('a folder');
    expect((await refusalOf(join(dir, 'pipe'))).message).toContain('not a regular file');
    expect((await refusalOf('/dev/null')).message).toContain('not a regular file');
    expect((await refusalOf(join(dir, 'link'))).message).toContain('symbolic link');
  });

  it.skipIf(process.getuid?.() !== 0)('that belongs to another user is rejected', async () => {
    const path = await secret('foreign');
    await chown(path, 4711, 4711);
    expect((await refusalOf(path)).remedy).toContain('chown 0');
  });
});
