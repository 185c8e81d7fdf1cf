import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { gwBinary } from '../e2e/gw.ts';
import { layCable } from './cable.ts';
import { inside, run } from './namespace.ts';
import { hasNamespaces, ip } from './peer.ts';

/** Polls the gateway from inside its namespace until the text is there; returns the time, measured inside. */
async function answerHolds(side: string, path: string, text: string): Promise<string> {
  const script = `
    let body = '';
    while (!body.includes(${JSON.stringify(text)})) {
      body = await fetch('http://127.0.0.1:5173${path}').then((r) => r.text()).catch(String);
      await new Promise((r) => setTimeout(r, 20));
    }
    console.log(body);`;
  return (await run(side, ['--input-type=module', '-e', script])).stdout;
}

describe.skipIf(!hasNamespaces())('a cable between two hosts (network namespaces)', () => {
  it('shows not connected with the address when it is cut, and recovers by itself', async () => {
    using cable = layCable('gw');
    const { near: gatewaySide, far: chassisSide, farAddress: CHASSIS } = cable;
    const dir = mkdtempSync(join(tmpdir(), 'gw-cable-'));
    try {
      await using sim = inside(chassisSide, [
        gwBinary,
        'sim',
        '--dir',
        join(dir, 'sim'),
        '--chassis-port',
        '8090',
        '--json',
      ]);
      await sim.untilOutput('"event":"ready"');
      // The simulator listens on its own loopback only; this forwards its port to the cable.
      const carry = `
        import { connect, createServer } from 'node:net';
        createServer((here) => {
          const there = connect(8090, '127.0.0.1');
          for (const socket of [here, there]) socket.on('error', () => {});
          here.pipe(there).pipe(here);
        }).listen(8090, '${CHASSIS}', () => console.log('carrying'));`;
      await using carrier = inside(chassisSide, ['--input-type=module', '-e', carry]);
      await carrier.untilOutput('carrying');

      mkdirSync(join(dir, 'site'));
      copyFileSync(join(dir, 'sim/evidence.jsonl'), join(dir, 'site/evidence.jsonl'));
      const site = join(dir, 'site/site.yaml');
      writeFileSync(
        site,
        readFileSync(join(dir, 'sim/site.yaml'), 'utf8').replace('host: 127.0.0.1', `host: ${CHASSIS}`),
      );
      await using serve = inside(gatewaySide, [gwBinary, 'serve', '--site', site, '--json']);
      await serve.untilOutput('"event":"ready"');
      expect(await answerHolds(gatewaySide, '/api/chassis/state', '"summary":"connected"')).toContain('"connected"');

      ip('-n', chassisSide, 'link', 'set', cable.farDevice, 'down');
      const state = await answerHolds(gatewaySide, '/api/chassis/state', 'not connected');
      expect(state).toContain('not connected');
      const service = await answerHolds(gatewaySide, '/service', `${CHASSIS}:8090`);
      expect(service).toContain('not connected');
      const address = await run(gatewaySide, [gwBinary, 'chassis', 'address', '--site', site]);
      expect(address.code).toBe(3);
      expect(address.stdout.split('\n')[0]).toContain('not connected');
      expect(address.stdout).toContain(`${CHASSIS}:8090`);

      ip('-n', chassisSide, 'link', 'set', cable.farDevice, 'up');
      const back = await answerHolds(gatewaySide, '/api/chassis/state', '"summary":"connected"');
      expect(back).toContain('"summary":"connected"');
      expect((await run(gatewaySide, [gwBinary, 'chassis', 'address', '--site', site])).code).toBe(0);
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  });
});
