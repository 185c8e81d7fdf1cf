import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tree } from '../toolkit/backup/gateway.ts';
import { runGw } from './gw.ts';
import { type Robot, startRobot, startServe } from './robot.ts';

describe('gw gateway backup and restore', () => {
  let robot: Robot;
  beforeAll(async () => {
    robot = await startRobot();
    writeFileSync(join(robot.dir, 'passphrase'), 'four words that nobody knows', { mode: 0o600 });
  });
  afterAll(async () => {
    await robot[Symbol.asyncDispose]();
  });

  it('take the latched stop of a running gateway to another place, where a gateway starts with it', async () => {
    const out = join(robot.dir, 'backup.tar.gz');
    const into = join(robot.dir, 'new');
    const restore = [
      'gateway',
      'restore',
      out,
      '--into',
      into,
      '--write',
      '--passphrase-file',
      join(robot.dir, 'passphrase'),
    ];
    {
      await using _serve = await startServe(robot.site);
      await fetch(`http://127.0.0.1:${robot.operatorPort}/api/stopp`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ reason: 'before the backup' }),
      });
      const words = ['--site', robot.site, '--out', out, '--passphrase-file', join(robot.dir, 'passphrase')];
      const made = await runGw(['gateway', 'backup', ...words, '--json']);
      expect(JSON.parse(made.stdout)).toMatchObject({ error: null });
      expect([0, 1]).toContain(made.code);
      // It answers on the port of the read-only socket, whatever its state folder is.
      const refused = await runGw(restore);
      expect([refused.code, refused.stdout]).toEqual([1, expect.stringContaining('Refused, nothing was written')]);
      expect(refused.stdout).toContain('answers on port 5174');
    }
    const done = await runGw(restore);
    expect(done.stdout).toContain('a stop is latched');
    expect(tree(into)['state/stop-latch.json']).toContain('before the backup');
    await using _restored = await startServe(join(into, 'site.yaml'));
    const answer = await fetch(`http://127.0.0.1:${robot.operatorPort}/api/health`);
    expect(answer.status).toBe(200);
    const status = await runGw(['status', '--site', join(into, 'site.yaml')]);
    expect(status.stdout).toContain('before the backup');
  });
});
