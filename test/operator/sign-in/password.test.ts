import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { renderOperatorPassword } from '../../../src/cli/render/operator.ts';
import { readNewPassword } from '../../../src/cli/secrets.ts';
import { parsePasswordHash, verifyPassword } from '../../../src/lib/operator/sign-in/password-hash.ts';
import { passwordProblem, setOperatorPassword } from '../../../src/lib/toolkit/operator/password.ts';
import { typedTerminal } from '../../cli/typed.ts';

const yaml = (operator: string) => `name: Test\nchassis: { host: 127.0.0.1, serial: T1 }\noperator: ${operator}\n`;

describe('gw operator password', () => {
  let dir: string;
  let sitePath: string;
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'gw-password-'));
    sitePath = join(dir, 'site.yaml');
    await writeFile(sitePath, yaml('{ passwordFile: secrets/device-password }'));
  });
  afterEach(() => rm(dir, { recursive: true, force: true }));

  it('writes a hash that only its owner reads, and never the password; another one replaces it as a whole', async () => {
    const result = await setOperatorPassword(sitePath, 'correct horse');
    expect(result).toEqual({
      file: join(dir, 'secrets', 'device-password'),
      replaced: false,
      same: false,
      earlier: false,
    });
    expect((await stat(result.file)).mode & 0o777).toBe(0o600);
    expect((await stat(join(dir, 'secrets'))).mode & 0o777).toBe(0o700);
    const text = await readFile(result.file, 'utf8');
    const hash = parsePasswordHash(text);
    expect(hash && (await verifyPassword('correct horse', hash))).toBe(true);
    expect(text).not.toContain('horse');
    expect(renderOperatorPassword(result)).not.toContain('horse');
    await chmod(result.file, 0o644);
    expect((await setOperatorPassword(sitePath, 'battery staple')).replaced).toBe(true);
    expect((await stat(result.file)).mode & 0o777).toBe(0o600);
    expect((await readdir(join(dir, 'secrets'))).sort()).toEqual(['device-password', 'device-password.former']);
    expect((await stat(`${result.file}.former`)).mode & 0o777).toBe(0o600);
  });

  it('keeps the hash of the same password, so that it does not look like another one', async () => {
    const { file } = await setOperatorPassword(sitePath, 'correct horse');
    const before = await readFile(file, 'utf8');
    await chmod(file, 0o644);
    const again = await setOperatorPassword(sitePath, 'correct horse');
    expect(again).toEqual({ file, replaced: true, same: true, earlier: false });
    expect(await readFile(file, 'utf8')).toBe(before);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(renderOperatorPassword(again)).toContain('the same as before');
    await writeFile(file, 'no hash\n');
    expect(await setOperatorPassword(sitePath, 'correct horse')).toMatchObject({ replaced: true, same: false });
  });

  it('gives an earlier password the hash that it had, and says so', async () => {
    const { file } = await setOperatorPassword(sitePath, 'correct horse');
    const first = await readFile(file, 'utf8');
    expect(await setOperatorPassword(sitePath, 'battery staple')).toMatchObject({ same: false, earlier: false });
    const back = await setOperatorPassword(sitePath, 'correct horse');
    expect(back).toMatchObject({ same: false, earlier: true });
    expect(renderOperatorPassword(back)).toContain('was set on this gateway before');
    expect(await readFile(file, 'utf8')).toBe(first);
    await writeFile(`${file}.former`, 'no hash\n');
    expect(await setOperatorPassword(sitePath, 'battery staple')).toMatchObject({ earlier: false });
  });

  it('states what to add when the site file has no path for it', async () => {
    await writeFile(sitePath, yaml('{}'));
    await expect(setOperatorPassword(sitePath, 'correct horse')).rejects.toMatchObject({
      code: 'SITE_FILE_INVALID',
      remedy: expect.stringContaining('passwordFile: secrets/password'),
    });
  });

  it('rejects passwords that are too short or cannot be typed', async () => {
    for (const bad of ['', 'short', ' leading', 'trailing ', 'with\ttab in it', 'x'.repeat(257)]) {
      expect(passwordProblem(bad), bad).toBeDefined();
      await expect(setOperatorPassword(sitePath, bad)).rejects.toMatchObject({ code: 'USAGE' });
    }
    expect(await readdir(dir)).toEqual(['site.yaml']);
    expect(passwordProblem('Schlüsselbund')).toBeUndefined();
  });
});

describe('asking for a new password', () => {
  const signal = new AbortController().signal;

  const ask = (keys: readonly string[]) => {
    const { streams, shown } = typedTerminal(keys);
    return { shown, answer: readNewPassword(undefined, passwordProblem, { streams, signal }) };
  };

  it('asks twice, does not echo the input, and no key makes it visible', async () => {
    const { answer, shown } = ask(['correct horxe\u007f\u007fse\u0014\r', 'correct horse\r']);
    expect(await answer).toBe('correct horse');
    expect(shown()).not.toMatch(/horse|correct/);
  });

  it('asks again when the two differ or are not acceptable, at most three times', async () => {
    const typed = ['short', 'correct horse', 'other horse', 'correct horse', 'correct horse'];
    const { answer, shown } = ask(typed.map((line) => `${line}\r`));
    expect(await answer).toBe('correct horse');
    expect(shown()).toContain('The passwords differ.');
    await expect(ask(['a\r', 'b\r', 'c\r']).answer).rejects.toMatchObject({ code: 'USAGE' });
  });

  it('ends on Ctrl-C and Ctrl-D', async () => {
    await expect(ask(['corr\u0003']).answer).rejects.toMatchObject({ code: 'INTERRUPTED' });
    await expect(ask(['\u0004']).answer).rejects.toMatchObject({ code: 'INTERRUPTED' });
  });

  it('reads the first line of a pipe or a file', async () => {
    const input = new PassThrough();
    input.end('from a pipe\nsecond line\n');
    const streams = { input: input as unknown as NodeJS.ReadStream, output: new PassThrough() };
    expect(await readNewPassword(undefined, passwordProblem, { streams, signal })).toBe('from a pipe');
    const dir = await mkdtemp(join(tmpdir(), 'gw-password-'));
    const file = join(dir, 'new');
    await writeFile(file, 'from a file\r\n', { mode: 0o644 });
    await expect(readNewPassword(file, passwordProblem, { streams, signal })).rejects.toMatchObject({
      code: 'SECRET_UNREADABLE',
    });
    await chmod(file, 0o600);
    expect(await readNewPassword(file, passwordProblem, { streams, signal })).toBe('from a file');
    await rm(dir, { recursive: true });
  });
});
