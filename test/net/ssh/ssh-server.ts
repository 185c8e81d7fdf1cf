import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ssh2, { type AuthContext, type Connection, type ServerConfig } from 'ssh2';
import { expect } from 'vitest';
import { GwError } from '../../../src/lib/error/index.ts';
import type { Ssh, SshOptions } from '../../../src/lib/net/index.ts';
import { openSsh } from '../../../src/lib/net/ssh/index.ts';
import { listening } from '../../listening.ts';

/** A home folder for a client; removed on disposal. */
export function temporaryHome() {
  const home = mkdtempSync(join(tmpdir(), 'gw-ssh-home-'));
  mkdirSync(join(home, '.ssh'), { mode: 0o700 });
  return {
    home,
    write: (name: string, text: string) => writeFileSync(join(home, '.ssh', name), text, { mode: 0o600 }),
    [Symbol.dispose]: () => rmSync(home, { recursive: true, force: true }),
  };
}

/**
 * ssh2 drops the leading zero of an Ed25519 key (one in 256) and cannot read that key again; a P-256 point has none.
 */
export const newKeyPair = () => ssh2.utils.generateKeyPairSync('ecdsa', { bits: 256 });

export interface TestServer extends AsyncDisposable {
  readonly port: number;
  /** Its line of known_hosts. */
  readonly known: string;
  /** Closes every connection without a message. */
  cut(): void;
}

/** A server with login and channels set by a test, and a key of its own. */
export async function startSshServer(
  onLogin: (context: AuthContext, connection: Connection) => void,
  onReady: (connection: Connection) => void = () => {},
  config: Partial<ServerConfig> = {},
): Promise<TestServer> {
  const keys = newKeyPair();
  const server = new ssh2.Server({ hostKeys: [keys.private], ...config }, (connection) => {
    connection.on('error', () => {});
    connection.on('authentication', (context) => onLogin(context, connection));
    connection.on('ready', () => onReady(connection));
  });
  // The sockets belong to the test, so that they can be cut.
  const running = await listening(createServer((socket) => server.injectSocket(socket)));
  const [type, key] = keys.public.split(' ');
  return { ...running, known: `[127.0.0.1]:${running.port} ${type} ${key}\n` };
}

/** A server, and a client whose home knows its key. */
export async function sshWorld(...about: Parameters<typeof startSshServer>) {
  const server = await startSshServer(...about);
  const folder = temporaryHome();
  folder.write('known_hosts', server.known);
  return {
    ...server,
    folder,
    target: `technician@127.0.0.1:${server.port}`,
    open: (more: Partial<SshOptions> = {}): Promise<Ssh> =>
      openSsh(`technician@127.0.0.1:${server.port}`, optionsIn(folder.home, more)),
    async [Symbol.asyncDispose]() {
      folder[Symbol.dispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

/** A server with arbitrary behaviour on the bytes. */
export async function startRawServer(onSocket: (socket: Socket) => void): Promise<Omit<TestServer, 'known'>> {
  return await listening(createServer(onSocket));
}

export function optionsIn(home: string, more: Partial<SshOptions> = {}): SshOptions {
  const none = { agentSocket: null, person: null, systemKnownHostsFile: '/dev/null' };
  return { homeDir: home, localUser: 'technician', ...none, ...more };
}

export async function errorOf(work: Promise<unknown>): Promise<GwError> {
  const error = await work.catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(GwError);
  return error as GwError;
}
