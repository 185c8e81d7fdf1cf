// A simulated robot with a gateway serving it, as two processes of their own.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { freePort } from '../test/free-port.ts';
import { gw, isJsonReady, startChild } from './measure.js';

/**
 * `argv`: further arguments of `gw sim`.
 * @returns {Promise<{dir: string, chassisPort: number, operatorPort: number} & AsyncDisposable>}
 */
export async function startSimulator(argv = []) {
  const dir = mkdtempSync(join(tmpdir(), 'gw-bench-'));
  const [chassisPort, operatorPort] = [await freePort(), await freePort()];
  const sim = await startChild(
    process.execPath,
    [
      ...[gw, 'sim', '--dir', dir, '--chassis-port', `${chassisPort}`, '--operator-port', `${operatorPort}`],
      ...['--json', ...argv],
    ],
    isJsonReady,
  );
  return {
    dir,
    chassisPort,
    operatorPort,
    async [Symbol.asyncDispose]() {
      await sim[Symbol.asyncDispose]();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** `stdio` and other options go to the child; `site` is the site file, that of the simulator without it. */
export function startServe(dir, { site = join(dir, 'site.yaml'), ...options } = {}) {
  return startChild(process.execPath, [gw, 'serve', '--site', site, '--json'], isJsonReady, 20_000, options);
}

/** A site file like that of the simulator, but with another port of the chassis. */
export function siteBefore({ dir }, chassisPort) {
  const site = parse(readFileSync(join(dir, 'site.yaml'), 'utf8'));
  site.chassis.port = chassisPort;
  const path = join(dir, 'site-before.yaml');
  writeFileSync(path, stringify(site));
  return path;
}
