import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parsePasswordHash, verifyPassword } from '../../src/lib/operator/sign-in/password-hash.ts';
import { gwBinary, runGw, startGw } from '../e2e/gw.ts';
import { type Robot, startRobot, startServe } from '../e2e/robot.ts';
import { recordFolder } from '../tunnel/audit/folder.ts';
import { endOf, linesOf, startOf } from '../tunnel/records/bodies.ts';
import { until } from '../waiting.ts';
import { hasProgram } from './peer.ts';
import { type Sshd, startSshd } from './sshd.ts';

const isThere = hasProgram('sshd') && hasProgram('ssh-keygen');

interface Envelope {
  readonly ok: boolean;
  readonly data: Record<string, unknown>;
  readonly warnings: readonly string[];
  readonly error: { code: string; message: string; tried?: { via?: string } } | null;
}

describe.skipIf(!isThere)('commands through a real OpenSSH server', () => {
  let robot: Robot;
  let sshd: Sshd;
  let via: string;

  beforeAll(async () => {
    robot = await startRobot();
    const bin = join(robot.dir, 'bin');
    mkdirSync(bin);
    sshd = await startSshd({ binDir: bin });
    sshd.trust();
    installGw(bin, '');
    via = `${sshd.user}@127.0.0.1:${sshd.port}`;
  });
  afterAll(async () => {
    await sshd?.[Symbol.asyncDispose]();
    await robot?.[Symbol.asyncDispose]();
  });

  /** A gw on the remote host; `before` may answer some arguments itself. */
  function installGw(bin: string, before: string): void {
    writeFileSync(join(bin, 'gw'), `#!/bin/sh\n${before}\nexec ${process.execPath} ${gwBinary} "$@"\n`);
    chmodSync(join(bin, 'gw'), 0o755);
  }

  const gw = (...words: string[]) => runGw(words, { env: { HOME: sshd.home } });
  async function json(...words: string[]): Promise<Envelope & { code: number | null; stderr: string }> {
    const { stdout, stderr, code } = await gw(...words, '--json');
    return { ...(JSON.parse(stdout) as Envelope), code, stderr };
  }

  it('reach the chassis and name the route', async () => {
    const at = ['--site', robot.site, '--via', via];
    const others = [
      ['map', 'list'],
      ['overlays', 'inspect'],
      ['evidence', 'list', '--live'],
      ['map', 'backup', '--out', join(robot.dir, 'maps.tar.gz')],
    ];
    const [address, text, probe, ...done] = await Promise.all([
      json('chassis', 'address', ...at),
      gw('chassis', 'address', '--site', robot.site, `--via=${via}`),
      json('chassis', 'probe', ...at, '--for', '2'),
      ...others.map((words) => json(...words, ...at)),
    ]);
    expect(address).toMatchObject({ ok: true, code: 0, data: { state: 'connected', way: `via ${via}` } });
    expect(text.code).toBe(0);
    expect(text.stdout).toContain(via);
    // The robot is at rest, so its unit is undecided: neither green nor an error.
    expect(probe.data).toMatchObject({ verdict: 'not-checked', poseUnit: { verdict: 'not-decided', doubt: null } });
    expect(done.map(({ error }, n) => [others[n], error])).toEqual(others.map((words) => [words, null]));
    await sshd.logged('Accepted publickey');
  });

  it('name the tried address and the jump host when the chassis does not answer', async () => {
    const site = join(robot.dir, 'wrong.yaml');
    writeFileSync(site, 'name: Wrong\nchassis: { host: 127.0.0.1, port: 1, serial: SN0001 }\n');
    const lost = await json('map', 'list', '--site', site, '--via', via);
    expect(lost).toMatchObject({
      code: 3,
      error: { code: 'CHASSIS_NOT_CONNECTED', tried: { address: '127.0.0.1', via } },
    });
    expect((await gw('map', 'list', '--site', site, '--via', via)).stderr).toContain(`127.0.0.1:1 via ${via}`);
  });

  it('check both sockets of the operator server from the gateway itself', async () => {
    await using _serve = await startServe(robot.site);
    const check = await json('operator', 'check', '--site', robot.site, '--via', via);
    const findings = check.data.findings as { id: string; verdict: string; detail: string }[];
    expect(findings.filter(({ verdict }) => verdict === 'wrong')).toEqual([]);
    expect(findings.find(({ id }) => id === 'read-only.loopback')).toMatchObject({ verdict: 'ok' });
  });

  describe('that ask the gateway', () => {
    let laptop: string;
    const asked = [
      ['cloud', 'status', '--accept-undecided'],
      ['cloud', 'discarded'],
      ['tunnel', 'status'],
      ['tunnel', 'sessions'],
      ['tunnel', 'end'],
      ['health', '--accept-undecided'],
      ['status', '--accept-undecided'],
      ['log'],
    ];

    beforeAll(() => {
      // Of another folder than on the gateway, and with a port on which nothing answers there.
      laptop = join(robot.dir, 'laptop.yaml');
      const text = readFileSync(robot.site, 'utf8').replace(`port: ${robot.operatorPort}`, 'port: 1');
      writeFileSync(laptop, text.replace('stateDir: state', 'stateDir: laptop-state'));
    });

    it('use its local socket as root there, also for acts of a signed-in person', async () => {
      await using _serve = await startServe(robot.site);
      const at = ['--site', laptop, '--via', via];
      const answers = await Promise.all(asked.map((words) => json(...words, ...at)));
      expect(answers.map(({ error }, n) => [asked[n], error])).toEqual(asked.map((words) => [words, null]));
      const log = answers.at(-1)?.data as { entries: { message: string }[] };
      expect(log.entries.map(({ message }) => message)).toContain('service started');
      const stop = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"reason":"test"}' };
      await fetch(`http://127.0.0.1:${robot.operatorPort}/api/stopp`, stop);
      const cleared = await json('motion', 'clear', ...at);
      expect(cleared).toMatchObject({ code: 0, data: { cleared: true, wasLatched: true, reason: 'test' } });
    });

    it('list, show and export an incident of the gateway there, into a file here', async () => {
      await using _serve = await startServe(robot.site);
      const at = ['--site', laptop, '--via', via];
      const stop = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"reason":"spill"}' };
      const before = new Date().toISOString();
      await fetch(`http://127.0.0.1:${robot.operatorPort}/api/stopp`, stop);
      const newest = async () => {
        const { data } = await json('incident', 'list', ...at);
        const [found] = data.incidents as { id: number; at: string; causes: { code: string }[] }[];
        return found !== undefined && found.at >= before && found.causes[0]?.code === 'stop' ? found : null;
      };
      const listed = await until(newest, (found) => found !== null);
      if (listed === null) throw new Error('no incident is listed');
      const shown = await json('incident', 'show', String(listed.id), ...at);
      expect(shown).toMatchObject({ code: 0, error: null });
      const out = join(robot.dir, 'via-incident.jsonl');
      const exported = await json('incident', 'export', String(listed.id), '--out', out, ...at);
      expect(exported).toMatchObject({ code: 0, error: null });
      const here = await json('incident', 'show', out);
      expect(here.data).toMatchObject({ head: { id: listed.id } });
      expect(readFileSync(out, 'utf8')).toContain('spill');
      expect((await json('motion', 'clear', ...at)).code).toBe(0);
    });

    it('use its port where the server forwards no sockets, and name the login that could', async () => {
      await using _serve = await startServe(robot.site);
      await using tcpOnly = await startSshd({ config: ['AllowStreamLocalForwarding no'] });
      tcpOnly.trust();
      const at = ['--site', robot.site, '--via', `${tcpOnly.user}@127.0.0.1:${tcpOnly.port}`, '--json'];
      const run = (...words: string[]) => runGw([...words, ...at], { env: { HOME: tcpOnly.home } });
      expect(await run('tunnel', 'status')).toMatchObject({ code: 0 });
      const { code, stdout } = await run('tunnel', 'sessions');
      const { error } = JSON.parse(stdout) as { error: { code: string; remedy: string } };
      expect([code, error.code]).toEqual([4, 'NOT_SIGNED_IN']);
      expect(error.remedy).toContain('--via');
    });
  });

  it('run the steps of a checklist, none of them on the wrong machine', async () => {
    const list = join(robot.dir, 'via.yaml');
    const step = (id: string, run: string, expected: string) =>
      `  - { id: ${id}, title: T, proves: P, run: ${run}, expect: { ${expected} }, remedy: R }`;
    const lines = ['schema: gw/checklist/1', 'name: via', 'title: T', 'purpose: P', 'steps:'];
    writeFileSync(
      list,
      [
        ...lines,
        step('near', 'chassis address', 'state: connected'),
        step('there', 'heartbeat check', 'verdict: ok'),
        '',
      ].join('\n'),
    );
    const run = await json('checklist', 'run', list, '--site', robot.site, '--via', via);
    expect(run.code).toBe(1);
    expect(run.data.steps).toMatchObject([{ id: 'near', verdict: 'ok' }, { id: 'there' }]);
    expect(JSON.stringify(run.data.steps)).toContain('This check must run on the gateway itself');
  });

  /** A machine under load answers late: what gw says of that is true. */
  const beside = (stderr: string) => stderr.replace(/^.*The SSH link to \S+ is slow: .*\n/gm, '');

  it('run on the remote host where they listen by UDP, and stream events', async () => {
    const sniffed = await gw('heartbeat', 'sniff', '--no-key', '--for', '3', '--via', via, '--json');
    const events = sniffed.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { event: string });
    expect(beside(sniffed.stderr)).toBe('');
    expect(sniffed.code).toBe(0);
    expect(events.length).toBeGreaterThan(1);
    expect(events.at(-1)?.event).toBe('ended');
    expect(events.filter(({ event }) => event === 'ended')).toHaveLength(1);
    const shown = await gw('heartbeat', 'sniff', '--no-key', '--for', '2', '--via', via);
    expect([shown.code, beside(shown.stderr)]).toEqual([0, '']);
    expect(shown.stdout.length).toBeGreaterThan(0);
  });

  it('examine the installation of the remote host, also without its site file', async () => {
    const there = await json('doctor', '--site', robot.site, '--via', via);
    expect(there).toMatchObject({ error: null, data: { site: robot.site } });
    const lines = there.data.lines as { id: string; verdict: string }[];
    expect(lines.find(({ id }) => id === 'site-file')).toMatchObject({ verdict: 'ok' });
    const missing = await json('doctor', '--site', 'none.yaml', '--via', via);
    expect(missing).toMatchObject({ code: 1, error: null, data: { verdict: 'not-checked' } });
  });

  it('bring the support bundle of the remote host here, and list one without a file', async () => {
    const out = join(robot.dir, 'via-support.tar.gz');
    const at = ['support', 'bundle', '--site', robot.site, '--via', via];
    expect(await json(...at, '--dry-run')).toMatchObject({ code: 0, data: { state: 'dry-run', path: null } });
    const made = await json(...at, '--yes', '--out', out);
    expect(made).toMatchObject({ code: 0, data: { state: 'written', path: out, archive: null } });
    expect(createHash('sha256').update(readFileSync(out)).digest('hex')).toBe(made.data.sha256);
    expect(statSync(out).mode & 0o777).toBe(0o600);
    expect(await json(...at, '--yes', '--out', out)).toMatchObject({ code: 2, error: { code: 'FILE_EXISTS' } });
  });

  it('pass on errors and exit code of the remote host, prefixed with its name', async () => {
    const missing = await json('heartbeat', 'check', '--site', "it's not there.yaml", '--via', via);
    expect(missing).toMatchObject({ code: 2, error: { code: 'SITE_FILE_NOT_FOUND' } });
    expect(missing.error?.message).toContain(`On ${via}: `);
    expect(missing.error?.message).toContain("it's not there.yaml");
    const usage = await json('heartbeat', 'sniff', '--for', '0', '--via', via);
    expect(usage).toMatchObject({ code: 2, error: { code: 'USAGE' } });
  });

  it('audit the session records of the remote host, and take no copy of the cloud from there', async () => {
    using folder = recordFolder({ 'sessions.jsonl': linesOf([startOf(1), endOf(1)]) });
    const audit = ['tunnel', 'audit', '--records', folder.dir, '--via', via];
    expect(await json(...audit)).toMatchObject({
      code: 1,
      error: null,
      data: { verdict: 'not-decided', local: 'ok', recordsPath: folder.dir, records: 2 },
    });
    expect((await gw(...audit)).stdout).toMatch(/^Not decided: 1 support session, no finding, records 1 to 2; /);
    const compared = await json(...audit, '--cloud', folder.path('sessions.jsonl'));
    expect(compared).toMatchObject({ code: 2, data: null, error: { code: 'USAGE' } });
  });

  it('set keys and secrets there, which are in no command line', async () => {
    await using other = await startRobot({ with: ['enrolment', 'password'] });
    const log = join(other.dir, 'argv.log');
    installGw(join(robot.dir, 'bin'), `echo "$@" >> ${log}`);
    const secret = (name: string) => join(other.dir, 'secrets', name);
    const at = ['--site', other.site, '--via', via, '--json'];
    const run = async (words: string[], more: object = {}) => {
      const { stdout, stderr, code } = await runGw([...words, ...at], { env: { HOME: sshd.home }, ...more });
      return { ...(JSON.parse(stdout) as Envelope), all: stdout + stderr, code };
    };
    const isPassword = async (password: string) => {
      const hash = parsePasswordHash(readFileSync(secret('device-password'), 'utf8').trim());
      return hash !== null && (await verifyPassword(password, hash));
    };
    const set = await run(['operator', 'password'], { input: 'correct horse battery\n' });
    expect(set).toMatchObject({ code: 0, data: { file: secret('device-password'), replaced: true } });
    expect(await isPassword('correct horse battery')).toBe(true);
    const short = await run(['operator', 'password'], { input: 'x\n' });
    expect(short).toMatchObject({ code: 2, error: { code: 'USAGE' } });
    // A file of this machine, which the remote host need not have.
    const mine = join(sshd.home, 'password.txt');
    writeFileSync(mine, 'another horse battery\n', { mode: 0o600 });
    expect((await run(['operator', 'password', '--password-file', mine])).code).toBe(0);
    expect(await isPassword('another horse battery')).toBe(true);

    const key = await run(['heartbeat', 'key', 'new', secret('heartbeat')]);
    expect([key.code, readFileSync(secret('heartbeat'), 'utf8')]).toEqual([
      0,
      expect.stringMatching(/^[0-9a-f]{64}\n$/),
    ]);

    const code = readFileSync(secret('enrolment-code.txt'), 'utf8').trim();
    const wrong = await run(['enrol', '--code-env', 'CODE'], { env: { HOME: sshd.home, CODE: 'AAAA-BBBB' } });
    expect(wrong).toMatchObject({ code: 4, error: { code: 'ENROLMENT_REFUSED' } });
    const enrolled = await run(['enrol'], { input: `${code}\n` });
    expect(enrolled).toMatchObject({ code: 0, ok: true });
    for (const text of ['correct horse', 'another horse', 'AAAA-BBBB', code, mine]) {
      expect(readFileSync(log, 'utf8') + set.all + wrong.all + enrolled.all).not.toContain(text);
    }
    installGw(join(robot.dir, 'bin'), '');
  });

  it('end on the remote host when they are interrupted', async () => {
    await using sniff = startGw(['heartbeat', 'sniff', '--no-key', '--via', via, '--json'], {
      env: { HOME: sshd.home },
    });
    await sniff.untilOutput('"event":"state"');
    const { code } = await sniff.end('SIGINT');
    expect([0, 130]).toContain(code);
  });

  it('report another version there, a missing gw, and an invalid answer', async () => {
    const bin = join(robot.dir, 'bin');
    try {
      installGw(bin, 'if [ "$1" = --version ]; then echo "gw/9.9.9 linux-x64 node-v99"; exit 0; fi');
      const other = await gw('heartbeat', 'sniff', '--no-key', '--for', '1', '--via', via, '--json');
      expect(other.code).toBe(0);
      expect(other.stderr).toContain('9.9.9');
      installGw(bin, 'echo "Welcome to the robot"; echo "{\\"schema\\":\\"x\\",\\"ok\\":true}"; exit 0');
      const nonsense = await json('heartbeat', 'check', '--via', via);
      expect(nonsense).toMatchObject({ code: 3, error: { code: 'REMOTE_GW_BAD_ANSWER' } });
      installGw(bin, 'echo "sh: 1: gw: not found" >&2; exit 127');
      const missing = await json('heartbeat', 'check', '--via', via);
      expect(missing).toMatchObject({ code: 3, error: { code: 'REMOTE_GW_MISSING' } });
    } finally {
      installGw(bin, '');
    }
  });

  it('do not trust an unknown host where no person can be asked', async () => {
    await using stranger = await startSshd();
    const words = ['chassis', 'address', '--site', robot.site, '--via', `127.0.0.1:${stranger.port}`, '--json'];
    const { stdout, code } = await runGw(words, { env: { HOME: stranger.home } });
    expect(code).toBe(4);
    const { error } = JSON.parse(stdout) as Envelope;
    expect(error?.code).toBe('SSH_HOST_KEY_UNKNOWN');
    expect(error?.message).toMatch(/SHA256:\S{43}/);
    const none = await gw('chassis', 'address', '--site', robot.site, '--via', '-oProxyCommand=x');
    expect(none.code).toBe(2);
  });

  it('end at once when the connection is lost', async () => {
    await using brittle = await startSshd();
    brittle.trust();
    const words = ['chassis', 'watch', '--site', robot.site, '--via', `127.0.0.1:${brittle.port}`, '--json'];
    await using watch = startGw(words, { env: { HOME: brittle.home } });
    await watch.untilOutput('"kind":"connected"');
    await brittle.stop();
    await until(
      () => watch.child.exitCode,
      (code) => code !== null,
    );
    expect(watch.child.exitCode).toBe(3);
    expect(watch.stdout()).toContain('"SSH_LOST"');
  });
});
