import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runProcess } from '../process.ts';
import { gwBinary, runGw } from './gw.ts';
import { type Robot, startRobot, startServe } from './robot.ts';

const SECRET = 'planted-Secret-0815';

describe('gw support bundle', () => {
  let robot: Robot;
  beforeAll(async () => {
    robot = await startRobot();
    writeFileSync(join(robot.dir, 'password'), SECRET, { mode: 0o600 });
  });
  afterAll(async () => {
    await robot[Symbol.asyncDispose]();
  });
  const bundle = (...words: string[]) =>
    runGw(['support', 'bundle', '--site', robot.site, ...words], { cwd: robot.dir });

  it('holds log, incidents and states of the running gateway, and no secret that was said to it', async () => {
    await using _serve = await startServe(robot.site);
    await fetch(`http://127.0.0.1:${robot.operatorPort}/api/stopp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ reason: `token: ${SECRET}` }),
    });
    const out = join(robot.dir, 'b.tar.gz');
    expect((await bundle('--yes', '--out', out)).code).toBe(0);
    const tar = gunzipSync(readFileSync(out)).toString('latin1');
    for (const name of ['log.json', 'health.json', 'status.json', 'doctor.json', 'incidents.json', 'site.yaml'])
      expect(tar).toContain(name);
    expect(tar).toContain('service started');
    expect(tar).not.toContain(SECRET);
    const listed = await bundle('--dry-run', '--json');
    expect(JSON.parse(listed.stdout)).toMatchObject({ ok: true, data: { state: 'dry-run', path: null, missing: [] } });
  });

  it('is refused, and writes nothing, where there is no terminal to ask at', async () => {
    const refused = await bundle();
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toContain('--dry-run');
    expect(readdirSync(robot.dir).filter((name) => name.startsWith('support-'))).toEqual([]);
  });

  it('leaves nothing on a full disk', async (context) => {
    const full = join(robot.dir, 'full');
    mkdirSync(full);
    const script =
      'mount -t tmpfs -o size=4k none "$1" && head -c 4096 /dev/zero > "$1/fill" && shift && "$@"; code=$?; ls -a full; exit $code';
    const gw = [
      process.execPath,
      gwBinary,
      'support',
      'bundle',
      '--site',
      robot.site,
      '--yes',
      '--out',
      join(full, 'b.tar.gz'),
    ];
    const ended = await runProcess('unshare', ['-m', 'sh', '-c', script, 'sh', full, ...gw], {
      cwd: robot.dir,
      input: '',
    });
    if (/unshare failed|permission denied|must be superuser/i.test(ended.stderr)) context.skip();
    expect(ended.stderr).toContain('no space left on the disk');
    expect(ended.code).not.toBe(0);
    expect(ended.stdout).not.toMatch(/b\.tar\.gz/);
    expect(existsSync(join(full, 'b.tar.gz'))).toBe(false);
  });
});
