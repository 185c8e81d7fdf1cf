import { orAfter } from '../../../lifecycle/index.ts';
import { type Lookup, resolveHost } from '../../../net/index.ts';
import { createSerialQueue } from '../../../net/path/index.ts';
import { type AttemptTools, attempt, type LinkSession, wasSilent } from '../attempt.ts';
import { MAX_SHORT_SESSIONS } from '../failures.ts';
import type { LinkMemory } from '../link-file.ts';
import type { CloudLinkOptions, FailedAttempt, LinkIdentity, LinkPath } from '../model.ts';
import { brokerHost, linkPaths, planOf } from '../plans.ts';
import type { LinkState } from '../state.ts';
import { DISK_MS } from '../timing.ts';
import type { DirectRetry } from './direct-retry.ts';
import type { Renewal } from './renewal.ts';

/** What the attempts of one run share. */
export interface ConnectorContext {
  readonly state: LinkState;
  readonly signal: AbortSignal;
  readonly memory: LinkMemory;
  readonly lookup: Lookup;
  readonly pubackMs: number;
  readonly direct: Pick<DirectRetry, 'isDue' | 'postpone'>;
  readonly renewal: Pick<Renewal, 'proven' | 'failed'>;
}

/** Makes the sessions of one run. Both throw only the reason of the signal. */
export interface Connector {
  /** One attempt on one path, which waits `settleMs` before CONNECT. Its failure is kept and logged. */
  connect(
    path: LinkPath,
    identity: LinkIdentity,
    options?: { readonly settleMs?: number },
  ): Promise<LinkSession | FailedAttempt>;
  /** Tries the paths in order: the one that worked last first. Null when all failed. */
  connectAny(identity: LinkIdentity): Promise<LinkSession | null>;
}

export function createConnector(options: CloudLinkOptions, context: ConnectorContext): Connector {
  const { cloud, clock, log, filters } = options;
  const { state, signal, memory, lookup, pubackMs, direct, renewal } = context;
  const tools: AttemptTools = {
    ...options,
    signal,
    resolve: (host, timeoutMs) => resolveHost(host, { timeoutMs, clock, lookup }),
    pubackMs,
    connects: createSerialQueue(clock, signal),
    async unsubscribeOld(mqtt) {
      const old = memory.filters().filter((filter) => !filters.includes(filter));
      if (old.length === 0 || (await mqtt.unsubscribe(old))) void memory.remember({ filters });
    },
  };

  async function connect(
    path: LinkPath,
    identity: LinkIdentity,
    { settleMs = 0 }: { readonly settleMs?: number } = {},
  ): Promise<LinkSession | FailedAttempt> {
    const plan = await planOf(path, cloud, identity, clock.wall());
    if ('step' in plan) return fail(plan);
    // Before the first SUBSCRIBE, so that no filter that the broker may keep is forgotten.
    await orAfter(clock, DISK_MS, memory.remember({ filters: [...memory.filters(), ...filters] }));
    const result = await attempt(plan, tools, { settleMs });
    if ('failed' in result) return fail(result.failed);
    void memory.remember({ path, ...(!result.session.mqtt.sessionPresent && { filters }) });
    return result.session;
  }

  function fail(failure: FailedAttempt): FailedAttempt {
    state.failures[failure.path] = failure;
    const { path, host, port, step, outcome } = failure;
    log.warn({ path, host, port, step, detail: outcome.detail }, 'cloud link: connection attempt failed');
    return failure;
  }

  /**
   * A broker that rejects the installed certificate may have been given the next one already, and one that is gone may have
   * moved: `isElsewhere` takes a candidate of another host only.
   */
  async function connectCandidate(
    identity: LinkIdentity,
    paths: readonly LinkPath[],
    { isElsewhere = false }: { readonly isElsewhere?: boolean } = {},
  ): Promise<LinkSession | null> {
    const candidate = options.candidate?.due(identity) ?? null;
    if (candidate === null) return null;
    if (isElsewhere && brokerHost(cloud, candidate) === brokerHost(cloud, identity)) return null;
    let failure: FailedAttempt | null = null;
    for (const path of paths) {
      const result = await connect(path, candidate);
      if ('mqtt' in result) {
        options.candidate?.tried(candidate, { failure: null, isUnreachable: false, wasConnected: false });
        return result;
      }
      failure = result;
    }
    const isUnreachable = failure !== null && isUnjudged(failure);
    options.candidate?.tried(candidate, { failure, isUnreachable, wasConnected: false });
    return null;
  }

  return {
    connect,

    async connectAny(identity) {
      const paths = [...linkPaths(cloud)];
      // A path that accepts and soon closes would be chosen for ever.
      const isUnsteady = state.shortSessions >= MAX_SHORT_SESSIONS;
      if ((memory.path() === 'fallback') !== isUnsteady && !direct.isDue()) paths.reverse();
      const rejections: FailedAttempt[] = [];
      for (const path of paths) {
        const result = await connect(path, identity);
        if ('mqtt' in result) return result;
        if (path === 'direct' && direct.isDue()) direct.postpone();
        if (!isNetworkFailure(result)) rejections.push(result);
      }
      const { proven } = renewal;
      const [rejection] = rejections;
      if (rejection === undefined) return await connectCandidate(identity, paths, { isElsewhere: true });
      if (proven !== null && proven.fingerprintSha256 !== identity.fingerprintSha256) {
        // The certificate before the renewal may still work when the broker rejects the new one.
        renewal.failed(rejection);
        for (const path of paths) {
          const result = await connect(path, proven);
          if ('mqtt' in result) return result;
        }
      }
      return await connectCandidate(identity, paths);
    },
  };
}

/** The broker was not reached, or said nothing of the certificate. */
export const isUnjudged = (failure: FailedAttempt): boolean => isNetworkFailure(failure) || wasSilent(failure);

/** The broker was not reached. */
export function isNetworkFailure({ step }: FailedAttempt): boolean {
  return step === 'name' || step === 'tcp' || step === 'alpn';
}
