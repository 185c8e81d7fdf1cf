import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CertificateAuthority, createCa } from '../../../src/lib/sim/cloud/certificates.ts';
import { run } from '../namespace.ts';
import { startAlpnFront, startMosquitto, startWeb } from '../network-peers.ts';
import { BROKER, CHASSIS, ENROLMENT, layNetworks, nameOf, STORAGE, separate, TABLET } from '../segments.ts';
import { ALPN, type Machine, prepare, SERIAL, startSide } from './day.ts';

const programs = {
  chassis: new URL('./chassis-side.ts', import.meta.url),
  tablet: new URL('./tablet-side.ts', import.meta.url),
  enrolment: new URL('./enrolment-side.ts', import.meta.url),
};

export interface World extends AsyncDisposable {
  readonly dir: string;
  /** The CA of the cloud, which also issues the device certificates. */
  readonly cloud: CertificateAuthority;
  readonly chassis: Awaited<ReturnType<typeof startSide>>;
  readonly tablet: Awaited<ReturnType<typeof startSide>>;
  readonly enrolment: Awaited<ReturnType<typeof startSide>>;
  readonly gateway: Machine;
  readonly laptop: Machine;
  /** What a person at the cloud account sends, with QoS 1. */
  publish(topic: string, payload: string): Promise<void>;
  /** Ended with the world, and before all earlier resources. */
  keep<T extends AsyncDisposable>(what: T): T;
}

/** Correct networks, a robot and its tablet, the cloud of the operator, a new gateway and a new laptop. */
export async function startWorld(): Promise<World> {
  await using undo = new AsyncDisposableStack();
  const dir = mkdtempSync(join(tmpdir(), 'gw-commissioning-'));
  undo.defer(() => rmSync(dir, { recursive: true, force: true }));
  undo.use(layNetworks());
  separate();
  const cloud = await createCa({ commonName: 'Cloud CA' });

  const robot = join(dir, 'robot');
  const chassis = undo.use(await startSide('chassis', programs.chassis, [robot, CHASSIS]));
  const tablet = undo.use(await startSide('tablet', programs.tablet, [TABLET, '28']));

  const { caPem, keyPem } = cloud;
  const about = { host: ENROLMENT, authority: { caPem, keyPem }, broker: BROKER, serial: SERIAL, codes: 3 };
  const enrolment = undo.use(await startSide('outside', programs.enrolment, [], JSON.stringify(about)));
  const side = nameOf('outside');
  const broker = undo.use(await startMosquitto(dir, cloud, { side, host: BROKER, port: 8883 }));
  const alpn = { alpn: ALPN, to: broker.plainPort };
  undo.use(await startAlpnFront(dir, cloud, alpn, { side, host: BROKER, port: 443 }));
  undo.use(await startWeb(dir, 'storage', cloud, { side, host: STORAGE, port: 443 }));

  const gateway = await prepare(dir, 'gateway', { authority: cloud, robot });
  const laptop = await prepare(dir, 'laptop', { authority: cloud, robot });
  const running = undo.move();
  return {
    dir,
    cloud,
    chassis,
    tablet,
    enrolment,
    gateway,
    laptop,
    async publish(topic, payload) {
      const to = ['-h', '127.0.0.1', '-p', `${broker.plainPort}`, '-q', '1', '-t', topic, '-m', payload];
      const { code, stderr } = await run(side, to, { program: 'mosquitto_pub' });
      if (code !== 0) throw new Error(`mosquitto_pub ended with ${code}: ${stderr}`);
    },
    keep: (what) => running.use(what),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
