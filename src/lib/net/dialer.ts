import { connect, isIP, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { GwError, type Tried } from '../error/index.ts';
import { type Clock, onAbort, systemClock } from '../lifecycle/index.ts';
import { type Lookup, resolveHost } from './names.ts';

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
export type DialFailure =
  | 'refused'
  | 'no-route'
  | 'no-answer'
  | 'unknown-name'
  | 'no-name-server'
  | 'cut'
  | 'closed'
  | 'other';

/** Failures before a connection: nothing was sent to the peer. */
export function isBeforeConnection(failure: unknown): boolean {
  return ['refused', 'no-route', 'unknown-name', 'no-name-server'].includes(failure as DialFailure);
}

export interface DialOptions {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Those of the host, as this machine has resolved them; a dialer of another machine ignores them. */
  readonly addresses?: readonly string[] | undefined;
}

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
  dial(endpoint: Endpoint, options: DialOptions): Promise<Duplex>;
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
  'no-name-server': 'no name server answered, so no connection was tried',
  cut: 'connection reset',
  closed: 'connection closed without an answer',
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
  ETIMEOUT: 'no-name-server',
  ECONNRESET: 'cut',
  EPIPE: 'cut',
};

/** Classifies an error of node's net and dns modules. */
export function dialFailureOf(error: unknown): DialFailure {
  const code = (error as NodeJS.ErrnoException | undefined)?.code;
  return (code !== undefined && failureOfErrno[code]) || 'other';
}

/** Between the attempts on two addresses of a name. @source RFC 8305, section 8 */
const ATTEMPT_DELAY_MS = 250;

export const directDialer: Dialer = createDirectDialer();

/** Tries the addresses of a name side by side (RFC 8305), and fails as the first of them. */
export function createDirectDialer(options: { readonly lookup?: Lookup; readonly clock?: Clock } = {}): Dialer {
  const { lookup, clock = systemClock } = options;
  return {
    way: 'direct',
    async dial({ host, port }, { timeoutMs, signal, addresses }) {
      const began = clock.monotonicMs();
      const failed = (failure: DialFailure, cause?: unknown) =>
        new DialError(failure, { address: host, port, forMs: Math.round(clock.monotonicMs() - began) }, cause);
      const { promise: late, reject } = Promise.withResolvers<never>();
      let isNamed = addresses !== undefined;
      using _late = clock.after(timeoutMs, () => reject(failed(isNamed ? 'no-answer' : 'no-name-server')));
      using _aborting = onAbort(signal, () => reject(signal?.reason));
      try {
        const name =
          addresses === undefined
            ? await Promise.race([resolveHost(host, { timeoutMs, clock, ...(lookup && { lookup }) }), late])
            : { kind: 'resolved', addresses };
        if (!('addresses' in name)) throw failed(name.kind === 'unknown' ? 'unknown-name' : 'no-name-server');
        isNamed = true;
        using attempts = connectFirst(interleave(name.addresses), port, clock);
        return await Promise.race([attempts.connected, late]);
      } catch (error) {
        if (signal?.aborted) throw signal.reason;
        throw error instanceof DialError ? error : failed(dialFailureOf(error), error);
      }
    },
  };
}

/** Alternates between the families, beginning with that of the first address. @source RFC 8305, section 4 */
function interleave(addresses: readonly string[]): readonly string[] {
  const family = isIP(addresses[0] ?? '');
  const [one, other] = [addresses.filter((it) => isIP(it) === family), addresses.filter((it) => isIP(it) !== family)];
  return addresses.flatMap((_, i) => [one[i], other[i]].filter((it) => it !== undefined));
}

/**
 * Connects to one address after the other, without giving up on the ones before: Node gives each address but the last
 * 250 ms, less than one round trip of a slow mobile link. Disposing ends all attempts but the one that has connected.
 */
function connectFirst(
  addresses: readonly string[],
  port: number,
  clock: Clock,
): Disposable & { connected: Promise<Socket> } {
  const { promise: connected, resolve, reject } = Promise.withResolvers<Socket>();
  const errors: (Error | undefined)[] = [];
  const open = new Set<Socket>();
  let tried = 0;
  let delay: Disposable | undefined;

  function tryNext(): void {
    delay?.[Symbol.dispose]();
    const index = tried;
    const address = addresses[index];
    if (address === undefined) {
      if (open.size === 0) reject(errors[0] ?? Object.assign(new Error('no address'), { code: 'ENOTFOUND' }));
      return;
    }
    tried += 1;
    delay = clock.after(ATTEMPT_DELAY_MS, tryNext);
    const socket = connect({ host: address, port, noDelay: true, keepAlive: true });
    open.add(socket);
    const onError = (error: Error) => {
      errors[index] = error;
      open.delete(socket);
      tryNext();
    };
    socket.once('error', onError);
    socket.once('connect', () => {
      socket.off('error', onError);
      open.delete(socket);
      resolve(socket);
    });
  }

  tryNext();
  return {
    connected,
    [Symbol.dispose]() {
      delay?.[Symbol.dispose]();
      for (const socket of open) {
        socket.removeAllListeners();
        socket.on('error', () => {});
        socket.destroy();
      }
    },
  };
}
