import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createCloud } from '../../src/lib/cloud/cloud.ts';
import type { ReceivedStop } from '../../src/lib/cloud/gate/model.ts';
import type { LinkIdentity } from '../../src/lib/cloud/link/model.ts';
import type { Cloud, CloudOptions, CloudView } from '../../src/lib/cloud/model.ts';
import type { TunnelNotificationWire } from '../../src/lib/cloud/wire.ts';
import { directDialer } from '../../src/lib/net/index.ts';
import type { CertificateAuthority } from '../../src/lib/sim/cloud/certificates.ts';
import { type Cloud as SimulatedCloud, startCloud } from '../../src/lib/sim/cloud/cloud.ts';
import type { FaultName } from '../../src/lib/sim/faults.ts';
import { parseSite } from '../../src/lib/site/index.ts';
import { authority, identity, SERIAL } from './link/world.ts';
import { createSteppedClock, during, type TestClock } from './stepped-clock.ts';

/** The cloud module of one robot against the simulated cloud, over real sockets and in simulated time. */
export interface CloudWorld extends AsyncDisposable {
  readonly sim: SimulatedCloud;
  readonly authority: CertificateAuthority;
  readonly cloud: Cloud;
  readonly clock: TestClock;
  readonly stateDir: string;
  readonly stops: ReceivedStop[];
  readonly notifications: TunnelNotificationWire[];
  /** Errors with which the module has asked to be restarted. */
  readonly failures: unknown[];
  readonly warnings: { readonly fields: Readonly<Record<string, unknown>>; readonly message: string }[];
  /** Read by the module every few seconds. */
  identity: LinkIdentity | null | Error;
  start(): Promise<void>;
  /** Starts it and waits for the connection. */
  connected(): Promise<CloudView>;
  until(what: string, is: () => boolean, maxMs?: number): Promise<unknown>;
  stop(): Promise<void>;
  checkPath(path: Parameters<Cloud['checkPath']>[0]): ReturnType<Cloud['checkPath']>;
  setFault(name: FaultName, on: boolean): Promise<void>;
  /** Another life of the same robot, as after a restart of gw. */
  another(more?: Partial<CloudOptions>): Cloud;
  /** Bodies that the cloud has received on a topic of this robot: `records`, `presence`. */
  received(topic: string): Record<string, unknown>[];
}

export async function cloudWorld(
  more: Partial<CloudOptions> & {
    readonly siteLines?: (dir: string) => string;
    /** Changes the state folder before the module is made. */
    readonly prepare?: (stateDir: string) => void;
  } = {},
): Promise<CloudWorld> {
  const { siteLines = () => '', prepare, ...options } = more;
  const dir = mkdtempSync(join(tmpdir(), 'gw-cloud-'));
  const stateDir = join(dir, 'state');
  mkdirSync(stateDir, { mode: 0o700 });
  prepare?.(stateDir);
  const clock = createSteppedClock();
  const faults = new Set<FaultName>();
  const sim = await startCloud({
    ca: authority,
    faults: { is: (name) => faults.has(name) },
    clock,
    serial: SERIAL,
  });
  const { mqtt } = sim.places;
  const { cloud: config, ...site } = parseSite(
    `name: Lobby
chassis: { host: 127.0.0.1, serial: ${SERIAL} }
cloud:
  mqtt: { host: ${mqtt.host}, port: ${mqtt.port}, fallbackPort: ${mqtt.fallbackPort}, alpn: ${mqtt.alpn} }
${siteLines(dir)}`,
    join(dir, 'site.yaml'),
  );
  if (config === undefined) throw new Error('the site file has no cloud');

  const stops: ReceivedStop[] = [];
  const notifications: TunnelNotificationWire[] = [];
  const warnings: { fields: Record<string, unknown>; message: string }[] = [];
  const failures: unknown[] = [];
  const warn = (fields: object, message: string) => void warnings.push({ fields: { ...fields }, message });
  const ending = new AbortController();
  const made: Cloud[] = [];

  const make = (changes: Partial<CloudOptions> = {}) => {
    const cloud = createCloud({
      site: { ...site, stateDir, cloud: config },
      readIdentity: async () => {
        if (world.identity instanceof Error) throw world.identity;
        return world.identity;
      },
      ...{ dialer: directDialer, clock, log: { debug() {}, info() {}, warn, error: warn }, version: '1.2.3' },
      launched: null,
      onStop: async (stop) => void stops.push(stop),
      onTunnelNotification: (notification) => void notifications.push(notification),
      telemetry: () => ({ battery: null }),
      faults: () => ({ present: [], unchecked: [] }),
      shadow: () => ({ gw: { version: '1.2.3' } }),
      isMoving: () => false,
      releaseHealth: () => ({ isHealthy: true, missing: null }),
      restart: () => {},
      ...options,
      ...changes,
    });
    made.push(cloud);
    return cloud;
  };

  const world: CloudWorld = {
    ...{ sim, authority, clock, stateDir, stops, notifications, failures, warnings, identity },
    get cloud() {
      const cloud = made.at(-1);
      if (cloud === undefined) throw new Error('no cloud module');
      return cloud;
    },
    start: () => world.cloud.start({ signal: ending.signal, fail: (error) => void failures.push(error) }),
    async connected() {
      await world.start();
      await world.until('connected', () => world.cloud.view().status === 'connected');
      return world.cloud.view();
    },
    until: async (what, is, maxMs = 120_000) =>
      await clock.until(what, is, maxMs).catch((error: Error) => {
        throw new Error(`${error.message}; at last: ${JSON.stringify(world.cloud.view())}`);
      }),
    stop: () => during(clock, world.cloud.stop()),
    checkPath: (path) => during(clock, world.cloud.checkPath(path)),
    async setFault(name, on) {
      if (on) faults.add(name);
      else faults.delete(name);
      await sim.applyFault(name, on);
    },
    another: make,
    received: (topic) =>
      sim
        .received()
        .filter((message) => message.topic === `gw/${SERIAL}/${topic}`)
        .map(({ payload }) => JSON.parse(Buffer.from(payload).toString())),
    async [Symbol.asyncDispose]() {
      ending.abort(new Error('the test has ended'));
      await during(clock, Promise.all(made.map((cloud) => cloud.stop())));
      await sim[Symbol.asyncDispose]();
      rmSync(dir, { recursive: true, force: true });
    },
  };
  make();
  return world;
}
