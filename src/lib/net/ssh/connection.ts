import { Duplex } from 'node:stream';
import type { Channel, ClientChannel } from 'ssh2';
import { GwError, roundTripText, type Tried } from '../../error/index.ts';
import { firstOf, onAbort, systemClock } from '../../lifecycle/index.ts';
import { createDirectDialer, DialError, type Dialer, type DialFailure, type RoundTrips } from '../dialer.ts';
import { linkAllowanceMs, triedOver } from '../link-delay.ts';
import { type ConfigLine, type HostSettings, nameOf, parseSshTarget, settingsOf } from './config/config.ts';
import { invalid } from './config/invalid.ts';
import { readSshConfig } from './config/read-config.ts';
import { connectHop, interrupted } from './connect-hop.ts';
import { foreignText } from './foreign-text.ts';
import type { Hop } from './hop.ts';
import type { RemoteProcess, Ssh, SshOptions, SshTarget } from './model.ts';
import { remoteProcess } from './remote-process.ts';
import type { SessionHandlers } from './sessions.ts';

const plain = /^[A-Za-z0-9_./:,+@%-]+$/;

/**
 * Arguments as one command line for the login shell of the remote host. Each argument arrives unchanged, with quoting
 * that shells which interpret a backslash between single quotes (fish) and POSIX shells read alike. Throws USAGE for a
 * NUL byte, which no argument can hold.
 */
export function commandLine(argv: readonly string[]): string {
  if (argv.length === 0) throw new RangeError('a command line needs a program name');
  return argv.map(shellWord).join(' ');
}

function shellWord(word: string): string {
  if (word.includes('\0')) {
    throw new GwError('USAGE', 'A command argument contains a NUL byte.');
  }
  if (plain.test(word)) return word;
  if (word === '') return "''";
  return word
    .split(/(['\\]+)/)
    .filter((part) => part !== '')
    .map((part) => {
      if (part.startsWith("'") || part.startsWith('\\')) return `"${part.replaceAll('\\', '\\\\')}"`;
      return `'${part}'`;
    })
    .join('');
}

const TIMEOUT_MS = 10_000;
const MAX_HOPS = 8;
/** SSH_OPEN_CONNECT_FAILED. @source RFC 4254, 5.1 */
const CONNECT_FAILED = 2;

/**
 * Opens an SSH connection, through the configured jump hosts. Throws USAGE, SSH_CONFIG_INVALID, FILE_UNREADABLE for
 * known_hosts files that cannot be read, SSH_NOT_CONNECTED, SSH_BAD_ANSWER, SSH_NO_AGREEMENT, SSH_HOST_KEY_UNKNOWN,
 * SSH_HOST_KEY_CHANGED, SSH_HOST_KEY_REVOKED, SSH_KEY_UNUSABLE, SSH_AUTH_REFUSED, SSH_CHANNEL_REFUSED when a jump host
 * refuses TCP forwarding, INTERRUPTED.
 */
export async function openSsh(target: string | SshTarget, options: SshOptions): Promise<Ssh> {
  const wanted = typeof target === 'string' ? parseSshTarget(target) : target;
  const lines = await readSshConfig(options.homeDir, options.environment);
  const way = routeOf(lines, wanted, options);
  const signal = options.signal ?? new AbortController().signal;
  const hopOptions = {
    ...options,
    clock: options.clock ?? systemClock,
    timeoutMs: options.timeoutMs ?? TIMEOUT_MS,
    signal,
  };
  const hops: Hop[] = [];
  const end = () => {
    // In reverse: each connection runs in a channel of the one before.
    for (const hop of hops.toReversed()) hop.end();
  };
  try {
    let dialer: Dialer = createDirectDialer({ clock: hopOptions.clock });
    for (const [index, settings] of way.entries()) {
      const isLast = index === way.length - 1;
      const hop = await connectHop(settings, dialer, {
        ...hopOptions,
        ...(isLast && { onSlow: (found: RoundTrips) => options.notify?.(slowLinkNote(nameOf(settings), found)) }),
      });
      hops.push(hop);
      disableServerNagle(hop);
      dialer = dialerOf(hop, nameOf(settings));
    }
    const last = hops.at(-1);
    const settings = way.at(-1);
    if (last === undefined || settings === undefined) throw new RangeError('an SSH route has at least one host');
    const lost = firstOf(...hops.map((hop) => hop.lost));
    return {
      where: nameOf(settings),
      firstHop: { host: (way[0] ?? settings).hostName, port: (way[0] ?? settings).port },
      dialer,
      socketDialer: (path) => dialerOf(last, nameOf(settings), path),
      lost,
      quietMs: last.quietMs,
      exec: (argv, { signal: stop } = {}) => exec(last, lost, settings, argv, stop),
      async [Symbol.asyncDispose]() {
        end();
      },
    };
  } catch (error) {
    end();
    throw error;
  }
}

/** Before anything behind the link is judged. */
function slowLinkNote(where: string, found: RoundTrips): string {
  return `The SSH link to ${where} is slow: ${roundTripText(found)}. gw waits that much longer for every answer.`;
}

/**
 * OpenSSH's server sets TCP_NODELAY only when the first session starts on a connection; before that, the end of each
 * response arrives 40 ms late (measured: 44 ms instead of 1 ms). So one no-op command is run; a server that refuses it
 * is merely slow.
 */
function disableServerNagle({ sessions }: Hop): void {
  const onChannel = (channel: ClientChannel) => {
    channel.on('error', () => {});
    // A command forced by the key (`command=`) has to end as well.
    channel.end();
    channel.resume();
    channel.stderr.resume();
  };
  open(
    () => sessions.start('true', { onChannel, onError: () => {}, isOver: () => true }),
    () => {},
  );
}

/**
 * The hops in order, ending with the target. The first host that a `ProxyJump` names may have a ProxyJump of its own;
 * the others are reached through those before them, as with OpenSSH.
 */
export function routeOf(
  lines: readonly ConfigLine[],
  { host, user, port }: SshTarget,
  options: Pick<SshOptions, 'homeDir' | 'localUser' | 'environment'>,
  depth = 0,
): HostSettings[] {
  const { homeDir, localUser, environment } = options;
  const look = (at: SshTarget) => settingsOf(lines, { ...at, homeDir, localUser, environment });
  const settings = look({ host, user, port });
  const [first, ...others] = settings.jumps.map(parseSshTarget);
  if (first === undefined) return [settings];
  if (depth >= MAX_HOPS)
    throw invalid('ProxyJump', `the jump hosts to ${host} form a loop, or are more than ${MAX_HOPS}`);
  const way = [...routeOf(lines, first, options, depth + 1), ...others.map(look), settings];
  if (way.length > MAX_HOPS) throw invalid('ProxyJump', `the route to ${host} has more than ${MAX_HOPS} hosts`);
  return way;
}

/**
 * Dials from the remote host, every endpoint or the one Unix socket there. Time without data from that host does not
 * count towards the timeout: while it is silent, the result of the dial is unknown, and either data arrives again or the
 * connection is lost.
 */
function dialerOf({ client, clock, lost, responsiveMs, roundTrips }: Hop, where: string, socketPath?: string): Dialer {
  const dialer: Dialer = {
    way: `via ${where}`,
    roundTrips,
    dial({ host, port }, { timeoutMs, signal }) {
      const { promise, resolve, reject } = Promise.withResolvers<ReturnType<typeof channelStream>>();
      const began = clock.monotonicMs();
      const tried = (): Tried => ({
        ...(socketPath === undefined ? { address: host, port } : { address: `unix:${socketPath}` }),
        ...triedOver(dialer),
        forMs: Math.round(clock.monotonicMs() - began),
      });
      let isOver = false;
      const onOpen = (error: Error | undefined, channel: Channel) => {
        // The caller has already given up.
        if (isOver && error === undefined) channelStream(channel, lost).destroy();
        else if (error === undefined) resolve(channelStream(channel, lost));
        else reject(lost.aborted ? lost.reason : refusal(error, where, tried()));
      };
      const responsiveBeforeMs = responsiveMs();
      let timer: Disposable | undefined;
      const wait = (ms: number) => {
        timer = clock.after(ms, () => {
          const leftMs = timeoutMs + linkAllowanceMs(dialer) - (responsiveMs() - responsiveBeforeMs);
          if (leftMs > 1) wait(leftMs);
          else reject(new DialError('no-answer', tried()));
        });
      };
      wait(timeoutMs);
      const aborting = [onAbort(signal, () => reject(signal?.reason)), onAbort(lost, () => reject(lost.reason))];
      const forward = () => {
        if (socketPath === undefined) client.forwardOut('127.0.0.1', 0, host, port, onOpen);
        else client.openssh_forwardOutStreamLocal(socketPath, onOpen);
      };
      if (signal?.aborted !== true && !lost.aborted) open(forward, reject);
      return promise.finally(() => {
        isOver = true;
        timer?.[Symbol.dispose]();
        for (const listening of aborting) listening[Symbol.dispose]();
      });
    },
  };
  return dialer;
}

/** The library throws when the connection is lost and it has not emitted that yet. */
function open(work: () => void, reject: (error: unknown) => void): void {
  try {
    work();
  } catch (cause) {
    reject(new GwError('SSH_LOST', 'SSH connection lost.', { cause }));
  }
}

const failureOfText: readonly (readonly [RegExp, DialFailure])[] = [
  [/connection refused/i, 'refused'],
  [/no route to host|network is (unreachable|down)/i, 'no-route'],
  [/timed out|host is down/i, 'no-answer'],
  [/name or service not known|unknown host|no address associated|name resolution|nodename/i, 'unknown-name'],
];

/** The server gives the reason as text of its system only; unknown text is classified as 'other'. */
function refusal(error: Error & { reason?: unknown }, where: string, tried: Tried): GwError {
  const text = foreignText(error.message.replace(/^\(SSH\) Channel open failure: /, ''));
  if (error.reason === CONNECT_FAILED) {
    const failure = failureOfText.find(([pattern]) => pattern.test(text))?.[1] ?? 'other';
    return new DialError(failure, tried, error);
  }
  const what = tried.port === undefined ? 'Socket' : 'TCP';
  if (typeof error.reason === 'number')
    return refusedChannel(`${what} forwarding refused by ${where} (${text})`, tried);
  return new DialError('cut', tried, error);
}

function refusedChannel(what: string, tried: Tried): GwError {
  return new GwError('SSH_CHANNEL_REFUSED', `${what}.`, { tried });
}

async function exec(
  { sessions, clock }: Hop,
  lost: AbortSignal,
  settings: HostSettings,
  argv: readonly string[],
  signal: AbortSignal | undefined,
) {
  const line = commandLine(argv);
  const tried: Tried = { address: settings.hostName, port: settings.port, action: `run ${argv[0]}` };
  if (signal?.aborted) throw interrupted(signal.reason, tried);
  const { promise, resolve, reject } = Promise.withResolvers<RemoteProcess>();
  using _lost = onAbort(lost, () => reject(lost.reason));
  let isOver = false;
  using _late = clock.after(TIMEOUT_MS, () => {
    const { open: others } = sessions;
    const beside = others === 0 ? '' : ` beside ${others} of the same connection (MaxSessions of its sshd_config)`;
    reject(refusedChannel(`No program started on ${nameOf(settings)} within ${TIMEOUT_MS / 1000} s${beside}`, tried));
  });
  const handlers: SessionHandlers = {
    onChannel: (channel) => resolve(remoteProcess(channel, { clock, lost, signal })),
    onError(error) {
      const text = foreignText(error.message);
      reject(lost.aborted ? lost.reason : refusedChannel(`Program refused by ${nameOf(settings)} (${text})`, tried));
    },
    isOver: () => isOver,
  };
  if (!lost.aborted) open(() => sessions.start(line, handlers), reject);
  try {
    return await promise;
  } finally {
    isOver = true;
  }
}

/**
 * An SSH channel that behaves like a TCP socket: it ends when the peer ends, destroying it closes the channel, and when
 * the connection is lost it fails with that error, where the library would end it as if the data were complete.
 */
export function channelStream(channel: Channel, lost: AbortSignal): Duplex {
  let losing: Disposable | undefined;
  const stream = new Duplex({
    allowHalfOpen: false,
    read() {
      channel.resume();
    },
    write(chunk: Buffer, _encoding, callback) {
      channel.write(chunk, callback);
    },
    final(callback) {
      channel.end();
      callback();
    },
    destroy(error, callback) {
      losing?.[Symbol.dispose]();
      channel.off('data', onData);
      channel.resume();
      channel.destroy();
      callback(error);
    },
  });
  const onData = (chunk: Buffer) => {
    if (!stream.push(chunk)) channel.pause();
  };
  channel.on('data', onData);
  channel.on('end', () => {
    if (!stream.destroyed) stream.push(null);
  });
  // Data received before the close must still be read.
  channel.on('close', () => {
    if (!stream.destroyed && !stream.readableEnded) stream.once('end', () => stream.destroy());
    else stream.destroy();
  });
  // Its user may not listen yet, or no more: a loss in between must not end the process.
  stream.on('error', () => {});
  channel.on('error', (error: Error) => stream.destroy(error));
  losing = onAbort(lost, () => void stream.destroy(lost.reason));
  return stream;
}
