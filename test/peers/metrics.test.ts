import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { gwBinary } from '../e2e/gw.ts';
import { until } from '../waiting.ts';
import { inside, run } from './namespace.ts';
import { hasNamespaces, hasProgram } from './peer.ts';
import { GATEWAY, layNetworks, nameOf, type Side } from './segments.ts';

const hasAll = hasNamespaces() && hasProgram('curl') && hasProgram('promtool');

describe.skipIf(!hasAll)('the metrics of gw serve', () => {
  it('are accepted by promtool, and answered to programs on the gateway alone', async () => {
    using _networks = layNetworks();
    const dir = mkdtempSync(join(tmpdir(), 'gw-metrics-'));
    try {
      const robot = join(dir, 'robot');
      const site = join(robot, 'site.yaml');
      const words = ['sim', '--dir', robot, '--chassis-port', '0', '--with', 'enrolment,cloud', '--json'];
      await using sim = inside(nameOf('gateway'), [gwBinary, ...words]);
      await sim.untilOutput('"event":"ready"');
      const code = join(robot, 'secrets', 'enrolment-code.txt');
      const enrolled = await run(nameOf('gateway'), [gwBinary, 'enrol', '--site', site, '--code-file', code]);
      expect(enrolled).toMatchObject({ code: 0 });
      await using serve = inside(nameOf('gateway'), [gwBinary, 'serve', '--site', site, '--json']);
      await serve.untilOutput('"event":"ready"');
      await until(serve.errors, (text) => text.includes('cloud link: connected'));

      /** Status and body, as a program in that namespace gets them. */
      const ask = async (side: Side, ...more: string[]) => {
        const { stdout } = await run(nameOf(side), ['-sS', '--max-time', '5', '-w', '\n%{http_code}', ...more], {
          program: 'curl',
        });
        const end = stdout.lastIndexOf('\n');
        return { status: Number(stdout.slice(end + 1)), body: stdout.slice(0, end) };
      };
      const socket = join(robot, 'state/local/gw.sock');
      for (const more of [
        ['http://127.0.0.1:5173/metrics'],
        ['http://[::1]:5173/metrics'],
        ['--unix-socket', socket, 'http://localhost/metrics'],
      ]) {
        const { status, body } = await ask('gateway', ...more);
        expect({ more, status }).toEqual({ more, status: 200 });
        const checked = spawnSync('promtool', ['check', 'metrics'], { input: body, encoding: 'utf8' });
        expect({ code: checked.status, out: checked.stdout, err: checked.stderr }).toEqual({
          code: 0,
          out: '',
          err: '',
        });
        for (const line of ['gw_chassis_connected 1', 'gw_cloud_connected 1', 'gw_motion_stop_latched 0']) {
          expect(body.split('\n')).toContain(line);
        }
        // Neither the robot nor its site can be told by it.
        expect(body).not.toMatch(/SIM-0001|Simulated/);
      }

      for (const [side, url] of [
        ['laptop', `http://${GATEWAY}:5173/metrics`],
        ['laptop', `http://${GATEWAY}:5173//metrics`],
        // Its own address in the segment, which is no loopback.
        ['gateway', `http://${GATEWAY}:5173/metrics`],
        ['gateway', 'http://127.0.0.1:5174/metrics'],
      ] as const) {
        const { status, body } = await ask(side, url);
        expect(body).not.toContain('gw_');
        expect({ side, url, status }).toEqual({ side, url, status: url.includes('//metrics') ? 404 : 403 });
      }
      // No header makes another machine one of this.
      for (const header of ['Host: 127.0.0.1', 'X-Forwarded-For: 127.0.0.1', 'Forwarded: for=127.0.0.1']) {
        expect((await ask('laptop', '-H', header, `http://${GATEWAY}:5173/metrics`)).status).toBe(403);
      }
      expect((await ask('laptop', `http://${GATEWAY}:5173/api/health`)).status).toBe(200);
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  });
});
