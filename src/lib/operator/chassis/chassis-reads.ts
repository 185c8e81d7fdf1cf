import { type ChassisLink, type ForwardedReply, isTooLarge } from '../../chassis/index.ts';
import { GwError, type Tried } from '../../error/index.ts';
import { type JsonBounds, readJsonBytes } from '../../json/index.ts';
import type { Outflow } from '../connections/outflow.ts';
import type { SharedBody } from '../http/answer.ts';
import { JSON_TYPE } from '../http/content-types.ts';
import { createLastMap, type MapPart } from './last-map.ts';

/** null: the chassis answered 404. 'busy': too many reads are waiting. 'too-large': more than the gateway forwards. */
export type ReadResult = SharedBody | null | 'busy' | 'too-large';

/**
 * Reads that the operator server forwards to the chassis; concurrent identical ones are one chassis request. With `orLast`,
 * those of the map are answered from memory while the link is down, as far as the last map was read.
 */
export interface ChassisReads {
  /** Throws CHASSIS_NOT_CONNECTED (at once while the link is down) and the errors of the chassis client. */
  deviceInfo(): Promise<ReadResult>;
  maps(orLast: boolean): Promise<ReadResult>;
  map(id: string, orLast: boolean): Promise<ReadResult>;
  mapImage(id: string, orLast: boolean): Promise<ReadResult>;
}

const MAX_DOCUMENT_BYTES = 1024 * 1024;
/** Project decision: of a map that is kept for the time when the chassis is away. */
const MAX_LAST_MAP_BYTES = 8 * 1024 * 1024;
const MAX_MAP_BYTES = 32 * 1024 * 1024;
/** Project decision: the device information is parsed, so its size is checked first. */
const infoBounds: JsonBounds = { maxDepth: 200, maxValues: 20_000 };
/** Project decisions: maps and their images are read one after the other, since each may take 32 MiB of memory. */
const MAX_CONCURRENT_MAP_READS = 1;
const MAX_WAITING_MAP_READS = 16;

export function createChassisReads(link: ChassisLink, expectedSerial: string, outflow: Outflow): ChassisReads {
  /** Reads in progress by path. Sharing the checked result spares the check for each further reader. */
  const running = new Map<string, Promise<ReadResult>>();
  const lastMap = createLastMap(link, MAX_LAST_MAP_BYTES);
  const mapTurns = createTurns(MAX_CONCURRENT_MAP_READS, MAX_WAITING_MAP_READS);

  async function load(path: string, maxBytes: number, check: Check): Promise<SharedBody | null> {
    const reply = await link.client.forward(path, { maxBytes });
    // Another robot may have taken over the address meanwhile.
    const state = link.state();
    if (state.kind !== 'connected') throw notConnected(state);
    return judge(reply, path, state.tried, check);
  }

  function read(path: string, begin: () => Promise<ReadResult>): Promise<ReadResult> {
    const state = link.state();
    if (state.kind !== 'connected') return Promise.reject(notConnected(state));
    let reading = running.get(path);
    if (reading === undefined) {
      reading = begin().finally(() => running.delete(path));
      running.set(path, reading);
    }
    return reading;
  }

  const readDocument = (path: string, check: Check) => read(path, () => load(path, MAX_DOCUMENT_BYTES, check));
  const readLarge = (path: string, check: Check) =>
    read(path, () => mapTurns(() => readMap(path, check), 'busy' as const));

  /** A part of the map, which is kept for the time when the link is down. */
  async function readPart(
    part: MapPart,
    path: string,
    orLast: boolean,
    readNow: (path: string, check: Check) => Promise<ReadResult>,
    check: Check,
  ): Promise<ReadResult> {
    // Not through the outflow again: it may free the bytes that it takes.
    const last = orLast && link.state().kind !== 'connected' ? lastMap.find(path) : undefined;
    if (last !== undefined) return last;
    const of = lastMap.current();
    const result = await readNow(path, check);
    if (typeof result === 'object' && result !== null) lastMap.keep(part, path, result, of);
    return result;
  }

  async function readMap(path: string, check: Check): Promise<ReadResult> {
    try {
      return taken(await load(path, MAX_MAP_BYTES, check));
    } catch (error) {
      if (isTooLarge(error)) return 'too-large';
      throw error;
    }
  }

  /** Concurrent reads of one path are one read, so this is the only reference to the bytes. */
  function taken(passed: SharedBody | null): ReadResult {
    if (passed === null || typeof passed.body === 'string') return passed;
    const body = outflow.take(passed.body);
    return body === null ? 'busy' : { ...passed, body };
  }

  function ofThisRobot(reply: ForwardedReply, tried: Tried): string | null {
    if (reply.content !== 'json') return null;
    const info = readJsonBytes(reply.body, 'answer', infoBounds);
    if (!info.ok) return null;
    const found = serialIn(info.value);
    if (found === null || found === expectedSerial) return JSON_TYPE;
    const message = `not connected: another chassis answers (found serial ${found.slice(0, 128)})`;
    throw new GwError('CHASSIS_NOT_CONNECTED', message, { tried });
  }

  return {
    deviceInfo: () => readDocument('/device/info', ofThisRobot),
    maps: (orLast) => readPart('list', '/maps/', orLast, readDocument, jsonType),
    map: (id, orLast) => readPart('data', `/maps/${id}`, orLast, readLarge, jsonType),
    mapImage: (id, orLast) => readPart('image', `/maps/${id}.png`, orLast, readLarge, pngType),
  };
}

/** The error for a read while the chassis is not connected, with the address that was tried. */
export function notConnected(
  state: Exclude<ReturnType<ChassisLink['snapshot']>['link'], { kind: 'connected' }>,
): GwError {
  const { tried } = state;
  switch (state.kind) {
    case 'connecting':
      return new GwError('CHASSIS_NOT_CONNECTED', 'not connected: no answer received yet', { tried });
    case 'booting':
      return new GwError('CHASSIS_BOOTING', 'The chassis is still starting.', { tried });
    case 'not-connected': {
      const found = state.foundSerial === undefined ? '' : ` (found serial ${state.foundSerial.slice(0, 128)})`;
      return new GwError('CHASSIS_NOT_CONNECTED', `not connected: ${state.detail}${found}`, { tried });
    }
  }
}

/**
 * The content type to send; null when the answer is not of the requested kind. The type of the answer itself is not
 * forwarded: HTML from the chassis address must never reach a browser as HTML.
 */
type Check = (reply: ForwardedReply, tried: Tried) => string | null;

const jsonType: Check = ({ content }) => (content === 'json' ? JSON_TYPE : null);
const pngType: Check = ({ content }) => (content === 'png' ? 'image/png' : null);

/** null: the chassis answered 404. */
function judge(reply: ForwardedReply, path: string, tried: Tried, check: Check): SharedBody | null {
  const asked = { ...tried, action: `GET ${path}` };
  if (reply.status === 404) return null;
  if (reply.status === 503) throw new GwError('CHASSIS_BOOTING', 'The chassis is still starting.', { tried: asked });
  if (reply.status !== 200) {
    throw new GwError('CHASSIS_REFUSED', `The chassis answered with status ${reply.status}.`, { tried: asked });
  }
  const body = Buffer.from(reply.body.buffer, reply.body.byteOffset, reply.body.byteLength);
  const contentType = check(reply, asked);
  if (contentType === null) {
    throw new GwError('CHASSIS_BAD_ANSWER', 'The chassis answered with another content than requested.', {
      tried: asked,
    });
  }
  return { contentType, body: contentType === JSON_TYPE ? asText(body) : body };
}

const MAX_TEXT_BYTES = 64 * 1024;

/** Short bytes as a string if encoding it gives the same bytes again; otherwise the bytes. */
function asText(body: Buffer): Buffer | string {
  if (body.length > MAX_TEXT_BYTES) return body;
  const text = body.toString('utf8');
  return Buffer.from(text).equals(body) ? text : body;
}

/** The serial number in a device information; null when there is none. */
function serialIn(info: unknown): string | null {
  const { sn } = (info as { device?: { sn?: unknown } | null } | null)?.device ?? {};
  return typeof sn === 'string' ? sn : null;
}

/**
 * Limits concurrent work: up to `maxConcurrent` run, up to `maxWaiting` wait in order of arrival, and further ones get
 * `beyond` at once.
 */
function createTurns(maxConcurrent: number, maxWaiting: number) {
  let running = 0;
  const waiting: (() => void)[] = [];

  return async function inTurn<T, B>(work: () => Promise<T>, beyond: B): Promise<T | B> {
    if (running >= maxConcurrent) {
      if (waiting.length >= maxWaiting) return beyond;
      // The finished work passes its slot on, so `running` does not change.
      await new Promise<void>((resolve) => waiting.push(resolve));
    } else running += 1;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}
