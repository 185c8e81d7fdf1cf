import { join } from 'node:path';
import ssh2, { type AuthenticationType, type AuthHandlerMiddleware, type ServerHostKeyAlgorithm } from 'ssh2';
import { type ErrorCode, GwError, type Tried } from '../../error/index.ts';
import type { Clock } from '../../lifecycle/index.ts';
import { onAbort } from '../../lifecycle/index.ts';
import { DialError, type Dialer, dialFailureText, viaOf } from '../dialer.ts';
import { createBannerReader } from './banner.ts';
import { type HostSettings, nameOf } from './config.ts';
import { foreignText } from './foreign-text.ts';
import { createHostCheck } from './host-check.ts';
import { knownHostName } from './host-key.ts';
import { findIdentities, type Identities } from './identities.ts';
import { entriesFor, type KnownHost } from './known-hosts.ts';
import { readKnownHosts } from './known-hosts-file.ts';
import { createLogin, type Login } from './login.ts';
import type { SecretQuestion, SshOptions } from './model.ts';
import { createPatience } from './patience.ts';

/** One machine on the way, logged in to. */
export interface Hop {
  readonly client: ssh2.Client;
  /** Aborted with SSH_LOST when the line is gone. */
  readonly lost: AbortSignal;
  /** For how long nothing has come over the line. */
  quietMs(): number;
  /** For how long the line has been heard, in all: silence adds a second at most, whatever it lasts. */
  heardMs(): number;
  end(): void;
}

export interface HopOptions extends SshOptions {
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Decisions of ours: a line over which nothing comes for so long, although it is asked to, is lost. */
const PING_MS = 500;
const SILENT_MS = 6_000;
/** In so long the other side has always spoken, since it is asked twice. */
const SURE_MS = 2 * PING_MS;
/** So long may an orderly end take. */
const END_MS = 1_000;

const algorithms: readonly ServerHostKeyAlgorithm[] = [
  'ssh-ed25519',
  'ecdsa-sha2-nistp256',
  'ecdsa-sha2-nistp384',
  'ecdsa-sha2-nistp521',
  'rsa-sha2-512',
  'rsa-sha2-256',
];

/**
 * Connects to one machine and logs in. Throws SSH_NOT_CONNECTED, SSH_BAD_ANSWER, SSH_NO_AGREEMENT, SSH_HOST_KEY_…,
 * SSH_KEY_UNUSABLE, SSH_AUTH_REFUSED, INTERRUPTED.
 */
export async function connectHop(settings: HostSettings, dialer: Dialer, options: HopOptions): Promise<Hop> {
  const { hostName: host, port, user } = settings;
  const { clock, timeoutMs, signal, person, homeDir } = options;
  const where = nameOf(settings);
  const began = clock.monotonicMs();
  const via = viaOf(dialer);
  const tried = (): Tried => ({
    address: host,
    port,
    ...(via !== undefined && { via }),
    action: 'SSH',
    forMs: Math.round(clock.monotonicMs() - began),
  });
  const tell = (text: string) => options.tell?.(text);
  for (const note of settings.notes) tell(note);

  const ownFiles = settings.knownHostsFiles ?? [join(homeDir, '.ssh', 'known_hosts')];
  const known = await readKnownHosts([...ownFiles, options.systemKnownHostsFile ?? '/etc/ssh/ssh_known_hosts']);
  for (const at of known.unread) tell(`${at} is not understood and is not used.`);
  const name = settings.hostKeyAlias?.toLowerCase() ?? knownHostName(host, port);

  const socket = await dialer.dial({ host, port }, { timeoutMs, signal }).catch((cause: unknown) => {
    throw failedDial(cause, tried());
  });
  const failed = Promise.withResolvers<never>();
  // It may fail when nobody waits for it any more.
  failed.promise.catch(() => {});
  const fail = (code: ErrorCode, message: string, more: { remedy?: string; details?: Record<string, unknown> } = {}) =>
    failed.reject(new GwError(code, message, { tried: tried(), ...more }));

  using patience = createPatience(clock, timeoutMs, () =>
    fail('SSH_BAD_ANSWER', 'Something takes the connection, but the login over SSH did not go on.'),
  );
  using _aborted = onAbort(signal, () => failed.reject(new GwError('INTERRUPTED', 'Interrupted.', { tried: tried() })));
  const askSecret = (question: SecretQuestion) =>
    patience.without(async () => {
      try {
        return (await person?.askSecret(question, signal)) ?? null;
      } catch (error) {
        // Whoever was interrupted in the middle of an answer wants no other way to be tried.
        failed.reject(error);
        throw error;
      }
    });

  const hostCheck = createHostCheck({
    name,
    entries: known.entries,
    refuse: (code, message, details) => fail(code, message, { details }),
    tell,
    ask:
      person === null || settings.isStrict
        ? null
        : (question) => patience.without(() => person.trustHostKey(question, signal)),
    remember: {
      file: ownFiles[0] ?? null,
      hashesNames: settings.hashesNames,
    },
  });

  // ── logging in ──
  let identities: Identities | undefined;
  let login: Login | undefined;
  async function nextMethod(left: readonly AuthenticationType[] | null) {
    const context = { homeDir, agentSocket: options.agentSocket, askSecret, patiently: patience.without };
    identities ??= await findIdentities(settings, context);
    login ??= createLogin({ user, where, identities, askSecret: person === null ? null : askSecret });
    return await login.next(left);
  }
  const authHandler: AuthHandlerMiddleware = (left, _partial, next) => {
    // The library takes `false` for "nothing is left", which its types leave out.
    const answer = next as (method: unknown) => void;
    nextMethod(left).then(answer, (error: unknown) => {
      failed.reject(error);
      answer(false);
    });
  };
  const refusedLogin = (what: string) => {
    const problems = identities?.problems ?? [];
    const story = login === undefined ? '' : ` (${login.story()})`;
    if (problems.length > 0) {
      fail('SSH_KEY_UNUSABLE', `${what}${story}. ${problems.join(' ')}`);
    } else fail('SSH_AUTH_REFUSED', `${what}${story}.`);
  };

  const onBanner = createBannerReader(
    (line) => tell(`${where} says: ${line}`),
    () => {
      fail('SSH_BAD_ANSWER', 'The server says more before the login than any login needs.');
      client.destroy();
    },
  );

  const client = new ssh2.Client();
  let isReady = false;
  let hasKeys = false;
  const lost = new AbortController();
  let watch: Disposable | undefined;
  const lose = (why: string, before?: unknown) => {
    watch?.[Symbol.dispose]();
    if (!lost.signal.aborted && !isEnded) {
      lost.abort(before ?? new GwError('SSH_LOST', `The line to ${where} is lost: ${why}.`, { tried: tried() }));
    }
    client.destroy();
  };
  let isEnded = false;

  const onError = (error: Error & { level?: string; code?: unknown }) => {
    // One key that does not work out is no end: the next one is tried.
    if (error.level === 'agent') return;
    const text = foreignText(error.message);
    // The line of a machine before this one is lost, and this one with it.
    const before = error instanceof GwError && error.code === 'SSH_LOST' ? error : undefined;
    if (isReady) lose(text, before);
    else if (before !== undefined) failed.reject(before);
    else if (error.level === 'client-authentication') refusedLogin(`${where} lets nobody in`);
    else if (error.level === 'handshake' && /no matching/.test(error.message)) {
      fail('SSH_NO_AGREEMENT', `${where} and gw know no common way to encrypt (${text}).`);
    } else if (login !== undefined) refusedLogin(`${where} broke off the login: ${text}`);
    else fail('SSH_BAD_ANSWER', `What answers does not go on as an SSH server does: ${text}.`);
  };
  const onClose = () => {
    if (isReady) lose('the other side closed it');
    else if (login !== undefined) refusedLogin(`${where} broke off the login`);
    else fail('SSH_BAD_ANSWER', 'What answers closed the connection before anybody could log in.');
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
        fail('SSH_AUTH_REFUSED', `The password of ${where} has run out.`, {
          remedy: `Log in once with 'ssh ${user}@${host}' and set a new one.`,
        });
        client.destroy();
      });
    client.connect({
      sock: socket,
      username: user,
      // Kept here, since people are asked in between.
      readyTimeout: 0,
      keepaliveInterval: PING_MS,
      // A slow line that carries much answers late: it is watched by what comes over it, not by counting answers.
      keepaliveCountMax: Number.MAX_SAFE_INTEGER,
      algorithms: { serverHostKey: inOrder(entriesFor(known.entries, name)) },
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

  let heardAt = clock.monotonicMs();
  let heardMs = 0;
  const sinceHeard = () => Math.min(clock.monotonicMs() - heardAt, SURE_MS);
  // Counted and not reckoned: work of our own that held everything up is no silence of the other side.
  let silentPings = 0;
  socket.on('data', () => {
    heardMs += sinceHeard();
    heardAt = clock.monotonicMs();
    silentPings = 0;
  });
  watch = clock.every(PING_MS, () => {
    silentPings += 1;
    if (silentPings * PING_MS > SILENT_MS) lose('nothing comes over it any more');
  });
  return {
    client,
    lost: lost.signal,
    quietMs: () => clock.monotonicMs() - heardAt,
    heardMs: () => heardMs + sinceHeard(),
    end() {
      isEnded = true;
      watch?.[Symbol.dispose]();
      client.end();
      // A peer that is silent would keep the socket, and with it the command, for minutes.
      setTimeout(() => socket.destroy(), END_MS).unref();
    },
  };
}

function failedDial(cause: unknown, tried: Tried): unknown {
  if (!(cause instanceof DialError)) return cause;
  return new GwError('SSH_NOT_CONNECTED', `not connected: ${dialFailureText[cause.failure]}`, { tried, cause });
}

/** Kinds of keys that are known of this host first, so that it shows one that can be compared. */
function inOrder(entries: readonly KnownHost[]): ServerHostKeyAlgorithm[] {
  const types = new Set(entries.filter(({ kind }) => kind === 'key').map(({ keyType }) => keyType));
  const isKnown = (algorithm: string) => types.has(algorithm.startsWith('rsa-') ? 'ssh-rsa' : algorithm);
  return [...algorithms.filter(isKnown), ...algorithms.filter((algorithm) => !isKnown(algorithm))];
}
