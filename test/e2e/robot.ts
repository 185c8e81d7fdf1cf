import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, type Running, startGw } from './gw.ts';

/** A simulated robot in a process of its own, with its site file. */
export interface Robot extends AsyncDisposable {
  readonly dir: string;
  readonly site: string;
  readonly chassisPort: number;
  readonly operatorPort: number;
  readonly sim: Running;
}

export async function startRobot(
  options: { with?: string; chassisPort?: number; evidence?: 'none' } = {},
): Promise<Robot> {
  const dir = mkdtempSync(join(tmpdir(), 'gw-robot-'));
  const [chassisPort, operatorPort] = [options.chassisPort ?? (await freePort()), await freePort()];
  const parts = options.with === undefined ? [] : ['--with', options.with];
  const ports = ['--chassis-port', `${chassisPort}`, '--operator-port', `${operatorPort}`];
  const evidence = options.evidence === undefined ? [] : ['--evidence', options.evidence];
  const sim = startGw(['sim', '--dir', dir, ...ports, ...parts, ...evidence, '--json']);
  await sim.says('"event":"ready"');
  return {
    dir,
    site: join(dir, 'site.yaml'),
    chassisPort,
    operatorPort,
    sim,
    async [Symbol.asyncDispose]() {
      await sim[Symbol.asyncDispose]();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** `gw serve` for this robot, up and ready. */
export async function startServe(site: string): Promise<Running> {
  const serve = startGw(['serve', '--site', site, '--json']);
  await serve.says('"event":"ready"');
  return serve;
}

/** Asks until the answer satisfies; returns it with how long that took. Fails after `limitMs` with the last answer. */
export async function until<T>(ask: () => Promise<T>, satisfies: (answer: T) => boolean, limitMs: number) {
  const began = performance.now();
  let last: T | undefined;
  while (performance.now() - began < limitMs) {
    last = await ask();
    if (satisfies(last)) return { answer: last, tookMs: performance.now() - began };
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error(`not within ${limitMs} ms; last answer: ${JSON.stringify(last)?.slice(0, 2000)}`);
}

/** The live state as the operator server tells it. */
export interface StateAnswer {
  readonly summary: string;
  readonly link: {
    readonly kind: string;
    readonly failure?: string;
    readonly tried: { address: string; port: number };
  };
  readonly identity: { readonly serial: string } | null;
  readonly poseUnit: { readonly verdict: string; readonly doubt: string | null };
  readonly unitContradicted: boolean;
}

export async function chassisState(port: number): Promise<StateAnswer> {
  const reply = await fetch(`http://127.0.0.1:${port}/api/chassis/state`);
  return (await reply.json()) as StateAnswer;
}

export async function page(port: number, path: string): Promise<string> {
  return (await fetch(`http://127.0.0.1:${port}${path}`)).text();
}

export function readJson(path: string): unknown {
  return JSON.parse(readFileSync(path, 'utf8'));
}
