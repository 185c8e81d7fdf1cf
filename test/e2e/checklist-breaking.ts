import { chmod, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { expect } from 'vitest';
import { createCa, type Validity } from '../../src/lib/sim/cloud/certificates.ts';
import type { FaultName } from '../../src/lib/sim/faults.ts';
import type { SiteText, World } from './checklist-world.ts';

type Undo = () => unknown;

export interface Row<W extends World = World> {
  /** The fault, in the terms of a technician. */
  readonly fault: string;
  /** Injects the fault; returns its repair. */
  readonly brings: (world: W) => Undo | Promise<Undo>;
  /** Steps as `list/step`, with the required reason of each. */
  readonly fails: readonly (readonly [pairs: string, ...says: readonly RegExp[]])[];
  /** The fault occurs between the step and its needs: these were ok, and are not run again. */
  readonly options?: (world: W, list: string) => Parameters<World['run']>[1];
  /** An unreadable site file identifies no run to resume. */
  readonly isFresh?: true;
}

export const simFault =
  (...names: FaultName[]): Row['brings'] =>
  async ({ sim }) => {
    for (const name of names) sim.setFault(name, true);
    await sim.settled();
    return async () => {
      for (const name of names) sim.setFault(name, false);
      await sim.settled();
    };
  };

/** Changes a file of the robot; the repair restores its old text. */
export const fileFault =
  (name: string | ((world: World) => string), change: (text: string) => string): Row['brings'] =>
  async (world) => {
    const path = join(world.dir, typeof name === 'string' ? name : name(world));
    const before = await readFile(path, 'utf8');
    const after = change(before);
    expect(after).not.toBe(before);
    await writeFile(path, after);
    return () => writeFile(path, before);
  };

export const modeFault =
  (name: string, mode: number, good: number): Row['brings'] =>
  async ({ dir }) => {
    await chmod(join(dir, name), mode);
    return () => chmod(join(dir, name), good);
  };

export const siteFault =
  (change: (site: SiteText) => void): Row['brings'] =>
  async (world) => {
    let before: object = {};
    await world.editSites((site) => {
      before = structuredClone(site);
      change(site);
    });
    return () =>
      world.editSites((site) => {
        for (const key of Object.keys(site)) delete site[key];
        Object.assign(site, before);
      });
  };

export async function listening(
  server: Server,
  options: { host: string; port: number; ipv6Only?: boolean },
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject);
  server.listen(options, resolve);
  await promise;
}

/** Forwards all requests to the operator server, except one page, for which it answers 404. */
export async function openProxy(to: number): Promise<{ server: Server; port: number }> {
  let port = 0;
  const server = createServer((here) => {
    here.once('data', (first) => {
      const text = first.toString('latin1').replaceAll(`127.0.0.1:${port}`, `127.0.0.1:${to}`);
      if (text.startsWith('GET /api/nachbarn ')) {
        here.end('HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n');
        return;
      }
      const there = connect(to, '127.0.0.1');
      for (const socket of [here, there]) socket.on('error', () => here.destroy() && there.destroy());
      there.write(text, 'latin1');
      here.pipe(there).pipe(here);
    });
    here.on('error', () => {});
  });
  await listening(server, { host: '127.0.0.1', port: 0 });
  const address = server.address();
  if (typeof address === 'object' && address !== null) port = address.port;
  return { server, port };
}

export function inDays(days: number): Date {
  return new Date(Date.now() + days * 86_400_000);
}

/** Another identity in place of that of this device. */
export function otherIdentity(serial: string, validity: Validity = {}): Row['brings'] {
  return async ({ dir }) => {
    const authority = await createCa();
    const { keyPem, certificatePem } = await authority.issueClientPair(serial, validity);
    const about = { format: 'gw/identity/1', serial, endpoint: '127.0.0.1', region: 'eu-central-1' };
    const enrolledAt = inDays(-5).toISOString();
    const identity = { ...about, enrolledAt, keyPem, certificatePem, caPem: authority.caPem };
    await rename(join(dir, 'identity'), join(dir, 'own-identity'));
    await mkdir(join(dir, 'identity'), { mode: 0o700 });
    await writeFile(join(dir, 'identity', 'identity.json'), JSON.stringify(identity), { mode: 0o600 });
    return async () => {
      await rm(join(dir, 'identity'), { recursive: true });
      await rename(join(dir, 'own-identity'), join(dir, 'identity'));
    };
  };
}
