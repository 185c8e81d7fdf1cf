import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { GwError, type Tried } from '../error/index.ts';
import { checkJson, type JsonBounds } from '../json/index.ts';
import { type Clock, systemClock } from '../lifecycle/index.ts';
import { Agent, requestOver } from '../net/http/index.ts';
import { MIN_TLS_VERSION } from '../site/index.ts';
import type { SharedBody } from './http/answer.ts';
import { JSON_TYPE } from './http/content-types.ts';
import { refusalTable } from './http/refusal.ts';

/** A configured device of the site whose answer is forwarded. */
export interface Peer extends AsyncDisposable {
  /** Throws PEER_NOT_REACHABLE naming the address. */
  read(): Promise<PassedAnswer>;
}

export interface PassedAnswer extends SharedBody {
  readonly statusCode: number;
  /** It came from the device as it is: it must run and load nothing in a browser. */
  readonly isForeign: boolean;
}

/**
 * json: only a JSON answer with status 200. anything: every status of HTTP, type and body within the limit of bytes.
 */
type Passes = 'json' | 'anything';

/**
 * Marks forwarded requests of this process, because a host name may resolve to this gateway itself.
 * @source RFC 9110, 7.6.3
 */
const VIA_NAME = `gw-${randomBytes(8).toString('hex')}`;
const VIA = `1.1 ${VIA_NAME}`;
const LOOP_STATUS = refusalTable.LOOP_DETECTED[0];

const MAX_TYPE_LENGTH = 256;
/** Of HTTP; the server here refuses to send another one. @source RFC 9110, 15 */
const MAX_STATUS = 599;

const TIMEOUT_MS = 3_000;
const MAX_BYTES = 1024 * 1024;
/** Project decision. The answer is forwarded as received, so it is only scanned. */
const bounds: JsonBounds = { maxDepth: 200, maxValues: 200_000 };

interface PeerOptions {
  readonly what: string;
  readonly url: string;
  readonly path: string;
  readonly passes: Passes;
}

/**
 * `what` names the device in errors: `voice service`. `path` is appended to the configured address; both
 * interfaces are not shown by the specification, so it is the last part of the route of gw. Project decision.
 */
export function createPeer({ what, url, path, passes }: PeerOptions, clock: Pick<Clock, 'after'> = systemClock): Peer {
  const target = new URL(url);
  target.pathname = target.pathname.replace(/\/$/, '') + path;
  const tried: Tried = {
    address: target.hostname.replace(/^\[|\]$/g, ''),
    port: Number(target.port || (target.protocol === 'https:' ? 443 : 80)),
    action: `GET ${target.pathname}`,
  };
  const agent = new Agent({
    connections: 4,
    connect: { timeout: TIMEOUT_MS, minVersion: MIN_TLS_VERSION },
    headersTimeout: TIMEOUT_MS,
    bodyTimeout: TIMEOUT_MS,
    maxResponseSize: MAX_BYTES,
  });
  let reading: Promise<PassedAnswer> | undefined;

  async function fetchAnswer(): Promise<PassedAnswer> {
    const late = new AbortController();
    using _limit = clock.after(TIMEOUT_MS, () => late.abort(new Error(`no answer within ${TIMEOUT_MS} ms`)));
    const answer = await requestOver(agent, {
      origin: target.origin,
      path: target.pathname + target.search,
      method: 'GET',
      headers: { accept: 'application/json', via: VIA },
      signal: late.signal,
    }).catch((error: unknown) => {
      throw new GwError('PEER_NOT_REACHABLE', `The ${what} does not answer.`, { tried, cause: error });
    });
    if (answer.statusCode === LOOP_STATUS) {
      await answer.body.dump().catch(() => {});
      throw new GwError('PEER_NOT_REACHABLE', `The address of the ${what} is this gateway itself.`, {
        tried,
        remedy: `Set the address of the ${what} itself in the site file, then restart gw serve.`,
      });
    }
    const { statusCode } = answer;
    if (passes === 'json' ? statusCode !== 200 : statusCode > MAX_STATUS) {
      await answer.body.dump().catch(() => {});
      throw new GwError('PEER_NOT_REACHABLE', `The ${what} answered with status ${statusCode}.`, { tried });
    }
    const bytes = await answer.body.bytes().catch((error: unknown) => {
      throw new GwError('PEER_NOT_REACHABLE', `The answer of the ${what} was truncated.`, { tried, cause: error });
    });
    const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    if (passes === 'anything') return { statusCode, contentType: typeOf(answer.headers), body, isForeign: true };
    const finding = await checkJson(body, bounds);
    if (finding !== 'sound') {
      const answered = finding === 'not-json' ? 'did not answer in JSON' : 'answered with more than the limit';
      throw new GwError('PEER_NOT_REACHABLE', `The ${what} ${answered}.`, { tried });
    }
    return { statusCode, contentType: JSON_TYPE, body, isForeign: false };
  }

  return {
    read() {
      reading ??= fetchAnswer().finally(() => {
        reading = undefined;
      });
      return reading;
    },
    async [Symbol.asyncDispose]() {
      await agent.destroy();
    },
  };
}

/** Whether a request was forwarded by this process itself. */
export function isOwnForward({ via }: IncomingHttpHeaders): boolean {
  return via?.includes(VIA_NAME) === true;
}

/** The type as the device gave it; without a usable one its bytes are of no known type. */
function typeOf({ 'content-type': type }: IncomingHttpHeaders): string {
  return typeof type === 'string' && type !== '' && type.length <= MAX_TYPE_LENGTH ? type : 'application/octet-stream';
}
