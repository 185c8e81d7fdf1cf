import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { Encrypter } from 'age-encryption';
import { unpackTar } from 'modern-tar';
import { afterAll, describe, expect, it } from 'vitest';
import { readBackup } from '../../src/lib/toolkit/backup/read.ts';
import { encryptSecrets, openSecrets } from '../../src/lib/toolkit/backup/secrets.ts';
import { gwBinary, runGw } from '../e2e/gw.ts';
import { runProcess, startProcess } from '../process.ts';
import { makeGateway, PASSPHRASE, tree } from '../toolkit/backup/gateway.ts';
import { until } from '../waiting.ts';
import { hasProgram } from './peer.ts';

const scratch = mkdtempSync(join(tmpdir(), 'gw-age-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));
const fresh = () => mkdtempSync(join(scratch, 'a-'));
const quoted = (words: readonly string[]) => words.map((word) => `'${word}'`).join(' ');

/** Runs a program at a terminal of its own, and types a line at each of its prompts. */
async function atTerminal(words: readonly string[], cwd: string, prompts: readonly RegExp[], line = PASSPHRASE) {
  const { PATH, HOME } = process.env;
  const env = { PATH, HOME, TERM: 'dumb', NO_COLOR: '1' };
  await using run = startProcess('script', ['-qec', quoted(words), '/dev/null'], { cwd, input: null, env });
  let from = 0;
  for (const prompt of prompts) {
    await until(
      () => prompt.exec(run.stdout().slice(from)),
      (found) => found !== null || run.hasEnded(),
    );
    from = run.stdout().length;
    run.child.stdin?.write(`${line}\r`);
  }
  return await run.closed;
}

describe.skipIf(!hasProgram('age') || !hasProgram('script'))('age, the program of the format', () => {
  it('opens the secrets of a backup of gw, whose passphrase was typed twice', async () => {
    const [dir, into] = [join(fresh(), 'gw'), fresh()];
    const site = await makeGateway(dir);
    const out = join(into, 'backup.tar.gz');
    const words = [process.execPath, gwBinary, 'gateway', 'backup', '--site', site.path, '--out', out, '--with-media'];
    const made = await atTerminal(words, into, [/New passphrase of the backup:/, /Repeat the passphrase:/]);
    expect([made.code, made.stdout]).toEqual([0, expect.stringContaining('Backup of SN-7 written')]);
    expect(made.stdout).not.toContain(PASSPHRASE);
    await runProcess('tar', ['xzf', out, '-C', into]);
    const opened = join(into, 'secrets.tar.gz');
    const age = await atTerminal(['age', '--decrypt', '--output', opened, join(into, 'secrets.age')], into, [
      /passphrase/i,
    ]);
    expect(age.code).toBe(0);
    await runProcess('tar', ['xzf', opened, '-C', into]);
    const [before, after] = [tree(dir), tree(into)];
    const secret = ['secrets/password', 'secrets/heartbeat', 'identity/key.pem', 'state/adb/adbkey'];
    expect(secret.map((path) => after[`site/${path}`])).toEqual(secret.map((path) => before[path]));
    expect(after['site/site.yaml']).toBe(before['site.yaml']);
  });

  it('makes a part that gw opens', async () => {
    const dir = fresh();
    const files = [{ path: 'secrets/password', content: Buffer.from('hash') }];
    const own = await encryptSecrets(files, { passphrase: PASSPHRASE, workFactor: 2, createdAt: new Date(0) });
    writeFileSync(join(dir, 'own.age'), own);
    const plain = join(dir, 'plain');
    expect((await atTerminal(['age', '-d', '-o', plain, join(dir, 'own.age')], dir, [/passphrase/i])).code).toBe(0);
    expect(await unpackTar(gunzipSync(readFileSync(plain)))).toHaveLength(2);
    const again = join(dir, 'again.age');
    expect((await atTerminal(['age', '-p', '-o', again, plain], dir, [/passphrase/i, /passphrase/i])).code).toBe(0);
    expect(readFileSync(again, 'latin1')).toMatch(/^age-encryption\.org\/v1\n-> scrypt /);
    expect(await openSecrets(readFileSync(again), PASSPHRASE, 'again.age')).toEqual(files);
  });

  it('is never asked for more work than it takes', async () => {
    const encrypter = new Encrypter();
    encrypter.setPassphrase(PASSPHRASE);
    encrypter.setScryptWorkFactor(2);
    const bytes = Buffer.from(await encrypter.encrypt('x'));
    const greedy = Buffer.from(bytes.toString('latin1').replace(/^(-> scrypt \S+) 2$/m, '$1 40'), 'latin1');
    await expect(openSecrets(greedy, PASSPHRASE, 'greedy')).rejects.toMatchObject({ code: 'PASSPHRASE_WRONG' });
  });
});

describe('gw gateway restore', () => {
  it('restores what gw gateway backup made, with the passphrase from a file, and says what is to be looked at', async () => {
    const [dir, into] = [join(fresh(), 'gw'), join(fresh(), 'new')];
    const site = await makeGateway(dir);
    const [out, file] = [join(fresh(), 'b.tar.gz'), join(fresh(), 'passphrase')];
    writeFileSync(file, `${PASSPHRASE}\n`, { mode: 0o600 });
    const given = ['--passphrase-file', file];
    expect((await runGw(['gateway', 'backup', '--site', site.path, '--out', out, '--with-media', ...given])).code).toBe(
      0,
    );
    expect((await runGw(['gateway', 'verify', out, ...given])).code).toBe(0);
    const untried = await runGw(['gateway', 'verify', out, '--without-secrets']);
    expect([untried.code, untried.stdout]).toEqual([1, expect.stringContaining('not tried')]);
    writeFileSync(file, 'another passphrase of some length', { mode: 0o600 });
    const wrong = await runGw(['gateway', 'restore', out, '--into', into, '--write', ...given]);
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('cannot be opened with this passphrase')]);
    writeFileSync(file, `${PASSPHRASE}\n`, { mode: 0o600 });
    const dry = await runGw(['gateway', 'restore', out, '--into', into, ...given]);
    expect([dry.code, dry.stdout]).toEqual([1, expect.stringContaining('Nothing written')]);
    const done = await runGw(['gateway', 'restore', out, '--into', into, '--write', ...given, '--json']);
    const { ok, data } = JSON.parse(done.stdout) as {
      ok: boolean;
      data: { state: string; findings: { id: string }[] };
    };
    expect([done.code, ok, data.state]).toEqual([1, false, 'restored']);
    expect(tree(into)['identity/key.pem']).toBe('secret-key');
    const again = await runGw(['gateway', 'restore', out, '--into', into, '--write', ...given, '--accept-undecided']);
    expect([again.code, again.stdout]).toEqual([0, expect.stringContaining('0 files written')]);
    expect((await readBackup(out)).manifest.serial).toBe('SN-7');
  });

  it('asks without a terminal for the first line of stdin, and leaves nothing out by itself', async () => {
    const site = await makeGateway(join(fresh(), 'gw'));
    const out = join(fresh(), 'b.tar.gz');
    const words = ['gateway', 'backup', '--site', site.path, '--out', out];
    const none = await runGw(words, { input: '' });
    expect([none.code, none.stderr]).toEqual([2, expect.stringContaining('at least 12 characters')]);
    const left = await runGw([...words, '--without-secrets']);
    expect([left.code, left.stdout]).toEqual([1, expect.stringContaining('left out  identity/key.pem')]);
  });
});
