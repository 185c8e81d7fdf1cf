import { randomBytes } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { encodeHeartbeat } from '../../src/lib/fleet/datagram.ts';
import { createKey } from '../../src/lib/fleet/keys.ts';
import { heartbeatOf } from '../fleet/heartbeats.ts';
import { type Running, runGw, startGw } from './gw.ts';

const scratch = mkdtempSync(join(tmpdir(), 'gw-e2e-heartbeat-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const modeOf = (path: string) => statSync(path).mode & 0o777;

/** The published schema of this command. */
function published(name: string) {
  const text = readFileSync(new URL(`../../schemas/${name}.json`, import.meta.url), 'utf8');
  return z.fromJSONSchema(JSON.parse(text));
}

/** A folder of its own, with a site file when `fleet` is given: the value of that key, '' for none. */
function folderWith(fleet?: string): string {
  const dir = mkdtempSync(join(scratch, 'robot-'));
  if (fleet !== undefined) {
    const lines = ['name: somewhere', 'chassis: { host: 127.0.0.1, port: 8090, serial: SN-1 }', fleet, ''];
    writeFileSync(join(dir, 'site.yaml'), lines.join('\n'));
  }
  return dir;
}

const keyNew = (cwd: string, ...args: string[]) => runGw(['heartbeat', 'key', 'new', ...args], { cwd });
const sniff = (cwd: string, ...args: string[]) => runGw(['heartbeat', 'sniff', '--for', '1', ...args], { cwd });

describe('gw heartbeat key new', () => {
  it('creates a new key each time, for its owner only, without a site file', async () => {
    const dir = folderWith();
    const keys: string[] = [];
    for (const file of ['one', 'made/here/two']) {
      const { code, stdout, stderr } = await keyNew(dir, file);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(modeOf(join(dir, file))).toBe(0o600);
      const text = readFileSync(join(dir, file), 'utf8');
      expect(text).toMatch(/^[0-9a-f]{64}\n$/);
      const name = createKey(Buffer.from(text.trim(), 'hex')).id.toString(16).padStart(8, '0');
      expect(stdout.split('\n')[0]).toBe(`Key ${name} written to ${join(dir, file)}.`);
      expect(stdout).not.toContain(text.trim());
      keys.push(text);
    }
    expect(keys[0]).not.toBe(keys[1]);
    expect(modeOf(join(dir, 'made'))).toBe(0o700);
  });

  it('creates it at the path of the site file, and prints it in the published shape', async () => {
    const dir = folderWith('fleet: { keyFile: secrets/heartbeat }');
    // The path is relative to the site file, whatever the working directory.
    const { code, stdout } = await keyNew(scratch, '--site', join(dir, 'site.yaml'), '--json');
    expect(code).toBe(0);
    const { data, ...envelope } = JSON.parse(stdout);
    expect(envelope).toEqual({ schema: 'gw/heartbeat-key-new/1', ok: true, warnings: [], error: null });
    expect(published('heartbeat-key-new').parse(data)).toEqual(data);
    expect(data.file).toBe(join(dir, 'secrets/heartbeat'));
    const text = readFileSync(data.file, 'utf8').trim();
    expect(data.key).toBe(createKey(Buffer.from(text, 'hex')).id.toString(16).padStart(8, '0'));
    expect(stdout).not.toContain(text);
  });

  it('never replaces a file, nor the target of a link', { tags: 'large' }, async () => {
    const dir = folderWith('fleet: { keyFile: key }');
    expect((await keyNew(dir)).code).toBe(0);
    const before = readFileSync(join(dir, 'key'), 'utf8');
    const again = await keyNew(dir, '--json');
    expect(again.code).toBe(2);
    expect(JSON.parse(again.stdout)).toMatchObject({ ok: false, data: null, error: { code: 'FILE_EXISTS' } });
    expect((await keyNew(dir)).stderr).toContain('do next');
    expect(readFileSync(join(dir, 'key'), 'utf8')).toBe(before);
    symlinkSync(join(dir, 'nowhere'), join(dir, 'link'));
    mkdirSync(join(dir, 'folder'));
    for (const file of ['link', 'folder']) expect((await keyNew(dir, file)).code).toBe(2);
    expect(existsSync(join(dir, 'nowhere'))).toBe(false);
  });

  it('ends with 2 and a remedy when no file is named', async () => {
    const lonely = await keyNew(folderWith());
    expect(lonely).toMatchObject({ code: 2, stdout: '' });
    expect(lonely.stderr).toContain('No site.yaml in ');
    expect(lonely.stderr).toContain('gw heartbeat key new FILE');
    const without = await keyNew(folderWith(''), '--json');
    expect(without.code).toBe(2);
    const { error } = JSON.parse(without.stdout);
    expect(error).toMatchObject({ code: 'SITE_FILE_INVALID', remedy: expect.stringContaining('keyFile') });
  });
});

describe('gw heartbeat sniff', () => {
  it('rejects a key that is missing, readable for others or invalid, and shows nothing of it', async () => {
    const dir = folderWith('fleet: { keyFile: key }');
    const key = randomBytes(32).toString('hex');
    const refused = async () => {
      const { code, stdout, stderr } = await sniff(dir, '--json');
      expect({ code, stderr }).toEqual({ code: 2, stderr: '' });
      expect(stdout).not.toContain(key.slice(0, 8));
      const { error } = JSON.parse(stdout);
      expect(error.code).toBe('SECRET_UNREADABLE');
      return `${error.message} ${error.remedy}`;
    };
    expect(await refused()).toContain('file not found');
    writeFileSync(join(dir, 'key'), `${key}\n`, { mode: 0o644 });
    expect(await refused()).toContain(`chmod 600 ${join(dir, 'key')}`);
    rmSync(join(dir, 'key'));
    writeFileSync(join(dir, 'key'), `${key}0\n`, { mode: 0o600 });
    expect(await refused()).toContain('64 hex digits');
  });

  it('without a key lists every sender, verifies nothing, and ends by itself', async () => {
    const key = createKey(randomBytes(32));
    await using listener = startGw(['heartbeat', 'sniff', '--no-key', '--for', '2', '--json'], {
      cwd: folderWith(),
    });
    await listener.untilOutput('"event":"state"');
    await send(
      encodeHeartbeat(heartbeatOf({ serial: 'SN-2' }), key),
      encodeHeartbeat(heartbeatOf({ serial: 'SN-2', sequence: 2 }), key),
    );
    await send(Buffer.from('no heartbeat'), Buffer.alloc(0));
    const { code, events } = await ended(listener);
    expect(code).toBe(0);
    expect(events[0]).toMatchObject({ event: 'state', verifies: false, datagrams: 0, senders: [], noise: [] });
    const last = events.at(-1);
    expect(last).toMatchObject({ event: 'ended', verifies: false, receives: 'everything', datagrams: 4 });
    expect(last).toMatchObject({
      senders: [{ serial: 'SN-2', address: '127.0.0.1', verified: false, heartbeats: 2, lost: 1, software: null }],
      noise: [{ address: '127.0.0.1', malformed: 2, otherVersion: 0, otherKey: 0, forged: 0 }],
    });
    expect(events.filter(({ event }) => event === 'ended')).toHaveLength(1);
    const shape = published('heartbeat-sniff');
    for (const event of events) expect(shape.parse(event)).toEqual(event);
  });

  it('with the key of the site shows which senders signed with it, and ends normally on Ctrl-C', async () => {
    const dir = folderWith('fleet: { keyFile: key, acceptedKeyFiles: [next] }');
    const secrets = { key: randomBytes(32), next: randomBytes(32) };
    for (const [name, secret] of Object.entries(secrets)) {
      writeFileSync(join(dir, name), `${secret.toString('hex')}\n`, { mode: 0o600 });
    }
    const stranger = createKey(randomBytes(32));
    const forged = encodeHeartbeat(heartbeatOf({ serial: 'SN-4' }), createKey(secrets.key));
    forged.writeUInt8(forged.readUInt8(forged.length - 1) ^ 1, forged.length - 1);
    await using listener = startGw(['heartbeat', 'sniff', '--json'], { cwd: dir });
    await listener.untilOutput('"event":"state"');
    await send(
      encodeHeartbeat(heartbeatOf({ serial: 'SN-2' }), createKey(secrets.key)),
      encodeHeartbeat(heartbeatOf({ serial: 'SN-3' }), createKey(secrets.next)),
      encodeHeartbeat(heartbeatOf({ serial: 'SN-4' }), stranger),
      forged,
    );
    await listener.untilOutput('"datagrams":4');
    const { code, events } = await ended(listener, 'SIGINT');
    expect(code).toBe(0);
    expect(events.at(-1)).toMatchObject({
      event: 'ended',
      verifies: true,
      senders: [
        { serial: 'SN-2', verified: true, heartbeats: 1 },
        { serial: 'SN-3', verified: true, heartbeats: 1 },
      ],
      noise: [{ address: '127.0.0.1', malformed: 0, otherVersion: 0, otherKey: 1, forged: 1 }],
    });
  });

  it('reports that it receives broadcasts only while another program has the port', async () => {
    await using listener = startGw(['heartbeat', 'sniff', '--no-key', '--for', '20', '--json'], {
      cwd: folderWith(),
    });
    await listener.untilOutput('"receives":"everything"');
    {
      await using later = createSocket({ type: 'udp4', reuseAddr: true });
      later.bind(45301, '0.0.0.0');
      await listener.untilOutput('"receives":"broadcasts"');
    }
    const { events } = await ended(listener, 'SIGINT');
    expect(events.at(-1)).toMatchObject({ event: 'ended', receives: 'everything', dropped: 0 });
  });

  it('in text prints lines without control characters, and the table at the end', async () => {
    await using listener = startGw(['heartbeat', 'sniff', '--no-key', '--for', '1'], { cwd: folderWith() });
    await listener.untilOutput('No datagram received yet.');
    await send(encodeHeartbeat(heartbeatOf({ serial: 'SN-2' }), createKey(randomBytes(32))));
    await once(listener.child, 'close');
    expect(listener.child.exitCode).toBe(0);
    expect(listener.stdout()).toMatch(/\n1 datagram in 1\.\d s on UDP port 45301\n/);
    expect(listener.stdout()).toMatch(
      /^[\d-]+T[\d:.]+Z {2}No datagram received yet\.\n1 robot received, not verified: 1 alive\.\n/,
    );
    expect(listener.stdout()).toMatch(/^alive +SN-2 +127\.0\.0\.1 +1 /m);
    expect(listener.stdout()).not.toContain('\u001b');
    expect(listener.stderr()).toBe('');
  });
});

/** To the port of the heartbeat on the loopback. */
async function send(...datagrams: readonly Uint8Array[]): Promise<void> {
  const socket = createSocket('udp4');
  try {
    for (const bytes of datagrams) {
      await new Promise<void>((resolve, reject) => {
        socket.send(bytes, 45301, '127.0.0.1', (error) => (error ? reject(error) : resolve()));
      });
    }
  } finally {
    socket.close();
  }
}

/** Its output, when it has ended: by the signal, or by itself. */
async function ended({ child, stdout, end }: Running, signal?: NodeJS.Signals) {
  if (signal !== undefined) await end(signal);
  else if (child.exitCode === null) await once(child, 'close');
  const lines = stdout().trim().split('\n');
  return { code: child.exitCode, events: lines.map((line) => JSON.parse(line) as Record<string, unknown>) };
}
