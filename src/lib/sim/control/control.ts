import { randomBytes, timingSafeEqual } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { asGwError, GwError } from '../../error/index.ts';
import { replaceFile } from '../../lifecycle/index.ts';
import type { CloudControl } from '../cloud/model.ts';
import { isFaultName } from '../faults.ts';
import { closeServer, listenOn } from '../listen.ts';
import type { Sim, SimPart } from '../model.ts';
import { CONTROL_HOST, type ControlView, HANDLE_FILE, parseObject, readPointer } from './handle.ts';

/** Enough for a message above the limit of the broker, in base64. */
const MAX_BODY_BYTES = 1024 * 1024;

/** Opens the control server of a simulator and writes its handle file; disposing removes both. */
export async function openControl(
  sim: Pick<Sim, 'chassis' | 'robots' | 'faults' | 'setFault' | 'settled'> & {
    readonly parts: readonly SimPart[];
    readonly cloud: CloudControl | null;
  },
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
        const change = readChange(await readBody(request));
        if (!change) {
          reply(400, { error: new GwError('USAGE', 'Expected {"name": a fault, "on": true or false}.').toJSON() });
          return;
        }
        sim.setFault(change.name, change.on);
        await sim.settled();
        reply(200, view());
      } else if (request.method === 'POST' && request.url === '/cloud') {
        const body = await readBody(request);
        // Loaded on demand: a person plays the cloud in few runs.
        const { runCloudAction } = await import('./cloud-actions.ts');
        reply(200, { dir, result: await runCloudAction(sim.cloud, sim.chassis.serial, body) });
      } else {
        request.resume();
        reply(404, { error: { message: 'not found' } });
      }
    } catch (error) {
      const gwError = asGwError(error);
      reply(gwError.code === 'INTERNAL' ? 500 : 400, { error: gwError.toJSON() });
    }
  }

  const port = await listenOn(server, CONTROL_HOST, 0);
  const url = `http://${CONTROL_HOST}:${port}`;
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

function isAuthorized(header: string | undefined, token: string): boolean {
  const given = Buffer.from(header ?? '');
  const wanted = Buffer.from(`Bearer ${token}`);
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}

/** The JSON object in the body; undefined for anything else and for a body above the limit. */
async function readBody(request: IncomingMessage): Promise<Record<string, unknown> | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) return undefined;
    chunks.push(chunk);
  }
  return parseObject(Buffer.concat(chunks).toString('utf8'));
}

function readChange(body: Record<string, unknown> | undefined) {
  if (!body || typeof body.name !== 'string' || !isFaultName(body.name) || typeof body.on !== 'boolean')
    return undefined;
  return { name: body.name, on: body.on };
}
