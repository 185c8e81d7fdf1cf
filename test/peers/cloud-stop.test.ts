import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
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

/**
 * mosquitto behind a TLS proxy that looks at what the gateway sends; `onPuback` is called before it is passed on. The
 * network can be away, or take what either side sends without a word.
 */
async function world(onPuback: () => void = () => {}) {
  let network: 'up' | 'silent' | 'away' = 'up';
  const open = new Set<Socket>();
  const dir = mkdtempSync(join(tmpdir(), 'gw-cloud-stop-'));
  const authority = await createCa({ commonName: 'Cloud CA' });
  const identityFile = join(dir, 'identity.json');
  writeFileSync(identityFile, JSON.stringify(await identityOf(authority)), { mode: 0o600 });
  const broker = await startMosquitto(dir, authority);
  const proxy = await tlsPeer(authority, {}, (socket) => {
    if (network === 'away') return void socket.destroy();
    open.add(socket);
    const upstream = connect(broker.plainPort, '127.0.0.1');
    const reader = parser({ protocolVersion: 4 });
    reader.on('packet', ({ cmd }: Packet) => {
      if (cmd === 'puback') onPuback();
    });
    socket.on('data', (bytes: Buffer) => {
      reader.parse(bytes);
      if (network === 'up') upstream.write(bytes);
    });
    upstream.on('data', (bytes: Buffer) => network === 'up' && socket.writable && socket.write(bytes));
    upstream.on('error', () => socket.destroy());
    upstream.on('close', () => socket.destroy());
    socket.on('close', () => {
      open.delete(socket);
      upstream.destroy();
    });
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
      return startProcess(program, args, { input: null });
    },
    set(state: typeof network) {
      network = state;
      if (state === 'away') for (const socket of open) socket.destroy();
    },
    output: broker.output,
    /** Ends when it has received so many records, and prints them. */
    records: (count: number) =>
      startProcess('mosquitto_sub', [
        ...['-h', '127.0.0.1', '-p', `${broker.plainPort}`, '-t', `gw/${SERIAL}/records`, '-q', '1', '-C', `${count}`],
      ]),
    /** Publishes these bytes on the stop topic. */
    async send(payload: string | Uint8Array, ...more: string[]) {
      const words = ['-h', '127.0.0.1', '-p', `${broker.plainPort}`, '-t', `gw/${SERIAL}/stop`, ...more];
      const path = join(dir, 'payload');
      writeFileSync(path, payload);
      const sent = await runProcess('mosquitto_pub', [
        ...(more.includes('-q') ? words : [...words, '-q', '1']),
        ...(payload.length === 0 ? ['-n'] : ['-f', path]),
      ]);
      expect(sent).toMatchObject({ code: 0 });
    },
    async [Symbol.asyncDispose]() {
      await proxy[Symbol.asyncDispose]();
      await broker[Symbol.asyncDispose]();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** What the stops in the records of an outbox that was killed are recognised by. */
function recordedStops(stateDir: string): string[] {
  const database = new DatabaseSync(join(stateDir, 'cloud', 'outbox', 'outbox.db'));
  const rows = database.prepare('SELECT payload FROM message ORDER BY key').all();
  database.close();
  return rows.flatMap(({ payload }) => {
    const { kind, stopId, content } = JSON.parse(Buffer.from(payload as Uint8Array).toString());
    return kind === 'stop-executed' ? [stopId ?? content] : [];
  });
}

const shapes: readonly (readonly [what: string, payload: string | Uint8Array, ...more: string[]])[] = [
  ['nothing', ''],
  ['an empty object', '{}'],
  ['a word', 'stop'],
  ['another object', '{"command":"stop"}'],
  ['a number as id', '{"id":7}'],
  ['a list', '["stop"]'],
  ['bytes that are no text', new Uint8Array([0, 255, 254, 128, 10, 0])],
  ['JSON that is cut', '{"id":"a1"'],
  ['more than is read', JSON.stringify({ id: 'a1', x: 'x'.repeat(10_000) })],
  ['more than is kept', new Uint8Array(300_000)],
  ['QoS 0', 'stop', '-q', '0'],
];
const contentOf = (payload: string | Uint8Array) =>
  payload.length > 131_072 ? `bytes-${payload.length}` : createHash('sha256').update(payload).digest('hex');

/** How often this stands in what a program has printed. */
const times = (text: string, output: string) => output.split(text).length - 1;

describe.skipIf(!hasProgram('mosquitto') || !hasProgram('mosquitto_pub'))('a stop from mosquitto', () => {
  it('has its latch and its record on the disk when it is acknowledged: kill -9 at the PUBACK loses none', async () => {
    let kill = () => {};
    await using at = await world(() => kill());
    for (const [round, payload] of ['{"id":"a1"}', '{"id":"a2"}', '', 'stop', new Uint8Array(300_000)].entries()) {
      const stateDir = at.stateDir(`state-${round}`);
      await using gateway = at.run(stateDir);
      await gateway.untilOutput('\nconnected, 0');
      kill = () => gateway.child.kill('SIGKILL');
      await at.send(payload);
      expect((await gateway.closed).signal).toBe('SIGKILL');
      kill = () => {};
      const latch = JSON.parse(readFileSync(join(stateDir, 'stop-latch.json'), 'utf8'));
      expect(latch).toMatchObject({ latched: true, reason: ['a1', 'a2'][round] ?? 'no id' });
      // It may have been sent, and then its removal is on the disk or not.
      expect(recordedStops(stateDir)).toEqual([['a1', 'a2'][round] ?? contentOf(payload)]);
    }
  });

  it('stops in whatever shape it comes, and is recorded by what it is recognised by', async () => {
    await using at = await world();
    const stateDir = at.stateDir('state');
    await using records = at.records(shapes.length);
    await using gateway = at.run(stateDir);
    await gateway.untilOutput('\nconnected, 0');
    for (const [index, [what, payload, ...more]] of shapes.entries()) {
      await at.send(payload, ...more);
      await expect.poll(() => times('stopped null', gateway.stdout()), { message: what }).toBe(index + 1);
      gateway.child.stdin?.write('clear\n');
      await expect.poll(() => times('latched: false', gateway.stdout())).toBe(index + 1);
    }
    const { stdout } = await records.closed;
    const recorded = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(recorded.map(({ content }) => content)).toEqual(shapes.map(([, payload]) => contentOf(payload)));
  });

  it.each(['stop', '{"id":"a1"}'])(
    'that is retained acts once: cleared, it does not come back at a reconnect or a restart (%s)',
    async (payload) => {
      await using at = await world();
      const stateDir = at.stateDir('state');
      await at.send(payload, '-r');
      {
        await using gateway = at.run(stateDir);
        await gateway.untilOutput('stopped ');
        await gateway.untilOutput('\nconnected, 0 not saved');
        gateway.child.stdin?.write('clear\n');
        await gateway.untilOutput('latched: false');
        at.set('away');
        at.set('up');
        await expect.poll(gateway.stdout).toMatch(/\nconnected, 0 not saved, [1-9]\d* repeated/);
        expect(times('stopped ', gateway.stdout())).toBe(1);
        await expect.poll(() => existsSync(join(stateDir, 'cloud-seen.json'))).toBe(true);
        gateway.child.kill('SIGTERM');
        await gateway.closed;
      }
      await using again = at.run(stateDir);
      await expect.poll(again.stdout).toMatch(/\nconnected, 0 not saved, [1-9]\d* repeated/);
      expect(again.stdout()).not.toContain('stopped');
      expect(JSON.parse(readFileSync(join(stateDir, 'stop-latch.json'), 'utf8'))).toMatchObject({ latched: false });
    },
  );

  it.each(['stop', '{"id":"a1"}'])(
    'whose PUBACK was lost is delivered again (DUP) after a person has cleared it, and does not come back (%s)',
    async (payload) => {
      let isLost = true;
      await using at = await world(() => isLost && at.set('away'));
      const stateDir = at.stateDir('state');
      await using gateway = at.run(stateDir);
      await gateway.untilOutput('\nconnected, 0');
      await at.send(payload);
      await gateway.untilOutput('stopped ');
      await gateway.untilOutput('\nnot-connected');
      gateway.child.stdin?.write('clear\n');
      await gateway.untilOutput('latched: false');
      isLost = false;
      at.set('up');
      await expect.poll(gateway.stdout).toMatch(/\nconnected, 0 not saved, [1-9]\d* repeated/);
      expect(at.output()).toContain(`Sending PUBLISH to ${SERIAL} (d1, q1`);
      expect(times('stopped ', gateway.stdout())).toBe(1);
    },
  );

  it.each(['{"id":"a1"}', 'stop', ''])(
    'that is new stops, also with the id and the content of one that was cleared: connected, and sent in an outage (%s)',
    async (payload) => {
      await using at = await world();
      const stateDir = at.stateDir('state');
      const stopAndClear = async (gateway: ReturnType<typeof at.run>, count: number) => {
        await expect.poll(() => times('stopped ', gateway.stdout())).toBe(count);
        gateway.child.stdin?.write('clear\n');
        await expect.poll(() => times('latched: false', gateway.stdout())).toBe(count);
      };
      {
        await using gateway = at.run(stateDir);
        await gateway.untilOutput('\nconnected, 0');
        for (const count of [1, 2]) {
          await at.send(payload);
          await stopAndClear(gateway, count);
        }
        // Retained, it is a new one to a gateway that is connected.
        await at.send(payload, '-r');
        await stopAndClear(gateway, 3);
        // The broker sends it into a connection that is dead: what it delivers later is marked as a redelivery.
        at.set('silent');
        await at.send(payload);
        await expect.poll(() => times(`Sending PUBLISH to ${SERIAL} (d0, q1`, at.output())).toBe(4);
        at.set('away');
        at.set('up');
        await stopAndClear(gateway, 4);
        expect(at.output()).toContain(`Sending PUBLISH to ${SERIAL} (d1, q1`);
        gateway.child.kill('SIGTERM');
        await gateway.closed;
      }
      // And one that waits in the session.
      await at.send(payload);
      await using again = at.run(stateDir);
      await again.untilOutput('stopped ');
    },
  );

  it.runIf(hasNamespaces())(
    'on a full disk is executed, not acknowledged, and sent again to the next run',
    async () => {
      let pubacks = 0;
      await using at = await world(() => (pubacks += 1));
      const stateDir = at.stateDir('state');
      {
        await using gateway = at.run(stateDir, ['unshare', '--mount', '--'], 'full');
        await gateway.untilOutput('\nconnected, 0');
        await at.send('{"id":"fire"}');
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
