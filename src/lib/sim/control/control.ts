import { randomBytes, timingSafeEqual } from 'node:crypto';
import { lstat, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { tmpdir, userInfo } from 'node:os';
import { join, resolve } from 'node:path';
import { asGwError, type ErrorJson, errorTable, GwError } from '../../error/index.ts';
import { replaceFile } from '../../lifecycle/index.ts';
import { isRecord } from '../chassis/maps/map-store.ts';
import { isFaultName } from '../faults.ts';
import { readIfThere } from '../files.ts';
import { closeServer, listenOn } from '../listen.ts';
import type { Sim } from '../model.ts';
import type { SimPart } from '../parts.ts';

/**
 * Switching faults of a running simulator: a control server on 127.0.0.1 with a token; address and token are in
 * `DIR/sim.json`, readable only by its owner.
 */

const HOST = '127.0.0.1';
const ANSWER_TIMEOUT_MS = 10_000;
const MAX_BODY_BYTES = 4096;
const HANDLE_FILE = 'sim.json';

/** A fault and its state; null when not checked. */
interface FaultView {
  readonly name: string;
  readonly on: boolean | null;
  readonly effect: string;
}

export interface ControlView {
  /** Folder of the simulator. */
  readonly dir: string;
  readonly chassis: Sim['chassis'];
  /** Number of neighbours that send heartbeats. */
  readonly robots: number;
  /** Simulated parts of the site beside the robot. */
  readonly parts: readonly SimPart[];
  readonly faults: readonly FaultView[];
}

/** Opens the control server of a simulator and writes its handle file; disposing removes both. */
export async function openControl(
  sim: Pick<Sim, 'chassis' | 'robots' | 'faults' | 'setFault' | 'settled'> & { readonly parts: readonly SimPart[] },
  dir: string,
  pointerFile: string | undefined,
): Promise<AsyncDisposable & { readonly url: string }> {
  const token = randomBytes(32).toString('base64url');
  const view = (): ControlView => ({
    dir,
    chassis: sim.chassis,
    robots: sim.robots,
    parts: sim.parts,
    faults: sim.faults(),
  });
  const server = createServer((request, response) => void answer(request, response));

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const reply = (status: number, json: object) => {
      const text = JSON.stringify(json);
      response.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) });
      response.end(text);
    };
    try {
      if (!isAuthorized(request.headers.authorization, token)) {
        request.resume();
        reply(401, { error: { message: 'unauthorized' } });
      } else if (request.method === 'GET' && request.url === '/faults') {
        request.resume();
        reply(200, view());
      } else if (request.method === 'POST' && request.url === '/faults') {
        const change = await readChange(request);
        if (!change) {
          reply(400, { error: new GwError('USAGE', 'Expected {"name": a fault, "on": true or false}.').toJSON() });
          return;
        }
        sim.setFault(change.name, change.on);
        await sim.settled();
        reply(200, view());
      } else {
        request.resume();
        reply(404, { error: { message: 'not found' } });
      }
    } catch (error) {
      reply(500, { error: asGwError(error).toJSON() });
    }
  }

  const port = await listenOn(server, HOST, 0);
  const url = `http://${HOST}:${port}`;
  const handlePath = join(dir, HANDLE_FILE);
  try {
    await replaceFile(handlePath, `${JSON.stringify({ pid: process.pid, url, token, chassis: sim.chassis })}\n`, {
      mode: 0o600,
    });
    if (pointerFile !== undefined) {
      // Optional: in a shared folder the name may belong to another user.
      await replaceFile(pointerFile, `${JSON.stringify({ dir })}\n`, { mode: 0o600 }).catch(() => {});
    }
  } catch (error) {
    await closeServer(server);
    throw error;
  }
  return {
    url,
    async [Symbol.asyncDispose]() {
      await rm(handlePath, { force: true });
      if (pointerFile !== undefined && (await readPointer(pointerFile)) === dir) await rm(pointerFile, { force: true });
      await closeServer(server);
    },
  };
}

/** File that names the folder of the last started simulator of this user. */
export function defaultPointerFile(): string {
  return join(tmpdir(), `gw-sim-${userInfo().uid}.json`);
}

export interface ControlRequest {
  /** The change; without it the faults are listed. */
  readonly set?: { readonly name: string; readonly on: boolean };
  /** Names another folder to try when no simulator runs in `dir`. */
  readonly pointerFile?: string;
}

/**
 * Sends a request to the simulator of a folder. Throws SIM_NOT_RUNNING, USAGE for an unknown fault, PORT_IN_USE when
 * the port cannot be bound again after the fault `cut`.
 */
export async function controlSim(dir: string, request: ControlRequest = {}): Promise<ControlView> {
  const { set, pointerFile } = request;
  if (set && !isFaultName(set.name)) throw unknownFault(set.name);
  const other = pointerFile === undefined ? undefined : await readPointer(pointerFile);
  const folders = [resolve(dir), ...(other === undefined || other === resolve(dir) ? [] : [other])];
  let failure: GwError | undefined;
  for (const folder of folders) {
    try {
      return await requestView(folder, set);
    } catch (error) {
      const gwError = asGwError(error);
      if (gwError.code !== 'SIM_NOT_RUNNING') throw gwError;
      failure ??= gwError;
    }
  }
  throw failure ?? new GwError('SIM_NOT_RUNNING', 'No running simulator found.');
}

/** Whether a simulator runs in this folder. */
export async function isRunning(dir: string): Promise<boolean> {
  try {
    await requestView(resolve(dir), undefined);
    return true;
  } catch {
    return false;
  }
}

export function unknownFault(name: string): GwError {
  return new GwError('USAGE', `Unknown fault '${name}'.`, {
    remedy: 'List the faults with `gw sim fault --list`.',
  });
}

async function requestView(dir: string, set: ControlRequest['set']): Promise<ControlView> {
  const handlePath = join(dir, HANDLE_FILE);
  const text = await readIfThere(handlePath);
  if (text === undefined) {
    throw new GwError('SIM_NOT_RUNNING', `No simulated robot is running in ${dir}.`, {
      remedy: 'Start one with `gw sim`, or name its folder with --dir.',
    });
  }
  const handle = parseObject(text);
  const url = typeof handle?.url === 'string' ? handle.url : '';
  const target = URL.parse(url);
  if (!handle || typeof handle.token !== 'string' || target?.hostname !== HOST) {
    throw new GwError('SIM_NOT_RUNNING', `${handlePath} contains no valid address of a simulator.`);
  }
  const tried = { address: HOST, port: Number(target.port), action: set ? 'switch a fault' : 'list the faults' };
  let status: number;
  let answer: Record<string, unknown> | undefined;
  try {
    const reply = await fetch(new URL('/faults', target), {
      method: set ? 'POST' : 'GET',
      headers: { authorization: `Bearer ${handle.token}`, 'content-type': 'application/json' },
      ...(set && { body: JSON.stringify(set) }),
      redirect: 'error',
      signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
    });
    status = reply.status;
    answer = parseObject(await reply.text());
  } catch (error) {
    throw new GwError('SIM_NOT_RUNNING', `The simulated robot of ${dir} does not answer; it has probably ended.`, {
      tried,
      cause: error,
    });
  }
  if (status === 200 && answer) return answer as unknown as ControlView;
  throw asRemoteError(answer?.error) ?? new GwError('SIM_NOT_RUNNING', `Another program answers in ${dir}.`, { tried });
}

function asRemoteError(error: unknown): GwError | undefined {
  const { code, message, tried, remedy } = (isRecord(error) ? error : {}) as Partial<ErrorJson>;
  if (typeof code !== 'string' || !Object.hasOwn(errorTable, code) || typeof message !== 'string') return undefined;
  return new GwError(code, message, { tried, remedy });
}

/** The folder in the pointer file, if this user owns it alone: in a shared folder other users may write one. */
async function readPointer(path: string): Promise<string | undefined> {
  try {
    const stats = await lstat(path);
    if (!stats.isFile() || stats.uid !== userInfo().uid || (stats.mode & 0o077) !== 0) return undefined;
    const pointer = parseObject((await readIfThere(path)) ?? '');
    return typeof pointer?.dir === 'string' ? pointer.dir : undefined;
  } catch {
    return undefined;
  }
}

function isAuthorized(header: string | undefined, token: string): boolean {
  const given = Buffer.from(header ?? '');
  const wanted = Buffer.from(`Bearer ${token}`);
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}

async function readChange(request: IncomingMessage) {
  let text = '';
  for await (const piece of request as AsyncIterable<Buffer>) {
    text += piece.toString('utf8');
    if (text.length > MAX_BODY_BYTES) return undefined;
  }
  const body = parseObject(text);
  if (!body || typeof body.name !== 'string' || !isFaultName(body.name) || typeof body.on !== 'boolean')
    return undefined;
  return { name: body.name, on: body.on };
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
