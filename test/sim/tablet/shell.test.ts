import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTablet, type Tablet } from '../../../src/lib/sim/index.ts';
import { goOnline, type HostKey, type Line, makeHostKey, push, run } from './host.ts';

let key: HostKey;
let tablet: Tablet;
let line: Line;
beforeAll(async () => {
  key = makeHostKey();
  tablet = await startTablet();
  line = await goOnline(tablet.port, key);
});
afterAll(async () => {
  line[Symbol.dispose]();
  await tablet[Symbol.asyncDispose]();
});

const HERE = '/data/local/tmp';
const NONE = 'No such file or directory';

/** Runs a script in a folder of its own, with `f` of five lines and `g` of two. */
const shell = (script: string, stdin?: string) =>
  run(
    line,
    `rm -rf ${HERE}/t; mkdir ${HERE}/t; cd ${HERE}/t; printf '3 c\\n10 a\\n1 b\\n3 c\\n2 d\\n' > f; printf 'x\\ny' > g; ${script}`,
    stdin,
  );

const output = (stdout: string) => ({ stdout, stderr: '', code: 0 });

describe('head and tail of the simulated tablet', () => {
  it.each([
    ['head -n 2 f', '3 c\n10 a\n'],
    ['head -n2 f', '3 c\n10 a\n'],
    ['head -2 f', '3 c\n10 a\n'],
    ['head f -n 1', '3 c\n'],
    ['head -n 0 f', ''],
    ['head g', 'x\ny'],
    ['head -c 4 f', '3 c\n'],
    ['head -q -n 1 f g', '3 c\nx\n'],
    ['head -n 1 f g', '==> f <==\n3 c\n\n==> g <==\nx\n'],
    ['head -v -n 1 g', '==> g <==\nx\n'],
    ['cat f | head -n 1 - g', '==> standard input <==\n3 c\n\n==> g <==\nx\n'],
    ['head /dev/null', ''],
    ['tail -n 2 f', '3 c\n2 d\n'],
    ['tail -1 g', 'y'],
    ['tail -n 0 f', ''],
    ['tail -n 99 f | wc -l', '5\n'],
    ['tail -n +4 f', '3 c\n2 d\n'],
    ['tail +5 f', '2 d\n'],
    ['tail -c 4 f', '2 d\n'],
    ['tail -c +3 g', 'y'],
    ['cat f | tail -n 1', '2 d\n'],
    ['tail -n 1 f g', '==> f <==\n2 d\n\n==> g <==\ny'],
  ])('%s', async (script, said) => {
    expect(await shell(script)).toEqual(output(said));
  });

  it('tell a file that is not there, and go on with the next', async () => {
    expect(await shell('head -n 1 none f')).toEqual({
      stdout: '==> f <==\n3 c\n',
      stderr: `head: none: ${NONE}\n`,
      code: 1,
    });
    expect(await shell('tail none')).toEqual({ stdout: '', stderr: `tail: none: ${NONE}\n`, code: 1 });
    expect(await shell('tail .')).toEqual({ stdout: '', stderr: 'tail: .: Is a directory\n', code: 1 });
  });

  it('refuse counts that are none', async () => {
    expect(await shell('head -n x f')).toEqual({ stdout: '', stderr: 'head: not integer: x\n', code: 1 });
    expect(await shell('tail -n')).toMatchObject({
      stderr: 'tail: Missing argument to -n (see "tail --help")\n',
      code: 1,
    });
  });

  it('do not invent an end of an input that is too long to be kept', { timeout: 60_000 }, async () => {
    const bytes = Buffer.from('0123456789abcde\n'.repeat(400_000));
    expect(await push(tablet.port, key, `${HERE}/long`, bytes)).toBe('OKAY');
    expect(await shell('cat ../long ../long | tail -n 2')).toEqual(output('0123456789abcde\n0123456789abcde\n'));
    expect(await shell('tail -n 400000 ../long | wc -l')).toEqual(output('400000\n'));
    const said = await shell('cat ../long ../long | tail -n 500000; rm ../long');
    expect(said).toEqual({ stdout: '', stderr: 'tail: -: too long for this simulated tablet\n', code: 0 });
  });
});

describe('wc, sort, tr and grep of the simulated tablet', () => {
  it.each([
    ['wc -l f', '5 f\n'],
    ['wc -l < f', '5\n'],
    ['wc -c f g', '21 f\n3 g\n24 total\n'],
    ['wc f', '      5      10      21 f\n'],
    ['wc -lw g', '      1       2 g\n'],
    ["printf 'ä' | wc -m", '1\n'],
    ['sort f', '1 b\n10 a\n2 d\n3 c\n3 c\n'],
    ['sort -n f', '1 b\n2 d\n3 c\n3 c\n10 a\n'],
    ['sort -rn f', '10 a\n3 c\n3 c\n2 d\n1 b\n'],
    ['sort -u f', '1 b\n10 a\n2 d\n3 c\n'],
    ['sort f g', '1 b\n10 a\n2 d\n3 c\n3 c\nx\ny\n'],
    ['cat f | sort -r -', '3 c\n3 c\n2 d\n10 a\n1 b\n'],
    ["printf 'b\\nA\\na\\n' | sort -f", 'A\na\nb\n'],
    ['sort -c g', ''],
    ['sort -o f f; head -n 1 f', '1 b\n'],
    ['tr a-z A-Z < g', 'X\nY'],
    ["tr -d '\\n' < g", 'xy'],
    ["tr -s '\\n' < g | tr '[:lower:]' '[:upper:]'", 'X\nY'],
    ["printf 'aabb' | tr -s ab", 'ab'],
    ["printf 'a1b2' | tr -cd '[:digit:]'", '12'],
    ['grep -n c f', '1:3 c\n4:3 c\n'],
    ['grep -c c f g', 'f:2\ng:0\n'],
    ['grep -h c f g', '3 c\n3 c\n'],
    ['grep -l x f g', 'g\n'],
    ["grep -v -e '^3' f", '10 a\n1 b\n2 d\n'],
    ["grep -E '^1 |d$' f", '1 b\n2 d\n'],
    ["grep '1.*a' f", '10 a\n'],
    ["grep '^. b$' f", '1 b\n'],
    ["grep -F '.' f || echo none", 'none\n'],
    ['grep -x y g', 'y\n'],
    ['grep -m 1 c f', '3 c\n'],
    ["grep -i 'C' f", '3 c\n3 c\n'],
  ])('%s', async (script, said) => {
    expect(await shell(script)).toEqual(output(said));
  });

  it('tell a file that is not there', async () => {
    expect(await shell('wc -l none f')).toEqual({ stdout: '5 f\n5 total\n', stderr: `wc: none: ${NONE}\n`, code: 1 });
    expect(await shell('sort none')).toEqual({ stdout: '', stderr: `sort: none: ${NONE}\n`, code: 1 });
    expect(await shell('sort -c f')).toEqual({ stdout: '', stderr: 'sort: f:2: disorder\n', code: 1 });
    expect(await shell('grep x none g')).toEqual({ stdout: 'g:x\n', stderr: `grep: none: ${NONE}\n`, code: 2 });
  });

  it('refuse a pattern that they do not know, and never take it for plain text', async () => {
    for (const [flags, pattern] of [
      ['', '[0-9]'],
      ['', 'a\\+'],
      ['', '\\w'],
      ['', 'ab*'],
      ['-E', 'a+'],
      ['-E', '(a)'],
      ['-E', 'a{2}'],
      ['', 'x'.repeat(501)],
    ]) {
      const said = await shell(`grep ${flags} '${pattern}' f`);
      expect(said, pattern).toMatchObject({ stdout: '', code: 2 });
      expect(said.stderr).toContain('bad regex');
    }
  });

  const text = fc.array(fc.constantFrom('a', 'B', 'b', '1', '10', '-2', ' ', '\n', '\n'), { maxLength: 40 });
  const theirs = (program: string, words: readonly string[], input: string) =>
    execFileSync(program, words, { input, env: { ...process.env, LC_ALL: 'C' } }).toString();

  it.each([
    ['head', ['-n', '3']],
    ['head', ['-c', '7']],
    ['tail', ['-n', '3']],
    ['tail', ['-n', '+2']],
    ['tail', ['-c', '5']],
    ['tail', ['-c', '+4']],
    ['sort', []],
    ['sort', ['-n']],
    ['sort', ['-rn']],
    ['sort', ['-u']],
    ['sort', ['-f']],
    ['tr', ['a-b', 'x-y']],
    ['tr', ['-s', 'ab']],
    ['grep', ['-c', 'a.*b']],
  ])('%s %j says what the program of this machine says', { timeout: 60_000 }, async (program, words) => {
    await fc.assert(
      fc.asyncProperty(text, async (parts) => {
        const input = parts.join('');
        const said = await run(line, [program, ...words.map((word) => `'${word}'`)].join(' '), input);
        // Whether anything was found is its exit code.
        const expected =
          program === 'grep'
            ? theirs('sh', ['-c', `grep ${words.join(' ')}; true`], input)
            : theirs(program, words, input);
        expect(said.stdout).toBe(expected);
      }),
      { numRuns: 25 },
    );
  });
});

describe('files in the shell of the simulated tablet', () => {
  it('stay when they are moved to where they are', async () => {
    expect(await shell('mv f f; mv f ./f; mv f ../t/f; wc -l f')).toEqual(output('5 f\n'));
    expect(await shell('cp f f; echo $?; wc -l f')).toEqual({
      stdout: '1\n5 f\n',
      stderr: "cp: 'f' to 'f': they are the same\n",
      code: 0,
    });
  });

  it.each([
    ['mv f h; ls', 'g\nh\n'],
    ['mkdir d; mv f g d; ls; ls d', 'd\nf\ng\n'],
    ['mkdir -p d/e; echo 1 > d/e/x; mv d h; cat h/e/x; ls', '1\nf\ng\nh\n'],
    ['mv -n f g; cat g', 'x\ny'],
    ['mv -f f g; head -n 1 g; ls', '3 c\ng\n'],
    ['cp f h; cat h | wc -c; ls', '21\nf\ng\nh\n'],
    ['mkdir -p d/e; cp f d/e; cp -r d h; ls h/e', 'f\n'],
    ['cp -n f g; cat g', 'x\ny'],
    ['touch a f; ls; cat a', 'a\nf\ng\n'],
    ['touch -c a; ls', 'f\ng\n'],
    ["chmod 600 f; stat -c '%a %s' f g", '600 21\n644 3\n'],
    ['chmod u=rwx,go-r f; stat -c %A f', '-rwx------\n'],
    ['mkdir -m 700 d; stat -c %a d', '700\n'],
    ['ls -d .', '.\n'],
    ['touch .h; ls; ls -A; ls -a', 'f\ng\n.h\nf\ng\n.\n..\n.h\nf\ng\n'],
    ['ls -S', 'f\ng\n'],
    ['ls -rS', 'g\nf\n'],
    ['mkdir d; cp g d; ls f d', 'f\n\nd:\ng\n'],
    ['mkdir d; cp g d; ls -R', '.:\nd\nf\ng\n\n./d:\ng\n'],
    ['sha256sum < /dev/null | head -c 8', 'e3b0c442'],
    ['md5sum g', '16151ff14c884e2d18c9903202288ba0  g\n'],
    ['cat g - < g', 'x\nyx\ny'],
    ['cd ..; ls t; pwd; cd -', `f\ng\n${HERE}\n${HERE}/t\n`],
    ['cd /sdcard; pwd; echo $PWD; cd ..; pwd', '/sdcard\n/sdcard\n/\n'],
    ['echo z >> g; cat g', 'x\nyz\n'],
    ['A=1; echo $(echo $A; A=2) $A', '1 1\n'],
    ['[ ! -e none ] && [ -f f ] && test -s f && [ 2 -lt 10 ] && echo yes', 'yes\n'],
    ["printf '%s-%d\\n' a 1 b 2", 'a-1\nb-2\n'],
    ['A=$(false) || echo none', 'none\n'],
    ['uname -r -m', '5.10.0 aarch64\n'],
    ['id -un', 'shell\n'],
  ])('%s', async (script, said) => {
    expect(await shell(script)).toEqual(output(said));
  });

  it.each([
    ['touch /nope/x', "touch: '/nope/x': Read-only file system"],
    ['touch none/x', `touch: 'none/x': ${NONE}`],
    ['mv none h', `mv: bad 'none': ${NONE}`],
    ['mv f none/h', `mv: 'f' to 'none/h': ${NONE}`],
    ['mv f g h', "mv: 'h' not directory"],
    ['mkdir d; mv d d/e', "mv: 'd' to 'd/e': Invalid argument"],
    ['mkdir d; mv d f', "mv: 'd' to 'f': Not a directory"],
    ['mkdir d; cp d h', "cp: 'd' to 'h': Is a directory"],
    ['mkdir d; cp -r d d', "cp: 'd' to 'd/d': they are the same"],
    ['cp none h', `cp: bad 'none': ${NONE}`],
    ['rm none', `rm: none: ${NONE}`],
    ['rm', 'rm: Needs 1 argument (see "rm --help")'],
    ['mkdir f', "mkdir: 'f': File exists"],
    ['chmod 644 /system', "chmod: chmod '/system' to 644: Operation not permitted"],
    ['chmod z f', "chmod: bad mode 'z'"],
    ['cat none', `cat: none: ${NONE}`],
    ['stat none', `stat: 'none': ${NONE}`],
    ['df none', `df: 'none': ${NONE}`],
    ["cat ''", `cat: : ${NONE}`],
    ['sleep x', "sleep: bad number 'x'"],
    ['date 010203042026', 'date: cannot set date: Operation not permitted'],
    ["printf '%5q' a", "printf: bad '%5q'@1"],
  ])('%s is told on stderr', async (script, said) => {
    const { stdout, stderr, code } = await shell(script);
    expect([stdout, code]).toEqual(['', 1]);
    expect(stderr).toBe(`${said}\n`);
  });

  it('are not handed on in part where a word would be too long', async () => {
    const bytes = Buffer.from('x'.repeat(200_000));
    expect(await push(tablet.port, key, `${HERE}/wide`, bytes)).toBe('OKAY');
    expect(await shell('echo $(cat ../wide) | wc -c; A=$(cat ../wide); echo $?; rm ../wide')).toEqual({
      stdout: '0\n126\n',
      stderr: '/system/bin/sh: Argument list too long\n'.repeat(2),
      code: 0,
    });
  });

  it('have no names and paths longer than any real one', async () => {
    for (const path of ['a/'.repeat(2100), 'a'.repeat(256)]) {
      expect((await shell(`ls ${path}`)).stderr).toMatch(/: File name too long\n$/);
      expect((await shell(`mkdir -p ${path}`)).code).toBe(1);
    }
  });

  it('tell a folder that cannot be gone to, and a test that is none', async () => {
    expect(await shell('cd none; pwd')).toEqual({
      stdout: `${HERE}/t\n`,
      stderr: `/system/bin/sh: cd: none: ${NONE}\n`,
      code: 0,
    });
    expect(await shell('[ 1 -lt x ]')).toEqual({ stdout: '', stderr: "[: bad number 'x'\n", code: 2 });
    expect(await shell('[ -q f ]')).toEqual({ stdout: '', stderr: '[: unknown operator -q\n', code: 2 });
    expect(await shell('[ f')).toEqual({ stdout: '', stderr: '[: missing ]\n', code: 2 });
  });

  it('are not half written without a word where no room is', async () => {
    await using small = await startTablet({ freeBytes: 1000 });
    using other = await goOnline(small.port, key);
    const script = `cd ${HERE}; printf '%s' '${'x'.repeat(600)}' > a; echo $?; echo more >> a; echo $?; wc -c a; cat a > b`;
    const full = '/system/bin/sh: write: No space left on device\n';
    expect(await run(other, script)).toEqual({ stdout: '0\n1\n600 a\n', stderr: full + full, code: 1 });
    expect((await run(other, `cp ${HERE}/a ${HERE}/c`)).stderr).toContain('No space left on device');
  });
});

describe('options that the simulated tablet does not know', () => {
  it.each(
    [
      'head tail wc sort tr grep cat rm mkdir cp mv chmod touch sha256sum md5sum ls stat df sleep id date uptime uname',
      'getprop reboot pwd whoami',
    ].flatMap((names) => names.split(' ')),
  )('are told by %s', async (name) => {
    const { stdout, stderr, code } = await shell(`${name} -Z f g`);
    expect({ stdout, stderr, code }).toEqual({
      stdout: '',
      stderr: `${name}: Unknown option 'Z' (see "${name} --help")\n`,
      code: 1,
    });
    expect((await shell(`${name} --zzz`)).stderr).toContain("Unknown option 'zzz'");
    expect((await shell(`${name} --help`)).stdout).toMatch(new RegExp(`^usage: ${name}`));
    expect(tablet.state().phase).toBe('running');
  });

  it.each([
    'pm install --zzz x',
    'pm install-create --zzz',
    'pm list packages --zzz',
    'pm path --zzz android',
    'pm disable-user --zzz com.android.email',
    'pm uninstall --user 7 com.android.email',
    'am start --zzz',
    'am force-stop --zzz com.android.email',
    'dpm set-device-owner --zzz a/.B',
    'pm list packages --user',
    'settings put system x',
    'settings put system x 1 2',
    'settings --user 3 get system x',
    'settings zzz system x',
    'wm density 240 -u 5',
    'media volume --zzz',
    'ip route',
    'ip addr --zzz',
    'cmd wifi connect',
    'input zzz',
    'svc power stayon constructor; settings get global stay_on_while_plugged_in | grep -v 0',
  ])('and other things that it does not do are told by: %s', async (script) => {
    const { code } = await shell(script);
    expect(code).not.toBe(0);
    expect((await shell('pm list packages -d')).stdout).toBe('');
  });

  it('are no values: what begins with a dash, and an extra of an activity', async () => {
    expect(await shell('settings put system x -5; settings get --user 0 system x')).toEqual(output('-5\n'));
    const started = await shell('am start --es page a/b -c cat.X -n com.android.settings/.Settings');
    expect(started).toEqual(output('Starting: Intent { cat=[cat.X] cmp=com.android.settings/.Settings }\n'));
  });
});
