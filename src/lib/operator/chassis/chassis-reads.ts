import type { ChassisLink, ForwardedReply } from '../../chassis/index.ts';
import { GwError, type Tried } from '../../error/index.ts';
import { type JsonBounds, readJsonBytes } from '../../json/index.ts';
import type { Outflow } from '../connections/outflow.ts';
import { createTurns } from './turns.ts';

/** What came from the chassis and may be sent on as it is. */
export interface Passed {
  readonly contentType: string;
  /** Short JSON as text: node then writes head and body in one piece, which makes this a quarter faster (measured). */
  readonly body: Buffer | string;
}

/** Null when the chassis has no such thing, 'busy' when so many others are read for that it would have to wait long. */
export type ReadResult = Passed | null | 'busy';

/** Reads that the operator server forwards to the chassis; concurrent identical ones are one chassis request. */
export interface ChassisReads {
  /** Throws CHASSIS_NOT_CONNECTED, at once when the link says so, and what the chassis client throws. */
  deviceInfo(): Promise<ReadResult>;
  maps(): Promise<ReadResult>;
  map(id: string): Promise<ReadResult>;
  mapImage(id: string): Promise<ReadResult>;
  [Symbol.dispose](): void;
}

export const JSON_TYPE = 'application/json; charset=utf-8';
const DOCUMENT_MOST_BYTES = 1024 * 1024;
const MAP_MOST_BYTES = 32 * 1024 * 1024;
/** Decision of ours: the device information is read, so it is bounded before anything is made of it. */
const infoBounds: JsonBounds = { maxDepth: 200, maxValues: 20_000 };
/** Decisions of ours: maps and their images are read one after the other, since each may take 32 MiB of memory. */
const MAPS_AT_ONCE = 1;
const MOST_MAPS_WAITING = 16;

export function createChassisReads(link: ChassisLink, expectedSerial: string, outflow: Outflow): ChassisReads {
  // A snapshot is made for people; the state of the link is asked for with every read.
  let state = link.snapshot().link;
  const subscription = link.subscribe(() => {
    state = link.snapshot().link;
  });
  /**
   * What is being read now, by path. The chassis client shares concurrent reads too; sharing the checked result
   * here leaves next to nothing to do for each further reader.
   */
  const running = new Map<string, Promise<ReadResult>>();
  const mapTurns = createTurns(MAPS_AT_ONCE, MOST_MAPS_WAITING);

  async function load(path: string, maxBytes: number, check: Check): Promise<Passed | null> {
    const reply = await link.client.forward(path, { maxBytes });
    // Meanwhile another robot may have come to the address.
    if (state.kind !== 'connected') throw notConnected(state);
    return judge(reply, path, state.tried, check);
  }

  function read(path: string, begin: () => Promise<ReadResult>): Promise<ReadResult> {
    if (state.kind !== 'connected') return Promise.reject(notConnected(state));
    let reading = running.get(path);
    if (reading === undefined) {
      reading = begin().finally(() => running.delete(path));
      running.set(path, reading);
    }
    return reading;
  }

  const readDocument = (path: string, check: Check) => read(path, () => load(path, DOCUMENT_MOST_BYTES, check));
  const readLarge = (path: string, check: Check) =>
    read(path, () => mapTurns(async () => taken(await load(path, MAP_MOST_BYTES, check)), 'busy' as const));

  /** Concurrent reads of one path are one here, so nobody else has these bytes. */
  function taken(passed: Passed | null): ReadResult {
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
    maps: () => readDocument('/maps/', jsonType),
    map: (id) => readLarge(`/maps/${id}`, jsonType),
    mapImage: (id) => readLarge(`/maps/${id}.png`, pngType),
    [Symbol.dispose]: () => subscription[Symbol.dispose](),
  };
}

/** Why nothing is read from the chassis now, with the address that was tried. */
export function notConnected(
  state: Exclude<ReturnType<ChassisLink['snapshot']>['link'], { kind: 'connected' }>,
): GwError {
  const { tried } = state;
  switch (state.kind) {
    case 'connecting':
      return new GwError('CHASSIS_NOT_CONNECTED', 'not connected: the first answer is still awaited', { tried });
    case 'booting':
      return new GwError('CHASSIS_BOOTING', 'The chassis is still starting.', { tried });
    case 'not-connected': {
      const found = state.foundSerial === undefined ? '' : ` (found serial ${state.foundSerial.slice(0, 128)})`;
      return new GwError('CHASSIS_NOT_CONNECTED', `not connected: ${state.detail}${found}`, { tried });
    }
  }
}

/**
 * The content type to send; null when it is not what was asked for. The type is ours to say: what calls itself HTML at
 * the chassis address never reaches a browser as such.
 */
type Check = (reply: ForwardedReply, tried: Tried) => string | null;

const jsonType: Check = ({ content }) => (content === 'json' ? JSON_TYPE : null);
const pngType: Check = ({ content }) => (content === 'png' ? 'image/png' : null);

/** Null when the chassis has no such thing. */
function judge(reply: ForwardedReply, path: string, tried: Tried, check: Check): Passed | null {
  const asked = { ...tried, action: `GET ${path}` };
  if (reply.status === 404) return null;
  if (reply.status === 503) throw new GwError('CHASSIS_BOOTING', 'The chassis is still starting.', { tried: asked });
  if (reply.status !== 200) {
    throw new GwError('CHASSIS_REFUSED', `The chassis answered with status ${reply.status}.`, { tried: asked });
  }
  const body = Buffer.from(reply.body.buffer, reply.body.byteOffset, reply.body.byteLength);
  const contentType = check(reply, asked);
  if (contentType === null) {
    throw new GwError('CHASSIS_BAD_ANSWER', 'The chassis answered with something else than was asked for.', {
      tried: asked,
    });
  }
  return { contentType, body: contentType === JSON_TYPE ? asText(body) : body };
}

const TEXT_MOST_BYTES = 64 * 1024;

/** The text of these bytes where it is short, and the same bytes again when it is written. */
function asText(body: Buffer): Buffer | string {
  if (body.length > TEXT_MOST_BYTES) return body;
  const text = body.toString('utf8');
  return Buffer.from(text).equals(body) ? text : body;
}

/** The serial number in a device information; null when there is none to read. */
function serialIn(info: unknown): string | null {
  const { sn } = (info as { device?: { sn?: unknown } | null } | null)?.device ?? {};
  return typeof sn === 'string' ? sn : null;
}
