// A simulated robot and its gateway, as two processes.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { freePort } from '../test/free-port.ts';
import { gw, isJsonReady, startChild } from './measure.js';
import { unitEnvironment } from './unit.js';

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

/**
 * In the environment of the unit. `stdio` and other options are for the child process; `site` is the site file, by
 * default that of the simulator; `inside`: a command that runs it.
 */
export function startServe(dir, { site = join(dir, 'site.yaml'), inside = [], ...options } = {}) {
  const [command, ...argv] = [...inside, process.execPath, gw, 'serve', '--site', site, '--json'];
  const env = { ...process.env, ...unitEnvironment };
  return startChild(command, argv, isJsonReady, 20_000, { env, ...options });
}

/** Writes a copy of the simulator's site file with another chassis port. */
export function siteBefore({ dir }, chassisPort) {
  const site = parse(readFileSync(join(dir, 'site.yaml'), 'utf8'));
  site.chassis.port = chassisPort;
  const path = join(dir, 'site-before.yaml');
  writeFileSync(path, stringify(site));
  return path;
}
