import { randomBytes, timingSafeEqual } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { z } from 'zod';
import { asGwError, GwError } from '../../error/index.ts';
import { replaceFile } from '../../lifecycle/index.ts';
import type { CloudControl } from '../cloud/model.ts';
import { faultNames } from '../faults.ts';
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
        return;
      }
      const { set, cloud } = await readBody(request);
      if (cloud !== undefined) {
        // Loaded on demand: a person plays the cloud in few runs.
        const { runCloudAction } = await import('./cloud-actions.ts');
        reply(200, await runCloudAction({ ...sim, dir }, cloud));
        return;
      }
      if (set) sim.setFault(set.name, set.on);
      await sim.settled();
      reply(200, view());
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

const bodySchema = z.strictObject({
  /** The change of a fault. */
  set: z.strictObject({ name: z.enum(faultNames), on: z.boolean() }).optional(),
  /** An action of the cloud. */
  cloud: z.looseObject({}).optional(),
});

/** The request in the body. Throws USAGE for any other body, also one above the limit. */
async function readBody(request: IncomingMessage): Promise<z.infer<typeof bodySchema>> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= MAX_BODY_BYTES) chunks.push(chunk);
  }
  const parsed = bodySchema.safeParse(
    size > MAX_BODY_BYTES ? undefined : parseObject(Buffer.concat(chunks).toString()),
  );
  if (parsed.success) return parsed.data;
  throw new GwError('USAGE', 'Invalid or too large control request.');
}
