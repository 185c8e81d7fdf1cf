import { spawn } from 'node:child_process';
import { constants } from 'node:fs';
import { access, readFile } from 'node:fs/promises';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import { GwError } from '../../error/index.ts';
import { keyFingerprint } from '../../kiosk/index.ts';
import { assertOwnFolder, type Clock, ensureFolder } from '../../lifecycle/index.ts';
import { directDialer, reachEndpoint } from '../../net/index.ts';
import { endChild } from '../child-process.ts';
import { tryPort } from '../free-port.ts';

export interface FindAdbOptions {
  /** The program that a person named; nothing else is looked for then. */
  readonly named?: string | undefined;
  /** The PATH of the person. */
  readonly searchPath?: string | undefined;
}

/** Where Debian and Android's own tools put it, for the case that it is not on the PATH. */
const usualFolders = ['/usr/bin', '/usr/local/bin', '/usr/lib/android-sdk/platform-tools', '/opt/platform-tools'];

/** The absolute path of the adb program. Throws ADB_NOT_FOUND, naming where it was looked for. */
export async function findAdb({ named, searchPath = '' }: FindAdbOptions): Promise<string> {
  if (named !== undefined) {
    const path = resolve(named);
    if (await isProgram(path)) return path;
    throw new GwError('ADB_NOT_FOUND', `${path} is no program that this user may run.`);
  }
  const onPath = searchPath.split(delimiter).filter((folder) => isAbsolute(folder));
  const folders = [...new Set([...onPath, ...usualFolders])];
  for (const folder of folders) {
    const path = join(folder, 'adb');
    if (await isProgram(path)) return path;
  }
  throw new GwError('ADB_NOT_FOUND', `There is no program adb in ${folders.join(', ')}.`, { details: { folders } });
}

async function isProgram(path: string): Promise<boolean> {
  return await access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

/** An adb server of our own: another port and other keys than the one that a person may have running. */
export interface AdbServer extends AsyncDisposable {
  readonly port: number;
  /** Of its key, as tablets show it; null when the key cannot be read. A new key is made only after the start. */
  fingerprint(): Promise<string | null>;
}

const READY_WITHIN_MS = 15_000;
const MOST_TRIES = 3;
const LAST_CHARACTERS = 4_000;
const KILL_AFTER_MS = 2_000;

/**
 * Starts an adb server on a free port of 127.0.0.1, with its keys under `keyDir` (made when there are none, for their
 * owner only). It looks for no tablets by itself, at cables only when told so. Ended with the scope. Throws
 * PART_ENDED.
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
    throw new GwError('FILE_UNWRITABLE', `${keyDir} cannot be made (${cause.code ?? 'unknown reason'}).`, { cause });
  });
  // adb follows links where it writes its keys.
  await assertOwnFolder(keyDir);
  for (let tries = 1; ; tries += 1) {
    const port = await tryPort('127.0.0.1', 0);
    if (port === undefined) throw new GwError('INTERNAL', 'No free port on 127.0.0.1.');
    const server = await runServer(adb, port, { keyDir, usb, clock, signal });
    if ('port' in server) return server;
    // Somebody else may have taken the port in between.
    if (tries === MOST_TRIES) {
      throw new GwError('PART_ENDED', `${adb} did not start its server: ${server.said || 'it said nothing'}`, {
        remedy: `Try it by hand: ${adb} -P ${port} nodaemon server`,
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
): Promise<AdbServer | { readonly said: string }> {
  const child = spawn(adb, ['-P', String(port), 'nodaemon', 'server'], {
    // HOME decides where the keys are; the rest keeps it from looking for tablets and emulators on its own.
    env: { HOME: keyDir, ADB_EMU: '0', ADB_MDNS: '0', ...(usb ? {} : { ADB_USB: '0' }) },
    cwd: keyDir,
    // In our own group, so that a terminal that ends us in a hurry ends it too.
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      said = `${said}${text}`.slice(-LAST_CHARACTERS);
    });
  }
  let ended = false;
  child.once('exit', () => {
    ended = true;
  });
  child.once('error', (error) => {
    ended = true;
    said = `${said}${error.message}`;
  });
  const began = clock.monotonicMs();
  try {
    for (;;) {
      const endpoint = { host: '127.0.0.1', port };
      const reach = await reachEndpoint(directDialer, endpoint, { timeoutMs: 1_000, signal, clock });
      if (ended) return { said: said.trim().split('\n').at(-1) ?? '' };
      if (reach.reached) break;
      if (clock.monotonicMs() - began > READY_WITHIN_MS) {
        await endChild(child, clock, KILL_AFTER_MS);
        return { said: 'its port does not open' };
      }
      await clock.sleep(50, signal);
    }
  } catch (error) {
    await endChild(child, clock, KILL_AFTER_MS);
    throw error;
  }
  return {
    port,
    fingerprint: () => ownFingerprint(keyDir),
    [Symbol.asyncDispose]: () => endChild(child, clock, KILL_AFTER_MS),
  };
}

async function ownFingerprint(keyDir: string): Promise<string | null> {
  try {
    return keyFingerprint(await readFile(join(keyDir, '.android', 'adbkey.pub'), 'utf8'));
  } catch {
    return null;
  }
}
