import { describe, expect, it } from 'vitest';
import { shared } from '../../lifecycle/shared.ts';
import { startOnline } from './host.ts';

const HERE = '/data/local/tmp';
const NONE = 'No such file or directory';
const t = shared(await startOnline());
for (const [name, text] of Object.entries({ f: '3 c\n10 a\n', g: 'x\ny', '.h': '' })) {
  expect(await t.push(`${HERE}/t/${name}`, Buffer.from(text))).toBe('OKAY');
}

/** Runs a script in a folder with `f` of two lines, `g` of one and a half, and a hidden `.h`. */
const shell = (script: string, stdin?: string) => t.run(`cd ${HERE}/t; ${script}`, stdin);
const output = (stdout: string) => ({ stdout, stderr: '', code: 0 });
const failure = (stderr: string, code = 1) => ({ stdout: '', stderr: `${stderr}\n`, code });

describe('the shell of the simulated tablet', () => {
  it.each([
    ["echo 'a b'  c\\ d \"e 'f' \\\" $?\"", "a b c d e 'f' \" 0\n"],
    ["echo ''x", 'x\n'],
    ['echo a#b # not this', 'a#b\n'],
    ['rm -f none; echo $?', '0\n'],
    ['rm -f none && echo one || echo no\necho two', 'one\ntwo\n'],
    ['rm -f none &&\n echo three;', 'three\n'],
    ['echo a\\\nb', 'ab\n'],
    ['cat </dev/null; cat f < /dev/null&& echo b', '3 c\n10 a\nb\n'],
    ['cd ..; ls t; pwd', `f\ng\n${HERE}\n`],
    ['cd /sdcard; pwd; cd ..; pwd', '/sdcard\n/\n'],
    ["echo '| > < & * ? [ { ~ $A $(x) `x` A=1 ! if'", '| > < & * ? [ { ~ $A $(x) `x` A=1 ! if\n'],
    ['ls', 'f\ng\n'],
    ['ls -a', '.h\nf\ng\n'],
    ['ls -d .', '.\n'],
    ['mkdir -p d/e; ls d; rm -r d', 'e\n'],
    ['cat g g', 'x\nyx\ny'],
    ['sha256sum g', '9ab9de25768ac172235e119b76362ecddad33878fe9a7792cdddbe47236f9a87  g\n'],
    ['mkdir d; rm -rf d none; ls', 'f\ng\n'],
    // Values with a leading dash are no options.
    [
      'settings put system x -5; settings get system x; settings list secure',
      '-5\nandroid_id=5a17ab1e00000001\nuser_setup_complete=1\n',
    ],
    ['settings delete system x; settings get system x', 'Deleted 1 rows\nnull\n'],
    ['am start -n com.android.settings/.Settings', 'Starting: Intent { cmp=com.android.settings/.Settings }\n'],
  ])('runs %j', async (script, stdout) => {
    expect(await shell(script)).toEqual(output(stdout));
  });

  it.each([
    ['cat', 'in\n', 'in\n'],
    ['sha256sum', '', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  -\n'],
  ])('reads the input with %s', async (script, stdin, stdout) => {
    expect(await shell(script, stdin)).toEqual(output(stdout));
  });

  it.each([
    ['echo a | grep a', '|'],
    ['echo a > f', '>'],
    ['echo a 2>/dev/null', '>'],
    ['cat < f', '<'],
    ['cat </dev/nullx', '<'],
    ['</dev/null cat', '<'],
    ['cat f &', '&'],
    ['rm *', '*'],
    ['rm ?', '?'],
    ['rm [fg]', '['],
    ['rm {f,g}', '{'],
    ['rm -r ~', '~'],
    ['echo $A', '$A'],
    ['echo "$PWD"', '$P'],
    ['echo $(rm f)', '$('],
    ['echo "`rm f`"', '`'],
    ['(rm f)', '('],
  ])('refuses %j as a whole, and runs no part of it', async (script, construct) => {
    expect(await t.run(`rm ${HERE}/t/f; ${script}`)).toEqual(
      failure(`/system/bin/sh: not simulated: '${construct}'; quote it if it is text`),
    );
    expect(await shell('ls; cat f')).toEqual(output('f\ng\n3 c\n10 a\n'));
  });

  it.each([
    ['echo "a', 'no closing quote'],
    ["echo 'a", 'no closing quote'],
    ['; echo a', "unexpected ';'"],
    ['echo a && ; echo b', "unexpected ';'"],
    ['echo a ||', "unexpected 'EOF'"],
  ])('refuses %j as the shell of Android does', async (script, reason) => {
    expect(await t.run(script)).toEqual(failure(`/system/bin/sh: syntax error: ${reason}`));
  });

  it.each(['grep a f', 'sh -c true', 'A=1', 'if', '! rm f'])('has no such program: %s', async (script) => {
    const [name] = script.split(' ');
    expect(await shell(script)).toEqual(failure(`/system/bin/sh: ${name}: inaccessible or not found`, 127));
  });

  it('keeps the last exit code, and reports a folder that cannot be entered', async () => {
    expect(await shell('cat none; echo $?; cat none && echo no || echo yes; exit 7; echo no')).toEqual({
      stdout: '1\nyes\n',
      stderr: `cat: none: ${NONE}\n`.repeat(2),
      code: 7,
    });
    expect(await shell('cd none; pwd')).toEqual({ stdout: `${HERE}/t\n`, stderr: `cd: ${NONE}\n`, code: 0 });
  });

  it.each<[string, string]>([
    ['rm none', `rm: none: ${NONE}`],
    ['rm', 'rm: needs 1 argument'],
    ['mkdir f', 'mkdir: f: File exists'],
    ['mkdir /nope', 'mkdir: /nope: Read-only file system'],
    ['cat none', `cat: none: ${NONE}`],
    ['cat .', 'cat: .: Is a directory'],
    ['df none', `df: ${NONE}`],
    ['ls f g', 'ls: max 1 argument'],
    ['cat f/x', `cat: f/x: ${NONE}`],
    ...'cat rm mkdir sha256sum ls df getprop reboot pwd'
      .split(' ')
      .map((name): [string, string] => [`${name} -Z f`, `${name}: Unknown option '-Z'`]),
  ])('reports on stderr: %s', async (script, reason) => {
    expect(await shell(script)).toEqual(failure(reason));
    expect(t.state().phase).toBe('running');
  });

  it('has bounded paths', async () => {
    expect((await shell(`mkdir ${'a/'.repeat(2100)}`)).stderr).toMatch(/: File name too long\n$/);
  });

  it.each(
    `pm install --zzz x; pm install --zzz; pm list packages --zzz; pm path --zzz android;
    pm disable-user --zzz com.android.email; pm uninstall --user 7 com.android.email; am start --zzz;
    am start --es page a -n com.android.settings/.Settings; dpm set-device-owner --zzz a/.B;
    pm list packages --user; settings put system x; settings put system x 1 2;
    settings --user 3 get system x; settings zzz system x; wm density 240 -u 5; media volume --zzz;
    ip route; dumpsys window; ip addr --zzz; cmd wifi connect`.split(/;\s+/),
  )('refuses unknown options and unsupported commands: %s', async (script) => {
    expect((await shell(script)).code).not.toBe(0);
    expect((await shell('pm list packages -d')).stdout).toBe('');
  });
});
