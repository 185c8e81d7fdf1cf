import { join } from 'node:path';
import ssh2 from 'ssh2';
import { type ErrorCode, GwError, type Tried } from '../../error/index.ts';
import { type Clock, onAbort } from '../../lifecycle/index.ts';
import { DialError, type Dialer, dialFailureText, type RoundTrips } from '../dialer.ts';
import { triedOver } from '../link-delay.ts';
import { type HostSettings, nameOf } from './config/config.ts';
import { foreignText } from './foreign-text.ts';
import { createHop, type Hop } from './hop.ts';
import { createHostCheck } from './host/host-check.ts';
import { hostKeyAlgorithmsFor } from './host/host-key-algorithms.ts';
import { entriesFor, knownHostName, readKnownHosts } from './host/known-hosts.ts';
import { readRevokedKeys } from './host/revoked-keys.ts';
import { createAuthentication } from './login/authentication.ts';
import { createBannerReader } from './login/banner-reader.ts';
import { createPeerTimeout } from './login/peer-timeout.ts';
import type { SecretQuestion, SshOptions } from './model.ts';

export interface HopOptions extends SshOptions {
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Called once, when the link to this host has turned out slow. */
  readonly onSlow?: ((roundTrips: RoundTrips) => void) | undefined;
}

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
  const { revokedHostKeys } = settings;
  const isRevoked = revokedHostKeys === null ? () => false : await readRevokedKeys(revokedHostKeys);
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
    revokedBy: (key) => (isRevoked(key) ? revokedHostKeys : null),
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

  const { agentSocket } = options;
  const authentication = createAuthentication({
    settings,
    context: { clock, homeDir, agentSocket, askSecret, pauseTimeoutDuring: timeout.pausedDuring },
    hasPerson: person !== null,
    onError: failed.reject,
  });
  const failLogin = (what: string) => {
    const { code, message } = authentication.refusal(what);
    fail(code, message);
  };

  const onBanner = createBannerReader(
    (line) => notify(`Banner of ${where}: ${line}`),
    () => {
      fail('SSH_BAD_ANSWER', 'SSH banner too long; connection closed.');
      client.destroy();
    },
  );

  const client = new ssh2.Client();
  const hop = createHop({ client, socket, clock, where, tried, onSlow: options.onSlow });
  let isReady = false;
  let hasKeys = false;

  const onError = (error: Error & { level?: string; code?: unknown }) => {
    // A failed key is not final: the next one is tried.
    if (error.level === 'agent') return;
    const text = foreignText(error.message);
    // The loss of an earlier hop is the cause of this one.
    const before = error instanceof GwError && error.code === 'SSH_LOST' ? error : undefined;
    if (isReady) hop.lose(text, before);
    else if (before !== undefined) failed.reject(before);
    else if (error.level === 'client-authentication') failLogin(`SSH login failed at ${where}`);
    else if (error.level === 'handshake' && /no matching/.test(error.message)) {
      fail('SSH_NO_AGREEMENT', `No common SSH algorithm with ${where} (${text}).`);
    } else if (authentication.hasBegun()) failLogin(`${where} closed the connection during authentication: ${text}`);
    else fail('SSH_BAD_ANSWER', `SSH key exchange failed: ${text}.`);
  };
  const onClose = () => {
    if (isReady) hop.lose('closed by the server');
    else if (authentication.hasBegun()) failLogin(`${where} closed the connection during authentication`);
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
      authHandler: authentication.handler,
    });
    await Promise.race([ready, failed.promise]);
    isReady = true;
    await hostCheck.remember();
  } catch (error) {
    hop.abandon();
    if (hasKeys) await hostCheck.remember();
    throw error;
  }

  return hop.open();
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
