import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Sim, type SimOptions, startSim } from '../../src/lib/sim/index.ts';
import { freePort } from '../free-port.ts';
import { until } from '../waiting.ts';
import { type Running, type RunOptions, startGw } from './gw.ts';

export { until };

/** A simulated robot with its site file, in this process: that saves a process start for each robot and fault. */
export interface Robot extends AsyncDisposable {
  readonly dir: string;
  readonly site: string;
  readonly chassisPort: number;
  readonly operatorPort: number;
  readonly sim: Sim;
  /** Switches faults, and waits until they are active. */
  fault(name: FaultName, state: 'on' | 'off'): Promise<void>;
}

export type FaultName = Parameters<Sim['setFault']>[0];

export async function startRobot(options: Pick<SimOptions, 'with' | 'evidence' | 'speedMS'> = {}): Promise<Robot> {
  const dir = mkdtempSync(join(tmpdir(), 'gw-robot-'));
  const operatorPort = await freePort();
  const sim = await startSim({ ...options, dir, operatorPort });
  return {
    dir,
    site: join(dir, 'site.yaml'),
    chassisPort: sim.chassis.port,
    operatorPort,
    sim,
    async fault(name, state) {
      sim.setFault(name, state === 'on');
      await sim.settled();
    },
    async [Symbol.asyncDispose]() {
      await sim[Symbol.asyncDispose]();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** `gw serve` for this robot, up and ready. */
export async function startServe(site: string, options?: RunOptions): Promise<Running> {
  const serve = startGw(['serve', '--site', site, '--json'], options);
  await serve.untilOutput('"event":"ready"');
  return serve;
}

/** The live state reported by the operator server. */
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
  readonly standing: { readonly verdict: string };
}

export async function chassisState(port: number): Promise<StateAnswer> {
  const reply = await fetch(`http://127.0.0.1:${port}/api/chassis/state`);
  return (await reply.json()) as StateAnswer;
}

/** Turns the robot by hand until its gateway has seen the unit of its heading, then until it stands. */
export async function showUnit({ fault, operatorPort }: Robot): Promise<void> {
  await fault('turned-by-hand', 'on');
  await until(
    () => chassisState(operatorPort),
    ({ poseUnit }) => poseUnit.verdict === 'degrees',
  );
  await fault('turned-by-hand', 'off');
  await until(
    () => chassisState(operatorPort),
    ({ standing }) => standing.verdict === 'stands',
  );
}

export function readJson(path: string): unknown {
  return JSON.parse(readFileSync(path, 'utf8'));
}
