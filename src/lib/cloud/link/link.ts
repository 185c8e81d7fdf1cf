import { GwError } from '../../error/index.ts';
import { createBackoff, firstOf, onAbort, orAfter } from '../../lifecycle/index.ts';
import { resolveHost, systemLookup } from '../../net/index.ts';
import { createSerialQueue } from '../../net/path/index.ts';
import { type AttemptTools, attempt, type LinkSession } from './attempt.ts';
import { countEnd, noClosings, SETTLED_MS } from './closings.ts';
import { lossOutcome, MAX_SHORT_SESSIONS } from './failures.ts';
import { type LinkMemory, openLinkMemory } from './link-file.ts';
import type {
  CloudLink,
  CloudLinkOptions,
  Connection,
  FailedAttempt,
  LinkIdentity,
  LinkPath,
  PathCheck,
} from './model.ts';
import { linkPaths, planOf } from './plans.ts';
import { createSharedLookup } from './shared-lookup.ts';
import { createLinkState } from './state.ts';
import { linkTiming } from './timing.ts';
import { linkView } from './view.ts';

/** With TLS 1.3 a broker rejects a client certificate only after the handshake. */
const REJECTION_WAIT_MS = 1_000;
/** How much longer than the wait for a PUBACK a session lasts before the broker counts as acknowledging again. */
const NO_PUBACK_SHARE = 1.5;
/** A disk that does not answer must not keep a stop from coming in. */
const DISK_MS = 500;

/**
 * The connection to the broker with its reconnects. Creating it has no effect. `run` may be called once at a time.
 */
export function createCloudLink(options: CloudLinkOptions): CloudLink {
  const { cloud, clock, log, filters } = options;
  const state = createLinkState();
  const listeners = new Set<(connection: Connection | null) => void>();
  const timing = options.timing ?? linkTiming;
  const retry = createBackoff(timing.retry, clock);
  const renewalRetry = createBackoff(timing.renewalRetry, clock);
  const directRetry = createBackoff(timing.directRetry, clock);
  let current: Run | null = null;
  /** Serialises replacements of the session. */
  let turn: Promise<unknown> = Promise.resolve();
  const lookup = createSharedLookup(options.lookup ?? systemLookup);

  const notify = (connection: Connection | null) => {
    for (const listener of [...listeners]) listener(connection);
  };

  async function readIdentity(): Promise<LinkIdentity | null> {
    try {
      const identity = await options.readIdentity();
      state.identity = identity === null ? { kind: 'none' } : { kind: 'enrolled', identity };
      return identity;
    } catch (error) {
      if (!(error instanceof GwError)) throw error;
      if (state.identity.kind !== 'broken')
        log.warn({ error: error.message }, 'the identity of this device cannot be used');
      state.identity = { kind: 'broken', error };
      return null;
    }
  }

  /** One attempt on one path. Its failure is kept and logged. */
  async function connect(
    path: LinkPath,
    identity: LinkIdentity,
    run: Run,
    { settleMs = 0 }: { readonly settleMs?: number } = {},
  ): Promise<LinkSession | FailedAttempt> {
    const plan = await planOf(path, cloud, identity, clock.wall());
    if ('step' in plan) return fail(plan);
    // Before the first SUBSCRIBE, so that no filter that the broker may keep is forgotten.
    await orAfter(clock, DISK_MS, run.memory.remember({ filters: [...run.memory.filters(), ...filters] }));
    const result = await attempt(plan, run.tools, { settleMs });
    if ('failed' in result) return fail(result.failed);
    void run.memory.remember({ path, ...(!result.session.mqtt.sessionPresent && { filters }) });
    return result.session;
  }

  function fail(failure: FailedAttempt): FailedAttempt {
    state.failures[failure.path] = failure;
    const { path, host, port, step, outcome } = failure;
    log.warn({ path, host, port, step, detail: outcome.detail }, 'cloud link: connection attempt failed');
    return failure;
  }

  /** Tries the paths in order: the one that worked last first. Null when all failed. */
  async function connectAny(identity: LinkIdentity, run: Run): Promise<LinkSession | null> {
    const paths = [...linkPaths(cloud)];
    // A path that accepts and soon closes would be chosen for ever.
    const isUnsteady = state.shortSessions >= MAX_SHORT_SESSIONS;
    if ((run.memory.path() === 'fallback') !== isUnsteady && !isDirectDue()) paths.reverse();
    const rejections: FailedAttempt[] = [];
    for (const path of paths) {
      const result = await connect(path, identity, run);
      if ('mqtt' in result) return result;
      if (path === 'direct' && isDirectDue()) postponeDirect();
      if (!isNetworkFailure(result)) rejections.push(result);
    }
    const { proven } = run;
    const [rejection] = rejections;
    if (proven === null || proven.fingerprintSha256 === identity.fingerprintSha256 || rejection === undefined)
      return null;
    // The certificate before the renewal may still work when the broker rejects the new one.
    state.renewalFailure = rejection;
    for (const path of paths) {
      const result = await connect(path, proven, run);
      if ('mqtt' in result) return result;
    }
    return null;
  }

  /** Not later for a reconnect on the fallback, which may happen again and again before. */
  function isDirectDue(): boolean {
    return state.directDueMs !== null && clock.monotonicMs() >= state.directDueMs;
  }

  function postponeDirect(): void {
    state.directDueMs = clock.monotonicMs() + directRetry.nextMs();
  }

  /** Makes a session the present one. The broker has displaced the one before, if there was any. */
  function begin(session: LinkSession, run: Run): void {
    const { plan, mqtt } = session;
    const before = state.session;
    run.proven = plan.identity;
    state.session = session;
    state.connection = { path: plan.path, ended: mqtt.ended, publish: mqtt.publish };
    state.failures[plan.path] = null;
    state.connects += 1;
    state.retryAtMs = null;
    const current = state.identity.kind === 'enrolled' ? state.identity.identity.fingerprintSha256 : null;
    if (current === plan.identity.fingerprintSha256) {
      state.renewalFailure = null;
      renewalRetry.reset();
      run.renewalDueMs = 0;
    } else {
      run.rejected = current;
      run.renewalDueMs = clock.monotonicMs() + renewalRetry.nextMs();
    }
    if (plan.path === 'direct') state.directDueMs = null;
    else if (state.directDueMs === null) postponeDirect();
    if (state.noPuback !== null) {
      state.noPuback = { ...state.noPuback, overAtMs: clock.monotonicMs() + NO_PUBACK_SHARE * timing.pubackMs };
    }
    before?.mqtt.destroy();
    log.info(
      {
        path: plan.path,
        host: plan.plan.host,
        port: plan.plan.port,
        alpn: session.alpn,
        sessionPresent: mqtt.sessionPresent,
      },
      'cloud link: connected',
    );
    const { hostDifference, regionDifference } = linkView(state, options);
    if (hostDifference !== null) log.warn(hostDifference, 'cloud link: site file and enrolment name different hosts');
    if (regionDifference !== null) log.warn(regionDifference, 'cloud link: the host name is in another region');
    onAbort(mqtt.ended, () => ended(session));
    if (state.session === session) notify(state.connection);
  }

  function ended(session: LinkSession): void {
    const { plan, mqtt, sinceMs } = session;
    const end = mqtt.end();
    if (state.session !== session || end === null) return;
    state.session = null;
    state.connection = null;
    const livedMs = clock.monotonicMs() - sinceMs;
    if (livedMs >= SETTLED_MS) retry.reset();
    if (plan.path === 'direct' && livedMs >= timing.healedMs) directRetry.reset();
    if (state.isReplacing || end.kind === 'own') {
      notify(null);
      return;
    }
    state.losses += 1;
    countEnd(state, end, { livedMs, nowMs: clock.monotonicMs() });
    const outcome = lossOutcome(end, plan.identity.serial, state.closings);
    if (outcome !== null) {
      state.failures[plan.path] = {
        path: plan.path,
        host: plan.plan.host,
        port: plan.plan.port,
        step: 'mqtt',
        outcome,
        at: clock.wall().toISOString(),
        tookMs: Math.round(livedMs),
      };
      log.warn(
        { path: plan.path, detail: outcome.detail, afterMs: Math.round(livedMs) },
        'cloud link: connection lost',
      );
    }
    notify(null);
  }

  /** While a session lasts: takes up a renewed certificate, and returns from the fallback to the direct path. */
  async function hold(run: Run): Promise<void> {
    while (state.session !== null) {
      const { session } = state;
      await clock
        .sleep(timing.pollMs, firstOf(run.signal, session.mqtt.ended))
        .catch(() => run.signal.throwIfAborted());
      const identity = await readIdentity();
      // A check of a path ends the session before its own is there.
      await turn;
      if (state.session !== session) continue;
      if (identity === null) {
        // A file that cannot be read now says nothing about the certificate in use.
        if (state.identity.kind === 'none') await session.mqtt.disconnect();
        continue;
      }
      const nowMs = clock.monotonicMs();
      const isRenewed = identity.fingerprintSha256 !== session.plan.identity.fingerprintSha256;
      if (!isRenewed) state.renewalFailure = null;
      if (isRenewed && (nowMs >= run.renewalDueMs || identity.fingerprintSha256 !== run.rejected)) {
        const failed = await replace(
          identity,
          [session.plan.path, ...linkPaths(cloud).filter((path) => path !== session.plan.path)],
          run,
        );
        state.renewalFailure = failed;
        if (failed !== null) {
          run.rejected = identity.fingerprintSha256;
          run.renewalDueMs = clock.monotonicMs() + renewalRetry.nextMs();
        }
      } else if (session.plan.path === 'fallback' && linkPaths(cloud).includes('direct') && isDirectDue()) {
        const failed = await replace(isRenewed ? session.plan.identity : identity, ['direct'], run);
        if (failed !== null) postponeDirect();
      }
    }
  }

  /** Connects anew before the present session is given up. Returns the failure; then the present session is untouched. */
  function replace(identity: LinkIdentity, paths: readonly LinkPath[], run: Run): Promise<FailedAttempt | null> {
    const done = turn.then(() => replaceInTurn(identity, paths, run));
    turn = done.catch(() => {});
    return done;
  }

  async function replaceInTurn(
    identity: LinkIdentity,
    paths: readonly LinkPath[],
    run: Run,
  ): Promise<FailedAttempt | null> {
    run.signal.throwIfAborted();
    state.isReplacing = true;
    try {
      let failed: FailedAttempt | null = null;
      for (const path of paths) {
        const result = await connect(path, identity, run, { settleMs: REJECTION_WAIT_MS });
        if ('mqtt' in result) {
          begin(result, run);
          state.shortSessions = 0;
          state.closings = noClosings;
          return null;
        }
        failed = result;
        // A broker that answered would say the same on the other port.
        if (!isNetworkFailure(result)) break;
      }
      // The broker accepted CONNECT, which displaced the present session, and then rejected a subscription.
      if (state.session === null) state.losses += 1;
      return failed;
    } finally {
      state.isReplacing = false;
    }
  }

  /** The present session when it uses this path, otherwise a new one on it. */
  async function checkPath(path: LinkPath): Promise<PathCheck> {
    const notChecked = (detail: string): PathCheck => ({
      path,
      step: null,
      outcome: { verdict: 'not-checked', detail },
    });
    if (!linkPaths(cloud).includes(path)) return notChecked('the broker has one port only');
    await turn;
    const { session } = state;
    if (current === null || session === null) {
      const failure = state.failures[path];
      if (failure === null) return notChecked('the gateway is not connected');
      const { step, outcome, at } = failure;
      return { path, step, outcome: { ...outcome, detail: `${outcome.detail} (attempt at ${at})` } };
    }
    if (session.plan.path !== path) {
      const failed = await replace(session.plan.identity, [path], current);
      if (failed !== null) return { ...failed, path };
      // It returns to the direct path at once.
      state.directDueMs = clock.monotonicMs();
    }
    const view = linkView(state, options).connection;
    if (view?.path !== path) return notChecked('the connection has ended meanwhile');
    const detail = `CONNACK accepted and ${filters.length} filters acknowledged by the link of the running gateway, connected for ${Math.round(view.forMs / 1_000)} s, last packet ${Math.round(view.lastPacketAgoMs / 1_000)} s ago`;
    return { path, step: null, outcome: { verdict: 'ok', detail } };
  }

  return {
    async run(signal) {
      state.isRunning = true;
      const { memory, loaded } = openLinkMemory(options.stateDir, log, options.files);
      await orAfter(clock, DISK_MS, loaded);
      const run: Run = {
        signal,
        memory,
        proven: null,
        rejected: null,
        renewalDueMs: 0,
        tools: {
          ...options,
          signal,
          resolve: (host, timeoutMs) => resolveHost(host, { timeoutMs, clock, lookup }),
          pubackMs: timing.pubackMs,
          connects: createSerialQueue(clock, signal),
          async unsubscribeOld(mqtt) {
            const old = memory.filters().filter((filter) => !filters.includes(filter));
            if (old.length === 0 || (await mqtt.unsubscribe(old))) void memory.remember({ filters });
          },
        },
      };
      current = run;
      try {
        while (!signal.aborted) {
          const identity = await readIdentity();
          if (identity === null) {
            await clock.sleep(timing.pollMs, signal);
            continue;
          }
          const session = await connectAny(identity, run);
          signal.throwIfAborted();
          if (session !== null) {
            begin(session, run);
            await hold(run);
          }
          const waitMs = retry.nextMs();
          state.retryAtMs = clock.monotonicMs() + waitMs;
          await clock.sleep(waitMs, signal);
          state.retryAtMs = null;
        }
      } catch (error) {
        if (!signal.aborted) throw error;
      } finally {
        state.isRunning = false;
        current = null;
        state.retryAtMs = null;
        await state.session?.mqtt.disconnect();
        await orAfter(clock, DISK_MS, memory.settled());
      }
    },
    view: () => linkView(state, options),
    connection: () => state.connection,
    checkPath,
    subscribe(listener) {
      listeners.add(listener);
      return { [Symbol.dispose]: () => listeners.delete(listener) };
    },
  };
}

/** The broker was not reached, so it has not judged the certificate. */
function isNetworkFailure({ step }: FailedAttempt): boolean {
  return step === 'name' || step === 'tcp' || step === 'alpn';
}

interface Run {
  readonly signal: AbortSignal;
  readonly memory: LinkMemory;
  readonly tools: AttemptTools;
  /** The identity of the last connection. */
  proven: LinkIdentity | null;
  /** Fingerprint of the renewed certificate that failed last. */
  rejected: string | null;
  renewalDueMs: number;
}
