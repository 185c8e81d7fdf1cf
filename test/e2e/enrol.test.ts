import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runGw } from './gw.ts';
import { type FaultName, type Robot, startRobot } from './robot.ts';

describe('gw enrol, as a technician types it', () => {
  let robot: Robot;
  beforeAll(async () => {
    robot = await startRobot({ with: ['enrolment'] });
  });
  afterAll(async () => {
    await robot?.[Symbol.asyncDispose]();
  });

  const gw = (args: readonly string[], more: object = {}) => runGw([...args, '--site', robot.site], more);
  const codeFile = () => join(robot.dir, 'secrets', 'enrolment-code.txt');
  const code = () => readFileSync(codeFile(), 'utf8').trim();
  const identityDir = () => join(robot.dir, 'identity');
  const fault = (name: FaultName, to: 'on' | 'off') => robot.fault(name, to);

  it('is refused, cut, resumed, shown, refused a second time and renewed', async () => {
    const before = await gw(['enrol', 'status']);
    expect([before.code, before.stdout.split('\n')[0]]).toEqual([1, 'SIM-0001 is not enrolled.']);

    const wrong = await gw(['enrol', '--json'], { input: 'AAAA-BBBB\n' });
    expect(wrong.code).toBe(4);
    expect(JSON.parse(wrong.stdout)).toMatchObject({
      schema: 'gw/enrol/1',
      ok: false,
      error: {
        code: 'ENROLMENT_REFUSED',
        tried: { address: '127.0.0.1', action: 'POST /anmeldung' },
        details: { status: 401 },
      },
    });
    expect(wrong.stdout + wrong.stderr).not.toContain('AAAA-BBBB');

    await fault('enrolment-answer-lost', 'on');
    const cut = await gw(['enrol', '--code-file', codeFile()]);
    expect(cut.code).toBe(3);
    expect(cut.stderr).toContain('nothing is lost');
    await fault('enrolment-answer-lost', 'off');
    const begun = await gw(['enrol', 'status', '--json']);
    expect(JSON.parse(begun.stdout)).toMatchObject({ ok: false, data: { state: 'begun' } });

    const enrolled = await gw(['enrol', '--code-env', 'ENROLMENT_CODE'], { env: { ENROLMENT_CODE: code() } });
    expect([enrolled.code, enrolled.stderr]).toEqual([0, '']);
    expect(enrolled.stdout).toMatch(
      /^SIM-0001 is enrolled by https:\/\/127\.0\.0\.1:\d+, with the key of the interrupted run\./,
    );
    expect(enrolled.stdout).not.toContain('PRIVATE');

    expect(readdirSync(identityDir())).toEqual(['identity.json']);
    expect(statSync(identityDir()).mode & 0o777).toBe(0o700);
    expect(statSync(join(identityDir(), 'identity.json')).mode & 0o777).toBe(0o600);

    const shown = await gw(['enrol', 'status']);
    expect([shown.code, shown.stdout.split('\n')[0]]).toEqual([0, 'SIM-0001 is enrolled, 364 days left.']);
    const fingerprint = /([0-9A-F]{2}:){31}[0-9A-F]{2}/.exec(shown.stdout)?.[0];
    expect(fingerprint).toBeDefined();

    const again = await gw(['enrol', '--code-file', codeFile()]);
    expect([again.code, again.stdout]).toEqual([4, '']);
    expect(again.stderr).toContain('gw enrol --renew');

    const renewed = await gw(['enrol', '--renew', '--json'], { input: `${code()}\n` });
    expect(renewed.code).toBe(0);
    const { data } = JSON.parse(renewed.stdout);
    expect(data).toMatchObject({ replaced: true, resumed: false, clock: { verdict: 'ok' } });
    expect(data.status.identity.certificate.fingerprintSha256).not.toBe(fingerprint);
  });

  it('refuses another chassis than that of the site file, before it reads a code', async () => {
    await fault('wrong-serial', 'on');
    const { code: exit, stderr } = await gw(['enrol', '--renew', '--code-file', '/nonexistent']);
    await fault('wrong-serial', 'off');
    expect(exit).toBe(4);
    expect(stderr).toContain('Check chassis.serial');
  });

  it('accepts no code as an argument, no file that others may read, and not two sources', async () => {
    expect((await gw(['enrol', 'ABCD-EFGH'])).code).toBe(2);
    expect((await gw(['enrol', '--code', 'ABCD-EFGH'])).code).toBe(2);
    expect((await gw(['enrol', '--code-file', codeFile(), '--code-env', 'X'])).code).toBe(2);
    const open = join(robot.dir, 'open-code');
    writeFileSync(open, 'ABCD\n');
    chmodSync(open, 0o644);
    const { code: exit, stderr } = await gw(['enrol', '--renew', '--code-file', open]);
    expect([exit, stderr.includes('chmod 600')]).toEqual([2, true]);
  });

  it('stores no key in a folder that is open to others', async () => {
    const folder = join(robot.dir, 'open');
    mkdirSync(folder);
    chmodSync(folder, 0o755);
    const site = join(robot.dir, 'open-site.yaml');
    writeFileSync(site, readFileSync(robot.site, 'utf8').replace('identityDir: identity', 'identityDir: open'));
    const { code: exit, stderr } = await runGw(['enrol', '--site', site, '--code-file', codeFile()]);
    expect(exit).toBe(4);
    expect(stderr).toContain('chmod 700');
    expect(existsSync(join(folder, 'pending.json'))).toBe(false);
  });
});
