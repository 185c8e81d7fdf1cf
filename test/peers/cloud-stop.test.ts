import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { type Packet, parser } from 'mqtt-packet';
import { describe, expect, it } from 'vitest';
import { createCa } from '../../src/lib/sim/cloud/certificates.ts';
import { identityOf, SERIAL } from '../cloud/link/world.ts';
import { tlsPeer } from '../net/probe/world.ts';
import { runProcess, startProcess } from '../process.ts';
import { startMosquitto } from './network-peers.ts';
import { hasNamespaces, hasProgram } from './peer.ts';

const child = fileURLToPath(new URL('./cloud-stop-child.ts', import.meta.url));

/** mosquitto behind a TLS proxy that looks at what the gateway sends; `onPuback` is called before it is passed on. */
async function world(onPuback: () => void) {
  const dir = mkdtempSync(join(tmpdir(), 'gw-cloud-stop-'));
  const authority = await createCa({ commonName: 'Cloud CA' });
  const identityFile = join(dir, 'identity.json');
  writeFileSync(identityFile, JSON.stringify(await identityOf(authority)), { mode: 0o600 });
  const broker = await startMosquitto(dir, authority);
  const proxy = await tlsPeer(authority, {}, (socket) => {
    const upstream = connect(broker.plainPort, '127.0.0.1');
    const reader = parser({ protocolVersion: 4 });
    reader.on('packet', ({ cmd }: Packet) => {
      if (cmd === 'puback') onPuback();
    });
    socket.on('data', (bytes: Buffer) => {
      reader.parse(bytes);
      upstream.write(bytes);
    });
    upstream.on('data', (bytes: Buffer) => socket.writable && socket.write(bytes));
    upstream.on('error', () => socket.destroy());
    upstream.on('close', () => socket.destroy());
    socket.on('close', () => upstream.end());
  });
  return {
    dir,
    stateDir(name: string) {
      const path = join(dir, name);
      mkdirSync(path, { mode: 0o700 });
      return path;
    },
    run: (stateDir: string, words: readonly string[] = [], ...more: string[]) => {
      const [program = '', ...args] = [
        ...words,
        process.execPath,
        child,
        stateDir,
        `${proxy.port}`,
        identityFile,
        ...more,
      ];
      return startProcess(program, args);
    },
    async stop(id: string) {
      const words = ['-h', '127.0.0.1', '-p', `${broker.plainPort}`, '-t', `gw/${SERIAL}/stop`, '-q', '1'];
      const sent = await runProcess('mosquitto_pub', [...words, '-m', JSON.stringify({ id })]);
      expect(sent.code).toBe(0);
    },
    async [Symbol.asyncDispose]() {
      await proxy[Symbol.asyncDispose]();
      await broker[Symbol.asyncDispose]();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** The ids of the stops in the records of an outbox that was killed. */
function recordedStops(stateDir: string): string[] {
  const database = new DatabaseSync(join(stateDir, 'cloud', 'outbox', 'outbox.db'));
  const rows = database.prepare('SELECT payload FROM message ORDER BY key').all();
  database.close();
  return rows.flatMap(({ payload }) => {
    const { kind, stopId } = JSON.parse(Buffer.from(payload as Uint8Array).toString());
    return kind === 'stop-executed' ? [stopId] : [];
  });
}

describe.skipIf(!hasProgram('mosquitto') || !hasProgram('mosquitto_pub'))('a stop from mosquitto', () => {
  it('has its latch and its record on the disk when it is acknowledged: kill -9 at the PUBACK loses none', async () => {
    let kill = () => {};
    await using at = await world(() => kill());
    for (let round = 0; round < 5; round += 1) {
      const stateDir = at.stateDir(`state-${round}`);
      await using gateway = at.run(stateDir);
      await gateway.untilOutput('connected, 0');
      kill = () => gateway.child.kill('SIGKILL');
      await at.stop(`stop-${round}`);
      expect((await gateway.closed).signal).toBe('SIGKILL');
      kill = () => {};
      const latch = JSON.parse(readFileSync(join(stateDir, 'stop-latch.json'), 'utf8'));
      expect(latch).toMatchObject({ latched: true, reason: `stop-${round}` });
      // It may have been sent, and then its removal is on the disk or not.
      expect(recordedStops(stateDir)).toEqual([`stop-${round}`]);
    }
  });

  it.runIf(hasNamespaces())(
    'on a full disk is executed, not acknowledged, and sent again to the next run',
    async () => {
      let pubacks = 0;
      await using at = await world(() => (pubacks += 1));
      const stateDir = at.stateDir('state');
      {
        await using gateway = at.run(stateDir, ['unshare', '--mount', '--'], 'full');
        await gateway.untilOutput('connected, 0');
        await at.stop('fire');
        await gateway.untilOutput('stopped fire');
        await gateway.untilOutput('connected, 1 not saved');
        expect(pubacks).toBe(0);
        gateway.child.kill('SIGKILL');
        await gateway.closed;
      }
      await using again = at.run(stateDir);
      await again.untilOutput('stopped fire');
      await expect.poll(() => pubacks).toBe(1);
      const latch = JSON.parse(readFileSync(join(stateDir, 'stop-latch.json'), 'utf8'));
      expect(latch).toMatchObject({ latched: true, reason: 'fire' });
    },
  );
});
