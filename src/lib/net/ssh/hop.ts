import { join } from 'node:path';
import type { AuthenticationType, AuthHandlerMiddleware, ServerHostKeyAlgorithm } from 'ssh2';
import ssh2 from 'ssh2';
import { type ErrorCode, GwError, type Tried } from '../../error/index.ts';
import { type Clock, onAbort } from '../../lifecycle/index.ts';
import { DialError, type Dialer, dialFailureText, type RoundTrips } from '../dialer.ts';
import { triedOver } from '../link-delay.ts';
import { type HostSettings, nameOf } from './config/config.ts';
import { foreignText } from './foreign-text.ts';
import { createHostCheck } from './host/host-check.ts';
import { entriesFor, type KnownHost, knownHostName, readKnownHosts } from './host/known-hosts.ts';
import { findIdentities, type Identities } from './login/identities.ts';
import { createLogin, type Login } from './login/login.ts';
import type { SecretQuestion, SshOptions } from './model.ts';
import { measureRoundTrips } from './round-trips.ts';

/** Project decision: bounds for SSH_MSG_USERAUTH_BANNER before the login succeeds. */
const MAX_BANNERS = 32;
const MAX_CHARS = 32 * 1024;
const MAX_SHOWN_LINES = 20;

/** One authenticated SSH connection of a route. */
export interface Hop {
  readonly client: ssh2.Client;
  readonly clock: Clock;
  /** Aborted with SSH_LOST when the connection is lost. */
  readonly lost: AbortSignal;
  /** Time since the last data was received. */
  quietMs(): number;
  /** Over the whole route to this host. */
  roundTrips(): RoundTrips | null;
  /** Total time in which the server was responsive: a silence adds a second at most, however long it lasts. */
  responsiveMs(): number;
  end(): void;
}

export interface HopOptions extends SshOptions {
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Called once, when the link to this host has turned out slow. */
  readonly onSlow?: ((roundTrips: RoundTrips) => void) | undefined;
}

/** Project decision: a connection without data for MAX_SILENCE_MS, despite keepalive requests, is lost. */
const KEEPALIVE_MS = 500;
const MAX_SILENCE_MS = 6_000;
/** A responsive server has answered one of two keepalive requests by then. */
const MAX_RESPONSIVE_GAP_MS = 2 * KEEPALIVE_MS;
/** How long an orderly close may take. */
const CLOSE_MS = 1_000;

const algorithms: readonly ServerHostKeyAlgorithm[] = [
  'ssh-ed25519',
  'ecdsa-sha2-nistp256',
  'ecdsa-sha2-nistp384',
  'ecdsa-sha2-nistp521',
  'rsa-sha2-512',
  'rsa-sha2-256',
];

/**
 * Connects to one host and authenticates. Throws SSH_NOT_CONNECTED, SSH_BAD_ANSWER, SSH_NO_AGREEMENT, SSH_HOST_KEY_…,
 * SSH_KEY_UNUSABLE, SSH_AUTH_REFUSED, INTERRUPTED.
 */
export async function connectHop(settings: HostSettings, dialer: Dialer, options: HopOptions): Promise<Hop> {
  const { hostName: host, port, user } = settings;
  const { clock, timeoutMs, signal, person, homeDir } = options;
  const where = nameOf(settings);
  const began = clock.monotonicMs();
  const tried = (): Tried => ({
    address: host,
    port,
    ...triedOver(dialer),
    action: 'SSH',
    forMs: Math.round(clock.monotonicMs() - began),
  });
  const notify = (text: string) => options.notify?.(text);
  for (const note of settings.notes) notify(note);

  const ownFiles = settings.knownHostsFiles ?? [join(homeDir, '.ssh', 'known_hosts')];
  const known = await readKnownHosts([...ownFiles, options.systemKnownHostsFile ?? '/etc/ssh/ssh_known_hosts']);
  for (const at of known.invalidLines) notify(`${at}: invalid known_hosts line, ignored.`);
  const name = settings.hostKeyAlias?.toLowerCase() ?? knownHostName(host, port);

  const socket = await dialer.dial({ host, port }, { timeoutMs, signal }).catch((cause: unknown) => {
    throw signal.aborted ? interrupted(cause, tried()) : failedDial(cause, tried());
  });
  const failed = Promise.withResolvers<never>();
  // It may reject after the race was decided.
  failed.promise.catch(() => {});
  const fail = (code: ErrorCode, message: string, more: { remedy?: string; details?: Record<string, unknown> } = {}) =>
    failed.reject(new GwError(code, message, { tried: tried(), ...more }));

  using timeout = createPeerTimeout(clock, timeoutMs, () =>
    fail('SSH_BAD_ANSWER', 'SSH login timed out: TCP connected, then the server stopped responding.'),
  );
  using _aborted = onAbort(signal, () => failed.reject(interrupted(signal.reason, tried())));
  const askSecret = (question: SecretQuestion) =>
    timeout.pausedDuring(async () => {
      try {
        return (await person?.askSecret(question, signal)) ?? null;
      } catch (error) {
        // After an interrupted answer no further method is tried.
        failed.reject(error);
        throw error;
      }
    });

  const hostCheck = createHostCheck({
    name,
    entries: known.entries,
    refuse: (code, message, details) => fail(code, message, { details }),
    notify,
    ask:
      person === null || settings.isStrict
        ? null
        : (question) => timeout.pausedDuring(() => person.trustHostKey(question, signal)),
    remember: {
      file: ownFiles[0] ?? null,
      hashesNames: settings.hashesNames,
    },
  });

  // ── authentication ──
  let identities: Identities | undefined;
  let login: Login | undefined;
  async function nextMethod(left: readonly AuthenticationType[] | null) {
    const { agentSocket } = options;
    const context = { clock, homeDir, agentSocket, askSecret, pauseTimeoutDuring: timeout.pausedDuring };
    identities ??= await findIdentities(settings, context);
    login ??= createLogin({ user, where, identities, askSecret: person === null ? null : askSecret });
    return await login.next(left);
  }
  const authHandler: AuthHandlerMiddleware = (left, _partial, next) => {
    // `false` means that no method is left; the library's types omit it.
    const answer = next as (method: unknown) => void;
    nextMethod(left).then(answer, (error: unknown) => {
      failed.reject(error);
      answer(false);
    });
  };
  const failLogin = (what: string) => {
    const problems = identities?.problems ?? [];
    const attempts = login === undefined ? '' : ` (${login.attempts()})`;
    if (problems.length > 0) {
      fail('SSH_KEY_UNUSABLE', `${what}${attempts}. ${problems.join(' ')}`);
    } else fail('SSH_AUTH_REFUSED', `${what}${attempts}.`);
  };

  const onBanner = createBannerReader(
    (line) => notify(`Banner of ${where}: ${line}`),
    () => {
      fail('SSH_BAD_ANSWER', 'SSH banner too long; connection closed.');
      client.destroy();
    },
  );

  const client = new ssh2.Client();
  let isReady = false;
  let hasKeys = false;
  const lost = new AbortController();
  let watch: Disposable | undefined;
  let meter: Disposable | undefined;
  const lose = (why: string, before?: unknown) => {
    watch?.[Symbol.dispose]();
    meter?.[Symbol.dispose]();
    if (!lost.signal.aborted && !isEnded) {
      lost.abort(before ?? new GwError('SSH_LOST', `SSH connection to ${where} lost: ${why}.`, { tried: tried() }));
    }
    client.destroy();
  };
  let isEnded = false;

  const onError = (error: Error & { level?: string; code?: unknown }) => {
    // A failed key is not final: the next one is tried.
    if (error.level === 'agent') return;
    const text = foreignText(error.message);
    // The loss of an earlier hop is the cause of this one.
    const before = error instanceof GwError && error.code === 'SSH_LOST' ? error : undefined;
    if (isReady) lose(text, before);
    else if (before !== undefined) failed.reject(before);
    else if (error.level === 'client-authentication') failLogin(`SSH login failed at ${where}`);
    else if (error.level === 'handshake' && /no matching/.test(error.message)) {
      fail('SSH_NO_AGREEMENT', `No common SSH algorithm with ${where} (${text}).`);
    } else if (login !== undefined) failLogin(`${where} closed the connection during authentication: ${text}`);
    else fail('SSH_BAD_ANSWER', `SSH key exchange failed: ${text}.`);
  };
  const onClose = () => {
    if (isReady) lose('closed by the server');
    else if (login !== undefined) failLogin(`${where} closed the connection during authentication`);
    else fail('SSH_BAD_ANSWER', 'Connection closed before SSH authentication.');
  };

  try {
    const ready = new Promise<void>((resolve) => client.once('ready', resolve));
    client
      .on('error', onError)
      .on('close', onClose)
      .on('end', onClose)
      .on('banner', onBanner)
      .on('handshake', () => {
        hasKeys = true;
      })
      .on('change password', () => {
        fail('SSH_AUTH_REFUSED', `Password expired on ${where}.`, {
          remedy: `Set a new password: ssh ${user}@${host}`,
        });
        client.destroy();
      });
    client.connect({
      sock: socket,
      username: user,
      // Measured here, since it pauses while the user answers.
      readyTimeout: 0,
      // Sent here, since their answers are timed.
      keepaliveInterval: 0,
      algorithms: { serverHostKey: hostKeyAlgorithmsFor(entriesFor(known.entries, name)) },
      hostVerifier: (key: Buffer, verify: (isGood: boolean) => void) => {
        hostCheck.verify(key).then(verify, (error: unknown) => {
          failed.reject(error);
          verify(false);
        });
      },
      authHandler,
    });
    await Promise.race([ready, failed.promise]);
    isReady = true;
    await hostCheck.remember();
  } catch (error) {
    isEnded = true;
    client.destroy();
    socket.destroy();
    if (hasKeys) await hostCheck.remember();
    throw error;
  }

  let receivedAtMs = clock.monotonicMs();
  let responsiveMs = 0;
  const sinceReceivedMs = () => Math.min(clock.monotonicMs() - receivedAtMs, MAX_RESPONSIVE_GAP_MS);
  // Ticks are counted, because a blocked event loop on this side is not silence of the server.
  let silentTicks = 0;
  socket.on('data', () => {
    responsiveMs += sinceReceivedMs();
    receivedAtMs = clock.monotonicMs();
    silentTicks = 0;
  });
  // A loaded slow connection answers late, so for its loss any received data counts, not these answers.
  const trips = measureRoundTrips({
    clock,
    intervalMs: KEEPALIVE_MS,
    ask: (onAnswer) => askNothing(client, onAnswer),
    onSlow: (found) => options.onSlow?.(found),
  });
  meter = trips;
  watch = clock.every(KEEPALIVE_MS, () => {
    silentTicks += 1;
    if (silentTicks * KEEPALIVE_MS > MAX_SILENCE_MS) lose(`no data received for ${MAX_SILENCE_MS / 1000} s`);
  });
  return {
    client,
    clock,
    lost: lost.signal,
    quietMs: () => clock.monotonicMs() - receivedAtMs,
    roundTrips: trips.current,
    responsiveMs: () => responsiveMs + sinceReceivedMs(),
    end() {
      isEnded = true;
      watch?.[Symbol.dispose]();
      trips[Symbol.dispose]();
      client.end();
      // A silent peer would keep the socket, and with it the process, open for minutes.
      clock.after(CLOSE_MS, () => socket.destroy());
    },
  };
}

/** Passes the first banner lines to `onLine`, and calls `onFlood` when a server sends more than the bounds. */
function createBannerReader(onLine: (line: string) => void, onFlood: () => void): (text: string) => void {
  let banners = 0;
  let chars = 0;
  let lines = 0;
  return (text) => {
    banners += 1;
    chars += text.length;
    if (banners > MAX_BANNERS || chars > MAX_CHARS) {
      onFlood();
      return;
    }
    for (const line of text.split('\n')) {
      const plain = foreignText(line);
      if (plain === '' || lines >= MAX_SHOWN_LINES) continue;
      lines += 1;
      onLine(plain);
    }
  };
}

/**
 * A request that every server answers and that changes nothing: to cancel a forwarding that does not exist. The library
 * sends keepalive requests too, but does not report when they are answered.
 * @source RFC 4254, 4 and 7.1
 */
function askNothing(client: ssh2.Client, onAnswer: () => void): void {
  try {
    client.unforwardIn('127.0.0.1', 0, () => onAnswer());
  } catch {
    // Not connected any more, which the connection itself reports.
  }
}

/** What an aborted signal means to the caller: a GwError as its reason is kept, anything else is INTERRUPTED. */
export function interrupted(reason: unknown, tried: Tried): GwError {
  return reason instanceof GwError && !(reason instanceof DialError)
    ? reason
    : new GwError('INTERRUPTED', 'Interrupted.', { tried, cause: reason });
}

function failedDial(cause: unknown, tried: Tried): unknown {
  if (!(cause instanceof DialError)) return cause;
  return new GwError('SSH_NOT_CONNECTED', `not connected: ${dialFailureText[cause.failure]}`, { tried, cause });
}

/** Host key algorithms with a known key first, so that the server presents a key that can be compared. */
function hostKeyAlgorithmsFor(entries: readonly KnownHost[]): ServerHostKeyAlgorithm[] {
  const types = new Set(entries.filter(({ kind }) => kind === 'key').map(({ keyType }) => keyType));
  const isKnown = (algorithm: string) => types.has(algorithm.startsWith('rsa-') ? 'ssh-rsa' : algorithm);
  return [...algorithms.filter(isKnown), ...algorithms.filter((algorithm) => !isKnown(algorithm))];
}

/** A timeout for the peer that is paused while the user is asked. */
interface PeerTimeout extends Disposable {
  /** Runs work that waits for the user; afterwards the timeout starts anew. */
  pausedDuring<T>(work: () => Promise<T>): Promise<T>;
}

function createPeerTimeout(clock: Clock, ms: number, onEnd: () => void): PeerTimeout {
  let timer: Disposable | undefined = clock.after(ms, onEnd);
  let asking = 0;
  let isOver = false;
  const stop = () => {
    timer?.[Symbol.dispose]();
    timer = undefined;
  };
  return {
    async pausedDuring(work) {
      asking += 1;
      stop();
      try {
        return await work();
      } finally {
        asking -= 1;
        if (asking === 0 && !isOver) timer = clock.after(ms, onEnd);
      }
    },
    [Symbol.dispose]() {
      isOver = true;
      stop();
    },
  };
}
