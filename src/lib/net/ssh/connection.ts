import type { Channel } from 'ssh2';
import { GwError, type Tried } from '../../error/index.ts';
import { firstOf, onAbort, systemClock } from '../../lifecycle/index.ts';
import { DialError, type Dialer, type DialFailure, directDialer } from '../dialer.ts';
import { channelStream } from './channel-stream.ts';
import { commandLine } from './command-line.ts';
import { type ConfigLine, type HostSettings, invalid, nameOf, settingsOf } from './config.ts';
import { readSshConfig } from './config-file.ts';
import { farProcess } from './far-process.ts';
import { foreignText } from './foreign-text.ts';
import { connectHop, type Hop } from './hop.ts';
import type { FarProcess, Ssh, SshOptions, SshTarget } from './model.ts';
import { parseSshTarget } from './target.ts';

const TIMEOUT_MS = 10_000;
const MOST_HOPS = 8;
/** Reasons of a refused channel (RFC 4254, 5.1). */
const CONNECT_FAILED = 2;

/**
 * Opens a connection by SSH, through the machines that the configuration names on the way. Throws USAGE,
 * SSH_CONFIG_INVALID, FILE_UNWRITABLE for known hosts that cannot be read, SSH_NOT_CONNECTED, SSH_BAD_ANSWER,
 * SSH_NO_AGREEMENT, SSH_HOST_KEY_UNKNOWN, SSH_HOST_KEY_CHANGED, SSH_HOST_KEY_REVOKED, SSH_KEY_UNUSABLE,
 * SSH_AUTH_REFUSED, and what a machine on the way throws when it lets nothing through.
 */
export async function openSsh(target: string | SshTarget, options: SshOptions): Promise<Ssh> {
  const wanted = typeof target === 'string' ? parseSshTarget(target) : target;
  const lines = await readSshConfig(options.homeDir);
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
    // The last one first: it lives in a channel of the one before.
    for (const hop of hops.toReversed()) hop.end();
  };
  try {
    let dialer: Dialer = directDialer;
    for (const settings of way) {
      const hop = await connectHop(settings, dialer, hopOptions);
      hops.push(hop);
      makeServerQuick(hop);
      dialer = dialerOf(hop, nameOf(settings));
    }
    const last = hops.at(-1);
    const settings = way.at(-1);
    if (last === undefined || settings === undefined) throw new RangeError('a way by SSH has at least one machine');
    const lost = firstOf(...hops.map((hop) => hop.lost));
    return {
      where: nameOf(settings),
      firstHop: { host: (way[0] ?? settings).hostName, port: (way[0] ?? settings).port },
      dialer,
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

/**
 * OpenSSH's server holds small packets back for one another (Nagle) until the first program was run on a connection:
 * the end of every answer would come 40 ms late (measured: 44 ms instead of 1 ms). So one is run that does nothing. A
 * server that runs none is slow, no more than that.
 */
function makeServerQuick({ client }: Hop): void {
  const run = () =>
    client.exec('true', (error, channel) => {
      if (error !== undefined) return;
      channel.on('error', () => {});
      // Whatever a key may force in its place is to end as well.
      channel.end();
      channel.resume();
      channel.stderr.resume();
    });
  open(run, () => {});
}

/**
 * The machines on the way in order, the last is the one that is meant. The first one that a `ProxyJump` names may have
 * one of its own; the others are reached through those before them, as with OpenSSH.
 */
export function routeOf(
  lines: readonly ConfigLine[],
  { host, user, port }: SshTarget,
  options: Pick<SshOptions, 'homeDir' | 'localUser'>,
  depth = 0,
): HostSettings[] {
  const { homeDir, localUser } = options;
  const look = (at: SshTarget) => settingsOf(lines, { ...at, homeDir, localUser });
  const settings = look({ host, user, port });
  const [first, ...others] = settings.jumps.map(parseSshTarget);
  if (first === undefined) return [settings];
  if (depth >= MOST_HOPS) throw invalid('ProxyJump', `the way to ${host} leads in a circle, or over too many machines`);
  const way = [...routeOf(lines, first, options, depth + 1), ...others.map(look), settings];
  if (way.length > MOST_HOPS) throw invalid('ProxyJump', `the way to ${host} leads over too many machines`);
  return way;
}

/**
 * Dials from a machine that was logged in to. The time that a dial may take counts only while that machine is heard: as
 * long as it is silent nobody knows whether anything answers it, and it speaks again or the line is lost.
 */
function dialerOf({ client, lost, heardMs }: Hop, where: string): Dialer {
  return {
    way: `via ${where}`,
    dial({ host, port }, { timeoutMs, signal }) {
      const { promise, resolve, reject } = Promise.withResolvers<ReturnType<typeof channelStream>>();
      const began = performance.now();
      const tried = (): Tried => ({
        address: host,
        port,
        via: where,
        forMs: Math.round(performance.now() - began),
      });
      let isOver = false;
      const onOpen = (error: Error | undefined, channel: Channel) => {
        // Nobody waits for it any more.
        if (isOver && error === undefined) channelStream(channel, lost).destroy();
        else if (error === undefined) resolve(channelStream(channel, lost));
        else reject(lost.aborted ? lost.reason : refusal(error, where, tried()));
      };
      const heardBefore = heardMs();
      let timer: NodeJS.Timeout;
      const wait = (ms: number) => {
        timer = setTimeout(() => {
          const leftMs = timeoutMs - (heardMs() - heardBefore);
          if (leftMs > 1) wait(leftMs);
          else reject(new DialError('no-answer', tried()));
        }, ms);
      };
      wait(timeoutMs);
      const aborting = [onAbort(signal, () => reject(signal?.reason)), onAbort(lost, () => reject(lost.reason))];
      if (signal?.aborted !== true && !lost.aborted)
        open(() => client.forwardOut('127.0.0.1', 0, host, port, onOpen), reject);
      return promise.finally(() => {
        isOver = true;
        clearTimeout(timer);
        for (const listening of aborting) listening[Symbol.dispose]();
      });
    },
  };
}

/** The library throws when the line is gone and it has not told so yet. */
function open(work: () => void, reject: (error: unknown) => void): void {
  try {
    work();
  } catch (cause) {
    reject(new GwError('SSH_LOST', 'The line is lost.', { cause }));
  }
}

const failureOfText: readonly (readonly [RegExp, DialFailure])[] = [
  [/connection refused/i, 'refused'],
  [/no route to host|network is (unreachable|down)/i, 'no-route'],
  [/timed out|host is down/i, 'no-answer'],
  [/name or service not known|unknown host|no address associated|name resolution|nodename/i, 'unknown-name'],
];

/** The far side says why in words of its system only; a word that is not known is no guess. */
function refusal(error: Error & { reason?: unknown }, where: string, tried: Tried): GwError {
  const text = foreignText(error.message.replace(/^\(SSH\) Channel open failure: /, ''));
  if (error.reason === CONNECT_FAILED) {
    const failure = failureOfText.find(([pattern]) => pattern.test(text))?.[1] ?? 'other';
    return new DialError(failure, tried, error);
  }
  if (typeof error.reason === 'number') return refusedChannel(`${where} lets no connection through (${text})`, tried);
  return new DialError('cut', tried, error);
}

function refusedChannel(what: string, tried: Tried): GwError {
  return new GwError('SSH_CHANNEL_REFUSED', `${what}.`, { tried });
}

async function exec(
  { client }: Hop,
  lost: AbortSignal,
  settings: HostSettings,
  argv: readonly string[],
  signal: AbortSignal | undefined,
) {
  const line = commandLine(argv);
  signal?.throwIfAborted();
  const tried: Tried = { address: settings.hostName, port: settings.port, action: `run ${argv[0]}` };
  const { promise, resolve, reject } = Promise.withResolvers<FarProcess>();
  using _lost = onAbort(lost, () => reject(lost.reason));
  const timer = setTimeout(() => {
    reject(refusedChannel(`${nameOf(settings)} does not answer when it is asked to run a program`, tried));
  }, TIMEOUT_MS);
  try {
    if (!lost.aborted) {
      open(() => {
        client.exec(line, (error, channel) => {
          // At once: how it ended may come with the very next bytes.
          if (error === undefined) resolve(farProcess(channel, lost, signal));
          else {
            const text = foreignText(error.message);
            reject(lost.aborted ? lost.reason : refusedChannel(`${nameOf(settings)} runs no program (${text})`, tried));
          }
        });
      }, reject);
    }
    return await promise;
  } finally {
    clearTimeout(timer);
  }
}
