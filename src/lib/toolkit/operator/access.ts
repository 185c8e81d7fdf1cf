import type { Socket } from 'node:net';
import type { z } from 'zod';
import { type ErrorCode, errorTable, GwError, type Tried } from '../../error/index.ts';
import { type Clock, firstOf } from '../../lifecycle/index.ts';
import type { Agent } from '../../net/http/index.ts';
import { afterOverLink, DialError, type Dialer, slowLinkRemedy, triedOver } from '../../net/index.ts';
import { ROBOT_HEADER, type Route, routes } from '../../operator/index.ts';
import { COMMAND_AGENT } from '../../site/index.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import { answeredErrorSchema } from './answered-error.ts';
import { findEvent } from './first-event.ts';

type Method = Route['method'];

/**
 * A client of the operator server. Every request names the robot of the site file. Throws GATEWAY_OTHER_ROBOT when the
 * gateway of another robot answers, and before an order to a gateway that does not name its robot; never for a request
 * that stops or ends.
 */
export interface OperatorAccess {
  /** Sends a request to the full socket of the running gateway. Throws OPERATOR_NOT_REACHABLE, or the answered error. */
  ask<T extends z.ZodType>(method: Method, path: string, schema: T, body?: object): Promise<z.output<T>>;
  /** The answer to a GET as text. Throws as `ask`. */
  askText(path: string): Promise<string>;
  /** The data of the first event of this name of an endless stream, which is then left. Throws as `ask`. */
  askEvent<T extends z.ZodType>(path: string, name: string, schema: T): Promise<z.output<T>>;
  /** Returns the status, and the code of a refusal, instead of throwing it. Throws OPERATOR_NOT_REACHABLE. */
  answerTo(method: Method, path: string, body?: object): Promise<OperatorAnswer>;
  /** Serial number of the robot of this gateway; null: it does not name it. */
  robot(): Promise<string | null>;
  /** Signs in with the device password. Throws OPERATOR_NOT_REACHABLE, or the answered error. */
  signIn(password: string): Promise<OperatorSession>;
}

/** The address of the operator server; a stop must not depend on a complete site file. */
export interface OperatorPlace extends Pick<Toolkit, 'dialer' | 'clock'> {
  readonly site: {
    readonly operator: Pick<Toolkit['site']['operator'], 'port'>;
    /** Absent for a stop, which is for any robot. */
    readonly chassis?: Pick<Toolkit['site']['chassis'], 'serial'>;
  };
}

interface OperatorAnswer {
  readonly status: number;
  /** Of a refusal; null when it has none. */
  readonly code: string | null;
}

/** A signed-in session; its disposal signs out. */
export interface OperatorSession extends Omit<OperatorAccess, 'signIn'>, AsyncDisposable {
  /** Header of every request of this session. */
  readonly cookie: string;
  signOut(): Promise<OperatorAnswer>;
}

const TIMEOUT_MS = 5_000;
export const DIAL_MS = 2_000;
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;
const SIGN_IN_PATH = '/api/anmeldung';

/**
 * Client of the operator server, through the dialer of the toolkit: over SSH, 127.0.0.1 is the remote host.
 */
export function operatorAccess(toolkit: OperatorPlace, { signal }: CheckContext, host = '127.0.0.1'): OperatorAccess {
  const { dialer, clock } = toolkit;
  const { port } = toolkit.site.operator;
  const way: Way = {
    origin: operatorOrigin(toolkit, host),
    agent: () => operatorAgent(dialer),
    dialer,
    clock,
    tried: { address: host, port },
    robot: toolkit.site.chassis?.serial,
    isSame: false,
  };
  const { fetch, ask, askText, askEvent, answerTo, robot } = requestsOver(way, null, signal);
  return {
    ask,
    askText,
    askEvent,
    answerTo,
    robot,
    async signIn(password) {
      const { status, json, setCookies, tried } = await fetch('POST', SIGN_IN_PATH, { password });
      if (status >= 400) throw answeredError(status, json, tried);
      const [cookie] = setCookies.map((line) => line.split(';', 1)[0] ?? '').filter((pair) => pair.includes('='));
      if (cookie === undefined) throw notTheOperator(tried);
      const signedIn = requestsOver(way, cookie, signal);
      const signOut = () => signedIn.answerTo('DELETE', SIGN_IN_PATH);
      return {
        cookie,
        ask: signedIn.ask,
        askText: signedIn.askText,
        askEvent: signedIn.askEvent,
        answerTo: signedIn.answerTo,
        robot,
        signOut,
        async [Symbol.asyncDispose]() {
          // Must not hide the error of the check; the session also ends by its idle timeout.
          await signOut().catch(() => {});
        },
      };
    },
  };
}

/** Undefined for a path with a variable part, none of which needs more than the usual. */
function routeOf(method: Method, path: string): Route | undefined {
  return routes.find((row) => row.method === method && row.path === path.split('?', 1)[0]);
}

/** The error of an answer of another robot; null: of a gateway that does not name its robot. */
function otherRobot(found: string | null, meant: string, tried: Tried): GwError {
  if (found !== null) {
    const message = `This gateway belongs to robot ${found}, and the site file of this command names ${meant}.`;
    return new GwError('GATEWAY_OTHER_ROBOT', message, { tried, details: { found, meant } });
  }
  const message = `This gateway does not name its robot; the site file of this command names ${meant}.`;
  const remedy = 'Bring both to the same version of gw; until then run the command on the gateway.';
  return new GwError('GATEWAY_OTHER_ROBOT', message, { tried, remedy, details: { found, meant } });
}

/** A header of another program: whatever is no serial number names no robot. */
export function robotNamed(value: string | string[] | undefined): string | null {
  return typeof value === 'string' && /^[A-Za-z0-9:_-]{1,128}$/.test(value) ? value : null;
}

/** Transport of requests to the operator server. */
export interface Way {
  readonly origin: string;
  readonly agent: () => Promise<Agent>;
  readonly dialer: Dialer;
  readonly clock: Clock;
  /** The address alone. */
  readonly tried: Tried;
  /** For a whole request; TIMEOUT_MS by default. */
  readonly timeoutMs?: number;
  /** Serial number of the robot that is meant; absent: any. */
  readonly robot: string | undefined;
  /** An answer has named that robot. */
  isSame: boolean;
}

/** Requests as the session of this cookie; null: without one. */
export function requestsOver(way: Way, cookie: string | null, signal: AbortSignal) {
  async function fetch(method: Method, path: string, body?: object, isEnough?: Asked['isEnough']) {
    const { forAnyRobot, isOrder } = routeOf(method, path) ?? {};
    if (way.robot === undefined || forAnyRobot) return await fetchAny(method, path, body);
    if (isOrder && !way.isSame) compareRobot(await fetchAny('GET', '/api/stopp'), true);
    const reply = await fetchAny(method, path, body, isEnough);
    compareRobot(reply, false);
    return reply;
  }

  function compareRobot({ robot, tried }: { robot: string | null; tried: Tried }, isNeeded: boolean): void {
    if (robot === way.robot) way.isSame = true;
    else if (robot !== null || isNeeded) throw otherRobot(robot, way.robot ?? '', tried);
  }

  async function fetchAny(method: Method, path: string, body?: object, isEnough?: Asked['isEnough']) {
    const action = `${method} ${path}`;
    const reply = await fetchText(way, { path, method, body, cookie, isEnough }, signal).catch((cause: unknown) => {
      signal.throwIfAborted();
      // The error of the transport, not of the gateway.
      if (cause instanceof GwError && !(cause instanceof DialError)) throw cause;
      const tried: Tried = { ...way.tried, ...triedOver(way.dialer), action };
      const wasRefused = cause instanceof DialError && cause.failure !== 'no-answer';
      throw new GwError('OPERATOR_NOT_REACHABLE', 'not connected: the operator server does not answer.', {
        tried,
        remedy: wasRefused ? undefined : slowLinkRemedy(tried),
        cause,
      });
    });
    const tried: Tried = { ...way.tried, ...triedOver(way.dialer), action };
    return { ...reply, json: reply.text === null ? undefined : asJson(reply.text), tried };
  }
  return {
    fetch,
    async ask<T extends z.ZodType>(method: Method, path: string, schema: T, body?: object): Promise<z.output<T>> {
      const { status, json, tried } = await fetch(method, path, body);
      if (status >= 400) throw answeredError(status, json, tried);
      const result = readAnswer(schema, json);
      if (result.success) return result.data;
      throw notTheOperator(tried, result.error);
    },
    async askText(path: string): Promise<string> {
      const { status, json, text, tried } = await fetch('GET', path);
      if (status >= 400) throw answeredError(status, json, tried);
      if (text === null) throw notTheOperator(tried);
      return text;
    },
    async askEvent<T extends z.ZodType>(path: string, name: string, schema: T): Promise<z.output<T>> {
      const find = findEvent(name);
      let data: string | null = null;
      const isWhole = (part: string) => {
        data = find(part);
        return data !== null;
      };
      const { status, json, tried } = await fetch('GET', path, undefined, isWhole);
      if (status >= 400) throw answeredError(status, json, tried);
      const result = readAnswer(schema, data === null ? undefined : asJson(data));
      if (result.success) return result.data;
      throw notTheOperator(tried, result.error);
    },
    async answerTo(method: Method, path: string, body?: object): Promise<OperatorAnswer> {
      const { status, json } = await fetch(method, path, body);
      return { status, code: answeredErrorSchema.safeParse(json).data?.error.code ?? null };
    },
    robot: async () => (await fetch('GET', '/api/health')).robot,
  };
}

/**
 * The same for a check that must undo its changes, also after an interruption: its requests are not aborted by the
 * signal, only by their own timeout.
 */
export function steadyOperatorAccess(toolkit: OperatorPlace, context: CheckContext, host?: string): OperatorAccess {
  return operatorAccess(toolkit, { ...context, signal: new AbortController().signal }, host);
}

/** `http://host:port` of the full socket. */
export function operatorOrigin({ site }: Pick<OperatorPlace, 'site'>, host = '127.0.0.1'): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${site.operator.port}`;
}

function notTheOperator(tried: Tried, cause?: unknown): GwError {
  const message = 'Unexpected answer at the address of the operator server.';
  return new GwError('OPERATOR_NOT_REACHABLE', message, { tried, cause });
}

/** Keeps connections open between requests, to save round trips. */
const agents = new WeakMap<Dialer, Promise<Agent>>();

/** The connections to the operator server by this dialer. */
export function operatorAgent(dialer: Dialer): Promise<Agent> {
  const kept = agents.get(dialer) ?? makeAgent(dialer);
  agents.set(dialer, kept);
  return kept;
}

async function makeAgent(dialer: Dialer): Promise<Agent> {
  const { Agent } = await import('../../net/http/index.ts');
  return new Agent({
    connect({ hostname, port }, callback) {
      const host = hostname.replace(/^\[|\]$/g, '');
      dialer.dial({ host, port: Number(port) }, { timeoutMs: DIAL_MS }).then(
        // A dialer returns a duplex stream; the client checks before it uses other members of a socket.
        (stream) => callback(null, stream as Socket),
        (error: Error) => callback(error, null),
      );
    },
  });
}

interface Asked {
  readonly path: string;
  readonly method: Method;
  readonly body: object | undefined;
  readonly cookie: string | null;
  /** Called with each part of the text as it is received: whether the rest, which may never end, is not needed. */
  readonly isEnough?: ((part: string) => boolean) | undefined;
}

/** `text` is null when it exceeds the limit. */
async function fetchText(way: Way, { path, method, body, cookie, isEnough }: Asked, signal: AbortSignal) {
  const late = new AbortController();
  using _deadline = afterOverLink(
    way.dialer,
    way.clock,
    way.timeoutMs ?? routeOf(method, path)?.answersWithinMs ?? TIMEOUT_MS,
    () => late.abort(new DOMException('no answer in time', 'TimeoutError')),
  );
  const { requestOver } = await import('../../net/http/index.ts');
  const response = await requestOver(await way.agent(), {
    origin: way.origin,
    path,
    method,
    signal: firstOf(signal, late.signal),
    headers: {
      'user-agent': COMMAND_AGENT,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(cookie !== null && { cookie }),
      ...(way.robot !== undefined && { [ROBOT_HEADER]: way.robot }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const setCookies = [response.headers['set-cookie'] ?? []].flat();
  const robot = robotNamed(response.headers[ROBOT_HEADER]);
  const chunks: Uint8Array[] = [];
  // A character may be cut between two parts.
  const decoder = new TextDecoder();
  let bytes = 0;
  for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
    bytes += chunk.byteLength;
    if (bytes > MAX_ANSWER_BYTES) return { status: response.statusCode, setCookies, robot, text: null };
    chunks.push(chunk);
    if (isEnough?.(decoder.decode(chunk, { stream: true }))) break;
  }
  return { status: response.statusCode, setCookies, robot, text: Buffer.concat(chunks).toString('utf8') };
}

/** What a gateway of a later version says in addition is left out: it may be restarted into one while this waits for it. */
function readAnswer<T extends z.ZodType>(schema: T, json: unknown): z.ZodSafeParseResult<z.output<T>> {
  const result = schema.safeParse(json);
  if (result.success) return result;
  const known = structuredClone(json);
  for (const issue of result.error.issues) {
    if (issue.code !== 'unrecognized_keys') return result;
    const at = issue.path.reduce<unknown>((within, key) => (within as Record<PropertyKey, unknown>)[key], known);
    for (const key of issue.keys) delete (at as Record<string, unknown>)[key];
  }
  return schema.safeParse(known);
}

/** undefined when it is not JSON. */
export function asJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The answered error as a GwError, with its code if that is in the error table. */
function answeredError(status: number, json: unknown, tried: Tried): GwError {
  const { error } = answeredErrorSchema.safeParse(json).data ?? {};
  const known = error !== undefined && Object.hasOwn(errorTable, error.code);
  return new GwError(
    known ? (error.code as ErrorCode) : 'OPERATOR_NOT_REACHABLE',
    error?.message ?? `The operator server answered with ${status}.`,
    { tried: withoutUndefined(error?.tried) ?? tried, remedy: error?.remedy, details: { status } },
  );
}

function withoutUndefined(tried: z.output<typeof answeredErrorSchema>['error']['tried']): Tried | undefined {
  if (tried === undefined) return undefined;
  const { address, port, action, forMs } = tried;
  return {
    address,
    ...(port !== undefined && { port }),
    ...(action !== undefined && { action }),
    ...(forMs !== undefined && { forMs }),
  };
}
