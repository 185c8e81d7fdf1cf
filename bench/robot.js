// A simulated robot with a gateway serving it, as two processes of their own.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, gw, isJsonReady, startChild } from './measure.js';

/** @returns {Promise<{dir: string, chassisPort: number, operatorPort: number} & AsyncDisposable>} */
export async function startSimulator() {
  const dir = mkdtempSync(join(tmpdir(), 'gw-bench-'));
  const [chassisPort, operatorPort] = [await freePort(), await freePort()];
  const sim = await startChild(
    process.execPath,
    [gw, 'sim', '--dir', dir, '--chassis-port', `${chassisPort}`, '--operator-port', `${operatorPort}`, '--json'],
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

export function startServe(dir) {
  return startChild(process.execPath, [gw, 'serve', '--site', join(dir, 'site.yaml'), '--json'], isJsonReady);
}
