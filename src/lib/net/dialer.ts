import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { GwError, type Tried } from '../error/index.ts';
import { onAbort } from '../lifecycle/index.ts';

/** A TCP endpoint: a host name or an address literal (IPv6 without brackets), and a TCP port. */
export interface Endpoint {
  readonly host: string;
  readonly port: number;
}

/** `192.0.2.7:443`, `[2001:db8::7]:443`. */
export function formatEndpoint({ host, port }: Endpoint): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

/** The next step where no answer came over a slow link: nothing that the person would do to the robot. */
export function slowLinkRemedy({ slowLink }: Tried): string | undefined {
  if (slowLink === undefined) return undefined;
  return 'No answer over a slow SSH link says little of the device behind it: run the command on the gateway itself, or over a better link (docs/via.md).';
}

/** How a dial failed, by the error of the operating system. */
export type DialFailure = 'refused' | 'no-route' | 'no-answer' | 'unknown-name' | 'cut' | 'other';

/** Round trips to an SSH host and back, over the last half minute, in milliseconds. */
export interface RoundTrips {
  readonly medianMs: number;
  readonly longestMs: number;
  /** So slow that a person should know of it before they judge what is behind it. */
  readonly isSlow: boolean;
}

/**
 * Opens byte streams to robot-side addresses. Every client of a chassis takes one, so that the same code dials directly
 * on the gateway and through SSH from a laptop.
 */
export interface Dialer {
  /** `direct`, or the SSH host: `via technician@gateway`. */
  readonly way: string;
  /** Round trips to the SSH host, as measured; null: not yet. Absent: direct. */
  roundTrips?(): RoundTrips | null;
  /** Rejects with a {@link DialError}. `timeoutMs` does not count the time that an SSH link takes itself. */
  dial(endpoint: Endpoint, options: { readonly timeoutMs: number; readonly signal?: AbortSignal }): Promise<Duplex>;
}

/** The SSH host of a dialer, for {@link Tried}; undefined for a direct one. */
export function viaOf({ way }: Dialer): string | undefined {
  return way === 'direct' ? undefined : way.replace(/^via /, '');
}

/** A failed dial: `failure` is the kind, `tried` the address and the duration. */
export class DialError extends GwError {
  readonly failure: DialFailure;
  constructor(failure: DialFailure, tried: Tried, cause?: unknown) {
    const remedy = failure === 'no-answer' ? slowLinkRemedy(tried) : undefined;
    super('CHASSIS_NOT_CONNECTED', `not connected: ${dialFailureText[failure]}`, { tried, remedy, cause });
    this.failure = failure;
  }
}

/** The text of each kind of failure. */
export const dialFailureText: Readonly<Record<DialFailure, string>> = {
  refused: 'the address answers, but nothing listens on this port',
  'no-route': 'no route to this address',
  'no-answer': 'no answer',
  'unknown-name': 'host name not found',
  cut: 'connection reset',
  other: 'connection failed in the operating system',
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

/** Classifies an error of node's net and dns modules. */
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
    const fail = (failure: DialFailure, cause?: unknown) => {
      cleanUp();
      socket.on('error', () => {});
      socket.destroy();
      const forMs = Math.round(performance.now() - began);
      reject(new DialError(failure, { address: endpoint.host, port: endpoint.port, forMs }, cause));
    };
    const onError = (error: Error) => fail(dialFailureOf(error), error);
    const interrupt = () => {
      cleanUp();
      socket.on('error', () => {});
      socket.destroy();
      reject(signal?.reason);
    };
    const timer = setTimeout(() => fail('no-answer'), timeoutMs);
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
