import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { renderDoctor } from '../../../src/cli/render/doctor.ts';
import { hashPassword } from '../../../src/lib/operator/index.ts';
import { timeSource } from '../../../src/lib/toolkit/doctor/clock.ts';
import { doctorSchema } from '../../../src/lib/toolkit/doctor/doctor.result.ts';
import { examine, thisMachine } from '../../../src/lib/toolkit/doctor/doctor.ts';
import type { DoctorHost } from '../../../src/lib/toolkit/doctor/host.ts';
import { isAtLeast } from '../../../src/lib/toolkit/doctor/runtime.ts';
import { differentSettings, propertiesOf } from '../../../src/lib/toolkit/doctor/unit.ts';
import { freePort } from '../../free-port.ts';
import { forAll, has, sharedFolder } from '../kit.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url)).replace(/\/$/, '');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };

const dir = sharedFolder();
let site: string;
let port: number;
let server: Server;
let answer = '';
beforeAll(async () => {
  site = join(dir, 'site.yaml');
  port = await freePort();
  writeFileSync(
    site,
    `name: T\nchassis: { host: 127.0.0.1, port: 1, serial: S1 }\noperator: { port: ${port}, passwordFile: password }\n`,
  );
  chmodSync(site, 0o644);
  // As docs/install.md installs it: with the folder of this installation.
  const shipped = readFileSync(join(root, 'packaging/gw.service'), 'utf8');
  writeFileSync(join(dir, 'gw.service'), shipped.replaceAll('/usr/local/lib/node_modules/gw', root));
  writeFileSync(join(dir, 'password'), await hashPassword('a long enough password'));
  chmodSync(join(dir, 'password'), 0o600);
  mkdirSync(join(dir, 'state'));
  server = createServer((_request, response) => response.end(answer));
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
});
afterAll(() => {
  server.close();
});

const missing = (program: string) => Promise.reject(Object.assign(new Error(program), { code: 'ENOENT' }));
const socket = (at: number, name = 'other') => ({
  ...{ protocol: 'tcp' as const, address: '127.0.0.1', port: at, inode: 1 },
  owners: [{ pid: 7, name }],
});

function host(over: Partial<DoctorHost> = {}): DoctorHost {
  const signal = new AbortController().signal;
  const given = {
    version,
    folder: root,
    node: { version: '24.0.0', path: '/usr/bin/node' },
    home: dir,
    path: '/bin',
    signal,
  };
  return {
    ...thisMachine(given),
    run: missing,
    completionFiles: [join(dir, 'gw.bash')],
    sockets: async () => [],
    space: async () => ({ freeBytes: 1e12, freeInodes: 1e6 }),
    ...over,
  };
}

async function lineOf(id: string, over: Partial<DoctorHost> = {}, path = site) {
  const result = await examine(path, host(over));
  expect(doctorSchema.safeParse(result).success).toBe(true);
  return result.lines.find((line) => line.id === id) ?? { verdict: `no line ${id}`, detail: '', remedy: null };
}

const unit = (over: Record<string, string> = {}) => {
  const shown = {
    LoadState: 'loaded',
    ActiveState: 'active',
    UnitFileState: 'enabled',
    FragmentPath: join(dir, 'gw.service'),
    DropInPaths: '',
    NeedDaemonReload: 'no',
    ...over,
  };
  return {
    run: async (program: string) =>
      program === 'systemctl'
        ? Object.entries(shown)
            .map((pair) => pair.join('='))
            .join('\n')
        : missing(program),
  };
};
const prints = (wanted: string, text: string): Partial<DoctorHost> => ({
  run: (program) => (program === wanted ? Promise.resolve(text) : missing(program)),
});
const wall = (ms: number): Partial<DoctorHost> => ({ clock: { wall: () => new Date(ms) } });

describe('gw doctor', () => {
  it.each<[string, string, Partial<DoctorHost>, string]>([
    ['an old Node.js', 'node', { node: { version: '20.1.0', path: '/usr/bin/node' } }, 'wrong'],
    ['a sufficient Node.js', 'node', {}, 'ok'],
    ['another package below it', 'gw', { version: '9.9.9' }, 'wrong'],
    ['no package below it', 'node', { folder: '/nonexistent' }, 'not-checked'],
    ['a secret of its owner', 'operator-password', {}, 'ok'],
    ['a clock of 1970', 'clock-time', wall(0), 'wrong'],
    ['a clock before the site file', 'clock-time', wall(Date.UTC(2026, 0, 2)), 'wrong'],
    ['a clock of the far future', 'clock-time', wall(Date.UTC(2126, 0, 2)), 'ok'],
    ['no program that knows the source of the time', 'clock-source', {}, 'not-checked'],
    ['a synchronised clock', 'clock-source', prints('timedatectl', 'NTP=yes\nNTPSynchronized=yes\n'), 'ok'],
    ['a clock that is not', 'clock-source', prints('timedatectl', 'NTP=no\nNTPSynchronized=no\n'), 'not-checked'],
    ['garbage for it', 'clock-source', prints('timedatectl', 'NTPSynchronized=maybe'), 'not-checked'],
    ['little space', 'disk-space', { space: async () => ({ freeBytes: 1e6, freeInodes: 1e6 }) }, 'wrong'],
    ['much space', 'disk-space', {}, 'ok'],
    ['few inodes', 'disk-inodes', { space: async () => ({ freeBytes: 1e12, freeInodes: 3 }) }, 'wrong'],
    ['uncounted inodes', 'disk-inodes', { space: async () => ({ freeBytes: 1e12, freeInodes: null }) }, 'not-checked'],
    ['the state of no other robot', 'disk-robots', {}, 'ok'],
    ['a disk that fails', 'disk-space', { space: () => missing('EIO') }, 'not-checked'],
    ['a free port', 'port-operator', {}, 'ok'],
    ['unreadable sockets', 'port-operator', { sockets: () => missing('proc') }, 'not-checked'],
    ['no gateway', 'version-running', {}, 'not-checked'],
    ['no systemctl', 'unit-installed', {}, 'not-checked'],
    ['no unit', 'unit-installed', unit({ LoadState: 'not-found' }), 'not-applicable'],
    ['a bad unit', 'unit-installed', unit({ LoadState: 'bad-setting' }), 'wrong'],
    ['the unit', 'unit-settings', unit(), 'ok'],
    ['another unit', 'unit-settings', unit({ FragmentPath: '/etc/hostname' }), 'wrong'],
    [
      'a unit that starts what is not here',
      'unit-settings',
      unit({ FragmentPath: join(root, 'packaging/gw.service') }),
      'wrong',
    ],
    ['an unread unit', 'unit-settings', unit({ NeedDaemonReload: 'yes' }), 'wrong'],
    ['a unit with additions', 'unit-settings', unit({ DropInPaths: '/etc/x.conf' }), 'not-checked'],
    ['a missing unit file', 'unit-settings', unit({ FragmentPath: '/nonexistent' }), 'not-checked'],
    ['an active unit', 'unit-active', unit(), 'ok'],
    ['a failed unit', 'unit-active', unit({ ActiveState: 'failed' }), 'wrong'],
    ['a disabled unit', 'unit-enabled', unit({ UnitFileState: 'disabled' }), 'wrong'],
    ['an enabled unit', 'unit-enabled', unit(), 'ok'],
    ['no completion', 'completion', {}, 'not-checked'],
  ])('%s: %s', async (_what, id, over, verdict) => {
    const line = await lineOf(id, over);
    expect(line.verdict).toBe(verdict);
    if (verdict === 'wrong') expect(line.remedy).not.toBeNull();
  });

  it('distinguishes a port of gw serve from one of another program', async () => {
    const held = { sockets: async () => [socket(port)] };
    answer = '<h1>hello</h1>';
    expect(await lineOf('port-operator', held)).toMatchObject({ verdict: 'wrong', detail: has('other') });
    answer = JSON.stringify({ version, status: 'ok', upForMs: 1 });
    expect(await lineOf('port-operator', held)).toMatchObject({ verdict: 'ok', detail: `held by gw serve ${version}` });
    expect(await lineOf('version-running', held)).toMatchObject({ verdict: 'ok' });
    answer = JSON.stringify({ version: '0.0.1', status: 'ok', upForMs: 1 });
    expect(await lineOf('version-running', held)).toMatchObject({
      verdict: 'wrong',
      remedy: 'sudo systemctl restart gw',
    });
  });

  it('judges the clock by what the running gateway compared, and needs none where none is configured', async () => {
    const held = { sockets: async () => [socket(port)] };
    const clock = {
      ...{ behindMs: 100, uncertainMs: 600, ageMs: 120_000, from: ['a', 'b'], jumps: 0, lastJump: null },
      ...{ detail: 'd.', remedy: null },
    };
    const answers = (status: string) => {
      answer = JSON.stringify({ version, status: 'ok', upForMs: 1, clock: { ...clock, status } });
    };
    answers('wrong');
    expect((await lineOf('clock-compared', held)).verdict).toBe('not-applicable');
    const before = readFileSync(site, 'utf8');
    writeFileSync(site, `${before}time: { urls: ["https://a.example", "https://b.example"] }\n`);
    try {
      for (const [status, verdict] of [
        ['ok', 'ok'],
        ['wrong', 'wrong'],
        ['not-decided', 'not-checked'],
        ['not-checked', 'not-checked'],
        ['not-configured', 'not-checked'],
      ] as const) {
        answers(status);
        expect({ status, verdict: (await lineOf('clock-compared', held)).verdict }).toEqual({ status, verdict });
      }
      answers('ok');
      expect((await lineOf('clock-compared', held)).detail).toBe('d. Compared 2 min ago.');
      answer = JSON.stringify({ version, status: 'ok', upForMs: 1 });
      expect((await lineOf('clock-compared', held)).verdict).toBe('not-checked');
      expect((await lineOf('clock-compared', {})).verdict).toBe('not-checked');
    } finally {
      writeFileSync(site, before);
    }
  });

  it('runs without a site file and with an invalid one, and says what was not checked', async () => {
    expect(await lineOf('site-file', {}, join(dir, 'none.yaml'))).toMatchObject({ verdict: 'not-checked' });
    const bad = join(dir, 'bad.yaml');
    for (const text of ['nmae: x\n', ': [', '\u0000\u0001']) {
      writeFileSync(bad, text);
      const { lines, verdict } = await examine(bad, host());
      expect(verdict).toBe('wrong');
      expect(lines.filter((line) => line.id === 'site-file')).toMatchObject([{ verdict: 'wrong' }]);
      expect(lines.find((line) => line.id === 'disk-space')).toMatchObject({ verdict: 'not-checked' });
      expect(lines.find((line) => line.id === 'program-getent')).toMatchObject({ verdict: 'ok' });
    }
    expect((await examine(dir, host())).lines.find((line) => line.id === 'site-file')?.verdict).not.toBe('ok');
  });

  it('begins with the command that makes a site file where there is none', async () => {
    const text = renderDoctor(await examine(join(dir, 'none.yaml'), host()));
    expect(text.split('\n')[0]).toContain(`No site file. Create it with \`gw site init ${join(dir, 'none.yaml')}\``);
    expect(renderDoctor(await examine(site, host())).split('\n')[0]).toMatch(/Installation/);
  });

  it('finds a secret and a site file that others may use', async () => {
    chmodSync(join(dir, 'password'), 0o644);
    expect(await lineOf('operator-password')).toMatchObject({ verdict: 'wrong', remedy: has('chmod 600') });
    chmodSync(join(dir, 'password'), 0o600);
    chmodSync(site, 0o666);
    expect(await lineOf('site-file')).toMatchObject({ verdict: 'wrong', remedy: `chmod go-w ${site}` });
    chmodSync(site, 0o644);
  });

  it('is ok as a whole only when no line is open, but for optional ones', async () => {
    const { lines, verdict } = await examine(site, host());
    expect(verdict).toBe('not-checked');
    const text = renderDoctor(await examine(site, host()));
    // What is open comes first, whichever group it is of.
    expect(text.indexOf('Unit of systemd')).toBeLessThan(text.indexOf('Runtime'));
    expect(lines.find((line) => line.id === 'completion')?.need).toBe('optional');
  });

  it('finds the completion in a start file of the shell, and not in a comment', async () => {
    writeFileSync(join(dir, 'gw.bash'), 'complete');
    expect(await lineOf('completion')).toMatchObject({ verdict: 'ok' });
    rmSync(join(dir, 'gw.bash'));
    writeFileSync(join(dir, '.bashrc'), '# gw completion script bash\n');
    expect(await lineOf('completion')).toMatchObject({ verdict: 'not-checked' });
    writeFileSync(join(dir, '.bashrc'), 'eval $(gw completion script bash)\n');
    expect(await lineOf('completion')).toMatchObject({ verdict: 'ok' });
  });
});

describe('what programs of the system print', () => {
  it('is never a synchronised clock unless they say so', { tags: 'property' }, () => {
    const isHonest = (one: string, other: string) => {
      const found = timeSource(one, other);
      if (found?.isSynchronised) expect(`${one}\n${other}`).toMatch(/NTPSynchronized=yes|Leap status\s*: Normal/);
    };
    const words = fc.constantFrom(
      'NTPSynchronized=',
      'yes',
      'no',
      'NTP=',
      '\n',
      'Leap status     : ',
      'Normal',
      'Not synchronised',
    );
    const texts = fc.oneof(
      fc.string(),
      fc.array(words).map((all) => all.join('')),
    );
    forAll(texts, texts, isHonest);
    expect(
      timeSource('NTPSynchronized=yes', 'Reference ID    : 00000000 ()\nLeap status     : Not synchronised\n'),
    ).toMatchObject({ isSynchronised: false });
    expect(timeSource(null, 'Reference ID    : 7F7F0101 (192.0.2.1)\nLeap status     : Normal\n')?.isSynchronised).toBe(
      true,
    );
  });

  it('is read without an exception, and two unit files differ by their settings alone', { tags: 'property' }, () => {
    forAll(fc.string(), (text) => void propertiesOf(text));
    forAll(fc.string(), fc.string(), (one, other) => void differentSettings(one, other));
    forAll(fc.string(), (text) => differentSettings(text, `# note\n\n${text}`).length === 0);
    expect(propertiesOf('A=b=c\n__proto__=x\n')).toMatchObject({ A: 'b=c' });
    expect(differentSettings('[Service]\nA=1\nA=2\n', '[Service]\nA=2\nA=1\n')).toEqual(['[Service] A']);
    expect(differentSettings('[A]\nX=1', '[B]\nX=1')).toEqual(['[A] X', '[B] X']);
  });

  it('is compared by numbers', () => {
    expect(['24.0.0', '22.19.0', '22.18.9', '9.99.0'].map((one) => isAtLeast(one, '22.19'))).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });
});
