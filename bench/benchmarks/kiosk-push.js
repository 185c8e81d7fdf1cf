import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../../test/free-port.ts';
import { gw, isJsonReady, median, startChild } from '../measure.js';

const ROUNDS = 9;
const PACKAGE_BYTES = 100_000_000;
const run = promisify(execFile);

/** Both go through the same adb server to the same tablet, which is a process of its own. */
export default {
  title: `Transfer of a ${PACKAGE_BYTES / 1e6} MB package to the simulated tablet: gw against adb install`,
  peers: [['adb', 'adb']],
  async run() {
    const { makePackageFile } = await import('../../src/lib/sim/tablet/index.ts');
    const { openBridge } = await import('../../src/lib/kiosk/index.ts');
    const { findAdb, startAdbServer } = await import('../../src/lib/toolkit/kiosk/adb.ts');
    const { loadSite } = await import('../../src/lib/site/index.ts');
    const { systemClock: clock } = await import('../../src/lib/lifecycle/index.ts');
    const dir = mkdtempSync(join(tmpdir(), 'gw-bench-'));
    try {
      const sim = ['sim', '--dir', dir, '--chassis-port', '0', '--operator-port', `${await freePort()}`];
      await using _sim = await startChild(process.execPath, [gw, ...sim, '--with', 'tablet', '--json'], isJsonReady);
      const { tablet } = await loadSite(join(dir, 'site.yaml'));
      const file = join(dir, 'large.apk');
      writeFileSync(file, makePackageFile({ name: 'org.example.large', bytes: PACKAGE_BYTES }));

      const { signal } = new AbortController();
      const adb = await findAdb({ searchPath: process.env.PATH });
      const keyDir = join(dir, 'keys');
      await using server = await startAdbServer({ adb, keyDir, usb: false, clock, signal });
      const id = `${tablet.host}:${tablet.adbPort}`;
      const endpoint = { host: tablet.host, port: tablet.adbPort };
      const sending = { signal, transport: { kind: 'tcp', endpoint, dialled: endpoint }, onBytes: () => {} };
      const words = ['-P', `${server.port}`, '-s', id];
      const call = { signal, timeoutMs: 20_000 };
      const bridge = await openBridge(server.port, clock);
      await bridge.connect(endpoint, call);
      for (let attempts = 0; (await bridge.devices(call))[0]?.state !== 'device'; attempts += 1) {
        if (attempts === 100) throw new Error('the tablet did not connect');
        await clock.sleep(100);
      }

      const rows = { gw: [], adb: [] };
      for (let round = -1; round < ROUNDS; round += 1) {
        const began = performance.now();
        await bridge.push(id, file, '/data/local/tmp/large.apk', sending);
        const pushed = performance.now();
        await run(adb, [...words, 'install', '-r', file], { env: { HOME: keyDir } });
        const installed = performance.now();
        if (round < 0) continue;
        rows.gw.push(pushed - began);
        rows.adb.push(installed - pushed);
      }
      const ratio = median(rows.adb) / median(rows.gw);
      return {
        rows: [
          { name: 'gw, transfer', median: median(rows.gw), unit: 'ms', samples: rows.gw },
          { name: 'adb install', median: median(rows.adb), unit: 'ms', samples: rows.adb },
        ],
        figures: [
          {
            name: 'rate against adb install',
            value: `${ratio.toFixed(2)} ×`,
            target: 'at least 0.7 ×',
            holds: ratio >= 0.7,
          },
        ],
      };
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  },
};
