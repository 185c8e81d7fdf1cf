import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { anyVersion, runLowered } from '../net/probe/lowered-tls.ts';
import { startProcess } from '../process.ts';
import { hasProgram } from './peer.ts';

describe.skipIf(!hasProgram('openssl'))('openssl s_server of TLS 1.1', () => {
  let dir: string;
  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), 'gw-tls-'));
    const words = 'req -x509 -newkey rsa:2048 -nodes -keyout key -out cert -days 2 -subj /CN=localhost'.split(' ');
    expect(spawnSync('openssl', words, { cwd: dir }).status).toBe(0);
  });
  afterAll(() => rmSync(dir, { recursive: true, force: true }));

  it('is rejected by gw, even where NODE_OPTIONS allows it and other clients accept it', async () => {
    const words = ['s_server', '-accept', '127.0.0.1:0', '-key', 'key', '-cert', 'cert', '-www', '-tls1_1'];
    await using server = startProcess('openssl', [...words, '-cipher', 'ALL:@SECLEVEL=0'], { cwd: dir });
    await expect.poll(server.stdout).toMatch(/ACCEPT 127\.0\.0\.1:\d+/);
    const port = Number(/ACCEPT 127\.0\.0\.1:(\d+)/.exec(server.stdout())?.[1]);
    const outcome = await runLowered(`${anyVersion}
      import { connect as tcp } from 'node:net';
      import { probeTls } from './src/lib/net/probe/index.ts';
      const plain = await protocolAt(${port});
      const { kind, failure } = await probeTls(tcp(${port}, '127.0.0.1'), {
        host: 'localhost', trusted: null, timeoutMs: 20_000, signal: new AbortController().signal,
      });
      console.log(JSON.stringify({ plain, kind, failure }));
      process.exit(0);
    `);
    expect(outcome).toEqual({
      plain: 'TLSv1.1',
      kind: 'failed',
      failure: { kind: 'alert', alert: 'protocol version' },
    });
  });
});
