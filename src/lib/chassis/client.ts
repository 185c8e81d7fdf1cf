import type { z } from 'zod';
import { GwError } from '../error/index.ts';
import { checkJson, problemOfFinding, readJsonBytes } from '../json/index.ts';
import { type Clock, systemClock } from '../lifecycle/index.ts';
import { DialError, type Dialer, type Endpoint } from '../net/index.ts';
import { isPng } from '../png/index.ts';
import { badAnswer, failureDetail, interrupted, wrongDevice } from './failure.ts';
import { readMapListing } from './map-listing.ts';
import type { ChassisClient, ChassisIdentity, ForwardedReply, MapFile } from './model.ts';
import {
  bootProgressSchema,
  currentMapSchema,
  type DeviceInfo,
  deviceInfoSchema,
  mapListSchema,
  mapSchema,
  misfit,
} from './schema.ts';
import { createSharedReads } from './shared-reads.ts';
import {
  createTransport,
  type Limits,
  limits,
  mapBounds,
  type Reply,
  type Request,
  type Transport,
} from './transport.ts';
import { paths } from './wire.ts';

/** Content type of forwarded bytes, or why they are not forwarded. */
type ForwardedContent =
  | { readonly kind: 'json' | 'png'; readonly problem?: undefined }
  | { readonly kind?: undefined; readonly problem: string };

const LESS_THAN = 0x3c;

/** The files of a map: where each is, and what it has to be. */
const mapFiles = {
  data: { ending: '', limits: limits.mapData, check: (reply: Reply) => void parseReply(reply, mapSchema) },
  image: {
    ending: '.png',
    limits: limits.picture,
    check(reply: Reply) {
      if (!isPng(reply.body)) throw badAnswer('map image is not a PNG', reply.tried);
    },
  },
  localisation: { ending: '.pbstream', limits: limits.localisation, check: (_reply: Reply) => {} },
} as const;

export interface ChassisClientOptions {
  readonly endpoint: Endpoint;
  readonly dialer: Dialer;
  /** When set, `identity` refuses every other chassis. */
  readonly expectedSerial?: string | undefined;
  /** Value of the `Secret` request header, which some software versions require. It is no protection. */
  readonly secret?: string | undefined;
  /** Timeout for the response head, in milliseconds. */
  readonly timeoutMs?: number | undefined;
  readonly clock?: Clock | undefined;
}

/** Short enough to report 'not connected' within two seconds. */
const DEFAULT_TIMEOUT_MS = 1_600;

/** Internals of a client, for moves.ts and checked-order.ts only. */
export interface ClientInside {
  readonly transport: Transport;
  readonly expectedSerial: string | undefined;
}
const insides = new WeakMap<ChassisClient, ClientInside>();

/**
 * The read calls of the REST interface. Every response is bounded in size and time and checked against a schema that
 * keeps unknown fields; redirects are not followed. Throws CHASSIS_NOT_CONNECTED, CHASSIS_BOOTING,
 * CHASSIS_BAD_ANSWER, CHASSIS_REFUSED, CHASSIS_WRONG_DEVICE, INTERRUPTED, each with `tried`. Creating a client
 * throws SECRET_UNREADABLE when the secret cannot be sent.
 * @source vendor description (HINWEIS); paths and identity: specification, 'Chassis interface', 'Addressing rules'
 */
export function createChassisClient(options: ChassisClientOptions): ChassisClient {
  const { endpoint, dialer, expectedSerial, secret } = options;
  const clock = options.clock ?? systemClock;
  if (secret !== undefined && !/^[\x21-\x7e]+$/.test(secret)) {
    throw new GwError('SECRET_UNREADABLE', 'The secret of the chassis is empty or not valid in an HTTP header.', {
      remedy: 'Write it to its file as one line of printable ASCII characters without spaces.',
    });
  }
  const transport = createTransport({
    endpoint,
    dialer,
    clock,
    secret,
    timeoutMs: options.timeoutMs ?? DEFAULT_TIMEOUT_MS,
  });
  const share = createSharedReads<ForwardedReply>();

  const get = (path: string, kind: Limits, signal?: AbortSignal) =>
    transport.send({ method: 'GET', path, limits: kind, signal });

  async function read<S extends z.ZodType>(path: string, schema: S, kind: Limits, signal?: AbortSignal) {
    const reply = await get(path, kind, signal);
    return { ...parseReply(await accepted(transport.send, reply, path, signal), schema), body: reply.body };
  }

  async function mapFile(id: string, what: MapFile, signal?: AbortSignal) {
    const { ending, limits: bounds, check } = mapFiles[what];
    const path = `${mapPath(id)}${ending}`;
    const reply = await get(path, bounds, signal);
    try {
      check(await accepted(transport.send, reply, path, signal));
      return { bytes: reply.body, error: null };
    } catch (error) {
      if (signal?.aborted || !(error instanceof GwError)) throw error;
      return { bytes: reply.body, error };
    }
  }

  async function validFile(id: string, what: MapFile, signal?: AbortSignal) {
    const { bytes, error } = await mapFile(id, what, signal);
    if (error !== null) throw error;
    return bytes;
  }

  const client: ChassisClient = {
    endpoint,
    async identity(signal) {
      return identify(transport.send, expectedSerial, signal);
    },
    async deviceInfo(signal) {
      return (await readDeviceInfo(transport.send, signal)).raw;
    },
    async bootProgress(signal) {
      const { value } = await read(paths.bootProgress, bootProgressSchema, limits.document, signal);
      return {
        progress: value.progress,
        step: value.logs?.at(-1)?.msg ?? null,
        startTimeS: value.start_time ?? null,
      };
    },
    async listMaps(signal) {
      const { value, body } = await read(paths.maps, mapListSchema, limits.mapList, signal);
      return readMapListing(value, body);
    },
    async map(id, signal) {
      return (await read(mapPath(id), mapSchema, limits.mapData, signal)).raw as Readonly<Record<string, unknown>>;
    },
    mapFile,
    mapBytes: (id, signal) => validFile(id, 'data', signal),
    mapLocalisation: (id, signal) => validFile(id, 'localisation', signal),
    mapPng: (id, signal) => validFile(id, 'image', signal),
    async currentMap(signal) {
      const path = paths.currentMap;
      const reply = await get(path, limits.document, signal);
      // 404: no current map, which is a state and not a failure.
      if (reply.status === 404) return null;
      const { value } = parseReply(await accepted(transport.send, reply, path, signal), currentMapSchema);
      return { id: value.id, uid: value.uid, name: value.map_name, mapVersion: value.map_version };
    },
    async forward(path, { maxBytes, signal }) {
      if (!/^(\/[A-Za-z0-9._~-]+)+\/?$/.test(path) || /\/\.{1,2}(\/|$)/.test(path)) {
        throw new GwError('INTERNAL', `${JSON.stringify(path)} is not a path of the chassis interface.`);
      }
      try {
        return await share(`${maxBytes} ${path}`, signal, async (own) => {
          const reply = await get(path, { maxBytes, totalTimeoutMs: limits.mapData.totalTimeoutMs }, own);
          if (reply.status === 503) throw await booting(transport.send, reply, own);
          const { status, body } = reply;
          const content = status === 200 ? await contentOf(body) : null;
          if (content?.problem !== undefined) throw badAnswer(content.problem, reply.tried);
          return { status, body, content: content?.kind ?? null };
        });
      } catch (error) {
        if (signal?.aborted) {
          throw interrupted(signal.reason, { address: endpoint.host, port: endpoint.port, action: `GET ${path}` });
        }
        throw error;
      }
    },
    async [Symbol.asyncDispose]() {
      await transport.close();
    },
  };
  insides.set(client, { transport, expectedSerial });
  return client;
}

/**
 * Only JSON and PNG pass: a page of a foreign device must not reach a browser from the origin of the gateway. Decided
 * by the bytes and not by Content-Type, without building objects: a map of 32 MiB can hold eleven million.
 */
export async function contentOf(body: Uint8Array): Promise<ForwardedContent> {
  if (isPng(body)) return { kind: 'png' };
  if (body[0] === LESS_THAN) return { problem: 'answered with HTML instead of JSON' };
  const problem = problemOfFinding(await checkJson(body, mapBounds), mapBounds);
  return problem === null ? { kind: 'json' } : { problem };
}

/** For moves.ts and checked-order.ts only: the transport of this client. */
export function insideOf(client: ChassisClient): ClientInside {
  const inside = insides.get(client);
  if (inside === undefined) throw new GwError('INTERNAL', 'This chassis client was not made by createChassisClient.');
  return inside;
}

type Send = Transport['send'];

/** Identity over a given connection, so that an order can be sent over the same connection. */
export async function identify(send: Send, expectedSerial: string | undefined, signal?: AbortSignal) {
  const { value, reply } = await readDeviceInfo(send, signal);
  if (expectedSerial !== undefined && value.device.sn !== expectedSerial) {
    throw wrongDevice(expectedSerial, value.device.sn, reply.tried);
  }
  return identityOf(value);
}

function identityOf(info: DeviceInfo): ChassisIdentity {
  const announced = Object.entries(info.caps ?? {}).filter((entry): entry is [string, boolean] => {
    return typeof entry[1] === 'boolean';
  });
  return {
    serial: info.device.sn,
    model: info.device.model,
    software: info.axbot_version,
    capabilities: Object.fromEntries(announced),
  };
}

async function readDeviceInfo(send: Send, signal?: AbortSignal) {
  const path = paths.deviceInfo;
  const reply = await send({ method: 'GET', path, limits: limits.document, signal });
  if (reply.status === 503) throw await booting(send, reply, signal);
  // A chassis always serves its device information: another status means another device.
  if (reply.status !== 200) throw badAnswer(`status ${reply.status} for GET /device/info`, reply.tried);
  const { value, raw } = parseReply(reply, deviceInfoSchema);
  return { value, raw: raw as Readonly<Record<string, unknown>>, reply };
}

/** The reply when its status is 2xx; throws CHASSIS_BOOTING or CHASSIS_REFUSED otherwise. */
export async function accepted(send: Send, reply: Reply, path: string, signal?: AbortSignal): Promise<Reply> {
  if (reply.status >= 200 && reply.status < 300) return reply;
  if (reply.status === 503 && path !== paths.bootProgress) throw await booting(send, reply, signal);
  const reason = refusalText(reply);
  throw new GwError(
    'CHASSIS_REFUSED',
    `The chassis answered ${reply.tried.action ?? path} with status ${reply.status}${reason === '' ? '' : `: ${reason}`}.`,
    { tried: reply.tried, details: { status: reply.status, answer: reason } },
  );
}

/** 503 means that the chassis is starting, if it also reports boot progress; otherwise it is another device. */
async function booting(send: Send, reply: Reply, signal?: AbortSignal): Promise<GwError> {
  const request: Request = { method: 'GET', path: paths.bootProgress, limits: limits.document, signal };
  let progress: number | null = null;
  let step: string | null = null;
  try {
    const answer = await send(request);
    if (answer.status !== 200) return badAnswer('status 503 without boot progress', reply.tried);
    const { value } = parseReply(answer, bootProgressSchema);
    progress = value.progress;
    step = value.logs?.at(-1)?.msg?.slice(0, 200) ?? null;
  } catch (error) {
    if (signal?.aborted) return interrupted(signal.reason, reply.tried);
    if (!(error instanceof DialError)) {
      return badAnswer(`status 503 with malformed boot progress: ${failureDetail(error)}`, reply.tried);
    }
  }
  const how = progress === null ? '' : `, ${Math.round(progress * 100)} % done`;
  return new GwError('CHASSIS_BOOTING', `The chassis is starting${how}.`, {
    tried: reply.tried,
    details: { progress, step },
  });
}

/** Throws CHASSIS_BAD_ANSWER; `raw` is the parsed document, `value` the output of the schema. */
export function parseReply<S extends z.ZodType>(
  reply: Reply,
  schema: S,
): { readonly value: z.output<S>; readonly raw: unknown } {
  const reading = readJsonBytes(reply.body, 'answer', reply.json);
  if (!reading.ok) throw badAnswer(reading.problem, reply.tried);
  const result = schema.safeParse(reading.value);
  if (!result.success) throw badAnswer(`unexpected response shape: ${misfit(result.error)}`, reply.tried);
  return { value: result.data, raw: reading.value };
}

const MAX_REFUSAL_BYTES = 16 * 1024;

/** The reason of a refusal; the vendor's own client reads these keys in this order. */
function refusalText(reply: Reply): string {
  const { body } = reply;
  // A reason of a chassis is short.
  const reading = readJsonBytes(body.subarray(0, MAX_REFUSAL_BYTES), 'answer', reply.json);
  if (!reading.ok) {
    const text = Buffer.from(body.subarray(0, MAX_REFUSAL_BYTES)).toString('utf8').trim();
    return text.startsWith('<') ? 'an HTML page' : text.slice(0, 200);
  }
  const { value } = reading;
  const fields = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>;
  for (const key of ['detail', 'message', 'error']) {
    const found = fields[key];
    if (typeof found === 'string') return found.slice(0, 200);
    if (found !== undefined && found !== null) return JSON.stringify(found).slice(0, 200);
  }
  // A refusal that lists fields only: {"target_x": ["…"]}.
  return Object.keys(fields).length > 0 ? JSON.stringify(fields).slice(0, 200) : '';
}

/** Throws USAGE when the id is not valid: it becomes part of a path. */
export function mapPath(id: string): string {
  if (!/^-?[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$/.test(id)) {
    throw new GwError('USAGE', `${JSON.stringify(id)} is not a map id.`, {
      remedy: 'Use a number, or letters, digits, - and _, as `gw map list` shows them.',
    });
  }
  return `${paths.maps}${id}`;
}
