import { spawn } from 'node:child_process';
import { constants } from 'node:fs';
import { access, readFile } from 'node:fs/promises';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import { GwError, systemReason } from '../../error/index.ts';
import { keyFingerprint } from '../../kiosk/index.ts';
import { assertOwnFolder, type Clock, ensureFolder } from '../../lifecycle/index.ts';
import { directDialer, reachEndpoint } from '../../net/index.ts';
import { endChild } from '../child-process.ts';
import { tryPort } from '../free-port.ts';

export interface FindAdbOptions {
  /** Path given by the user; disables the search. */
  readonly named?: string | undefined;
  /** PATH of the user. */
  readonly searchPath?: string | undefined;
}

/** Default folders of Debian and of Android's platform tools. */
const defaultFolders = ['/usr/bin', '/usr/local/bin', '/usr/lib/android-sdk/platform-tools', '/opt/platform-tools'];

/** The absolute path of the adb program. Throws ADB_NOT_FOUND with the searched folders. */
export async function findAdb({ named, searchPath = '' }: FindAdbOptions): Promise<string> {
  if (named !== undefined) {
    const path = resolve(named);
    if (await isExecutable(path)) return path;
    throw new GwError('ADB_NOT_FOUND', `${path} is not an executable file.`);
  }
  const onPath = searchPath.split(delimiter).filter((folder) => isAbsolute(folder));
  const folders = [...new Set([...onPath, ...defaultFolders])];
  for (const folder of folders) {
    const path = join(folder, 'adb');
    if (await isExecutable(path)) return path;
  }
  throw new GwError('ADB_NOT_FOUND', `Program adb not found in ${folders.join(', ')}.`, { details: { folders } });
}

async function isExecutable(path: string): Promise<boolean> {
  return await access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

/** An adb server with its own port and keys, independent of a server that the user runs. */
export interface AdbServer extends AsyncDisposable {
  readonly port: number;
  /** Fingerprint of its key as tablets show it; null: unreadable. adb creates a missing key after its start. */
  fingerprint(): Promise<string | null>;
}

const READY_TIMEOUT_MS = 15_000;
const MAX_ATTEMPTS = 3;
const MAX_OUTPUT_CHARS = 4_000;
const KILL_AFTER_MS = 2_000;

/**
 * Starts an adb server on a free port of 127.0.0.1, with its keys under `keyDir` (created if missing, for the owner
 * only). It discovers no devices over the network, and over USB only with `usb`. Ended by its disposal. Throws
 * PART_ENDED, FILE_UNWRITABLE.
 */
export async function startAdbServer(options: {
  readonly adb: string;
  readonly keyDir: string;
  readonly usb: boolean;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}): Promise<AdbServer> {
  const { adb, keyDir, usb, clock, signal } = options;
  await ensureFolder(keyDir, 0o700).catch((cause: NodeJS.ErrnoException) => {
    throw new GwError('FILE_UNWRITABLE', `${keyDir} cannot be created (${systemReason(cause)}).`, { cause });
  });
  // adb follows symbolic links when it writes its keys.
  await assertOwnFolder(keyDir);
  for (let attempt = 1; ; attempt += 1) {
    const port = await tryPort('127.0.0.1', 0);
    if (port === undefined) throw new GwError('INTERNAL', 'No free port on 127.0.0.1.');
    const server = await runServer(adb, port, { keyDir, usb, clock, signal });
    if ('port' in server) return server;
    // Another process may have bound the port in between.
    if (attempt === MAX_ATTEMPTS) {
      throw new GwError('PART_ENDED', `${adb} did not start its server: ${server.output || 'no output'}`, {
        remedy: `Run it by hand: ${adb} -P ${port} nodaemon server`,
      });
    }
  }
}

async function runServer(
  adb: string,
  port: number,
  {
    keyDir,
    usb,
    clock,
    signal,
  }: { readonly keyDir: string; readonly usb: boolean; readonly clock: Clock; readonly signal: AbortSignal },
): Promise<AdbServer | { readonly output: string }> {
  const child = spawn(adb, ['-P', String(port), 'nodaemon', 'server'], {
    // HOME sets the folder of the keys; the other variables disable device discovery.
    env: { HOME: keyDir, ADB_EMU: '0', ADB_MDNS: '0', ...(usb ? {} : { ADB_USB: '0' }) },
    cwd: keyDir,
    // In the process group of gw, so that signals of the terminal reach it too.
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output = `${output}${text}`.slice(-MAX_OUTPUT_CHARS);
    });
  }
  let hasEnded = false;
  child.once('exit', () => {
    hasEnded = true;
  });
  child.once('error', (error) => {
    hasEnded = true;
    output = `${output}${error.message}`;
  });
  const began = clock.monotonicMs();
  try {
    for (;;) {
      const endpoint = { host: '127.0.0.1', port };
      const reach = await reachEndpoint(directDialer, endpoint, { timeoutMs: 1_000, signal, clock });
      if (hasEnded) return { output: output.trim().split('\n').at(-1) ?? '' };
      if (reach.reached) break;
      if (clock.monotonicMs() - began > READY_TIMEOUT_MS) {
        await endChild(child, clock, KILL_AFTER_MS);
        return { output: `its port did not open within ${READY_TIMEOUT_MS / 1000} s` };
      }
      await clock.sleep(50, signal);
    }
  } catch (error) {
    await endChild(child, clock, KILL_AFTER_MS);
    throw error;
  }
  return {
    port,
    fingerprint: () => fingerprintIn(keyDir),
    [Symbol.asyncDispose]: () => endChild(child, clock, KILL_AFTER_MS),
  };
}

async function fingerprintIn(keyDir: string): Promise<string | null> {
  try {
    return keyFingerprint(await readFile(join(keyDir, '.android', 'adbkey.pub'), 'utf8'));
  } catch {
    return null;
  }
}
