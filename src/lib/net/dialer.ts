import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { GwError, type Tried } from '../error/index.ts';
import { onAbort } from '../lifecycle/index.ts';

/** A place to dial: a host name or an address literal (IPv6 without brackets), and a TCP port. */
export interface Endpoint {
  readonly host: string;
  readonly port: number;
}

/** `192.0.2.7:443`, `[2001:db8::7]:443`. */
export function formatEndpoint({ host, port }: Endpoint): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

/** How a dial failed, as far as the operating system tells it. */
export type DialFailure = 'refused' | 'no-route' | 'no-answer' | 'unknown-name' | 'cut' | 'other';

/**
 * Opens byte streams to robot-side addresses. Everything that speaks to a chassis takes one, so that the same
 * code dials directly on the gateway and through SSH from a laptop.
 */
export interface Dialer {
  /** `direct`, or the way it goes: `via technician@gateway`. */
  readonly way: string;
  /** Rejects with a {@link DialError}. */
  dial(endpoint: Endpoint, options: { readonly timeoutMs: number; readonly signal?: AbortSignal }): Promise<Duplex>;
}

/** The machine that a dialer goes through, for {@link Tried}; undefined when it goes straight. */
export function viaOf({ way }: Dialer): string | undefined {
  return way === 'direct' ? undefined : way.replace(/^via /, '');
}

/** A dial that failed; its `failure` says how, `tried` says where and for how long. */
export class DialError extends GwError {
  readonly failure: DialFailure;
  constructor(failure: DialFailure, tried: Tried, cause?: unknown) {
    super('CHASSIS_NOT_CONNECTED', `not connected: ${dialFailureText[failure]}`, { tried, cause });
    this.failure = failure;
  }
}

/** What each kind of failure means to the technician. */
export const dialFailureText: Readonly<Record<DialFailure, string>> = {
  refused: 'the address answers, but nothing listens on this port',
  'no-route': 'there is no route to this address',
  'no-answer': 'nothing answered',
  'unknown-name': 'the name is not known',
  cut: 'the connection was cut',
  other: 'the operating system refused the connection',
};

const failureOfErrno: Readonly<Record<string, DialFailure>> = {
  ECONNREFUSED: 'refused',
  EHOSTUNREACH: 'no-route',
  ENETUNREACH: 'no-route',
  ENETDOWN: 'no-route',
  EHOSTDOWN: 'no-answer',
  ETIMEDOUT: 'no-answer',
  ENOTFOUND: 'unknown-name',
  EAI_AGAIN: 'unknown-name',
  ECONNRESET: 'cut',
  EPIPE: 'cut',
};

/** Sorts an error of node's net and dns modules by what it says about the network. */
export function dialFailureOf(error: unknown): DialFailure {
  if (error instanceof AggregateError && error.errors.length > 0) return dialFailureOf(error.errors[0]);
  const code = (error as NodeJS.ErrnoException | undefined)?.code;
  return (code !== undefined && failureOfErrno[code]) || 'other';
}

export const directDialer: Dialer = {
  way: 'direct',
  dial(endpoint, { timeoutMs, signal }) {
    const began = performance.now();
    const { promise, resolve, reject } = Promise.withResolvers<Socket>();
    const socket = connect({ host: endpoint.host, port: endpoint.port, noDelay: true, keepAlive: true });
    let aborting: Disposable | undefined;
    const give = (failure: DialFailure, cause?: unknown) => {
      cleanUp();
      socket.on('error', () => {});
      socket.destroy();
      const forMs = Math.round(performance.now() - began);
      reject(new DialError(failure, { address: endpoint.host, port: endpoint.port, forMs }, cause));
    };
    const onError = (error: Error) => give(dialFailureOf(error), error);
    const interrupt = () => {
      cleanUp();
      socket.on('error', () => {});
      socket.destroy();
      reject(signal?.reason);
    };
    const timer = setTimeout(() => give('no-answer'), timeoutMs);
    const cleanUp = () => {
      clearTimeout(timer);
      socket.off('error', onError);
      aborting?.[Symbol.dispose]();
    };
    socket.once('connect', () => {
      cleanUp();
      resolve(socket);
    });
    socket.on('error', onError);
    aborting = onAbort(signal, interrupt);
    return promise;
  },
};
