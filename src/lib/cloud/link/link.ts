import { GwError } from '../../error/index.ts';
import { createBackoff, orAfter } from '../../lifecycle/index.ts';
import { createSharedLookup, sharedSystemLookup } from '../../net/index.ts';
import { openLinkMemory } from './link-file.ts';
import type { CloudLink, CloudLinkOptions, LinkIdentity, LinkPath, PathCheck } from './model.ts';
import { linkPaths } from './plans.ts';
import { createConnector } from './run/connector.ts';
import { createDirectRetry } from './run/direct-retry.ts';
import { holdSession } from './run/hold-session.ts';
import { createRenewal } from './run/renewal.ts';
import { createReplacements, type LinkRun } from './run/replacements.ts';
import { createSessions } from './run/sessions.ts';
import { createLinkState, type LinkState } from './state.ts';
import { DISK_MS, linkTiming } from './timing.ts';
import { linkView } from './view.ts';

/**
 * The connection to the broker with its reconnects. Creating it has no effect. `run` may be called once at a time.
 */
export function createCloudLink(options: CloudLinkOptions): CloudLink {
  const { cloud, clock, log, filters } = options;
  const timing = options.timing ?? linkTiming;
  const { pubackMs, pollMs } = timing;
  const state = createLinkState();
  const retry = createBackoff(timing.retry, clock);
  const renewalRetry = createBackoff(timing.renewalRetry, clock);
  const direct = createDirectRetry(state, { clock, timing });
  const lookup = options.lookup === undefined ? sharedSystemLookup : createSharedLookup(options.lookup, clock);
  const view = () => linkView(state, options);
  const sessions = createSessions({ state, clock, log, pubackMs, retry, direct, view });
  const replacements = createReplacements(state, sessions);
  const readIdentity = () => readInstalled(state, options);
  let current: LinkRun | null = null;

  /** The present session when it uses this path, otherwise a new one on it. */
  async function checkPath(path: LinkPath): Promise<PathCheck> {
    const notChecked = (detail: string): PathCheck => ({
      path,
      step: null,
      outcome: { verdict: 'not-checked', detail },
    });
    if (!linkPaths(cloud).includes(path)) return notChecked('the broker has one port only');
    await replacements.settled();
    const { session } = state;
    if (current === null || session === null) {
      const failure = state.failures[path];
      if (failure === null) return notChecked('the gateway is not connected');
      const { step, outcome, at } = failure;
      return { path, step, outcome: { ...outcome, detail: `${outcome.detail} (attempt at ${at})` } };
    }
    if (session.plan.path !== path) {
      const failed = await replacements.replace(session.plan.identity, [path], current);
      if (failed !== null) return { ...failed, path };
      direct.returnAtOnce();
    }
    const { connection } = view();
    if (connection?.path !== path) return notChecked('the connection has ended meanwhile');
    const detail = `CONNACK accepted and ${filters.length} filters acknowledged by the link of the running gateway, connected for ${Math.round(connection.forMs / 1_000)} s, last packet ${Math.round(connection.lastPacketAgoMs / 1_000)} s ago`;
    return { path, step: null, outcome: { verdict: 'ok', detail } };
  }

  return {
    async run(signal) {
      state.isRunning = true;
      const { memory, loaded } = openLinkMemory(options.stateDir, log, options.files);
      await orAfter(clock, DISK_MS, loaded);
      const renewal = createRenewal(state, { clock, retry: renewalRetry });
      const connector = createConnector(options, { state, signal, memory, lookup, pubackMs, direct, renewal });
      const run = { signal, connector, renewal };
      current = run;
      try {
        while (!signal.aborted) {
          const identity = await readIdentity();
          if (identity === null) {
            await clock.sleep(pollMs, signal);
            continue;
          }
          const session = await connector.connectAny(identity);
          signal.throwIfAborted();
          if (session !== null) {
            sessions.begin(session, renewal);
            await holdSession(run, {
              candidate: options.candidate,
              cloud,
              clock,
              state,
              pollMs,
              readIdentity,
              direct,
              replacements,
            });
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
    view,
    connection: () => state.connection,
    checkPath,
    subscribe: sessions.subscribe,
  };
}

/** The installed identity, as it is from now on in the state; null: there is none, or it cannot be used. */
async function readInstalled(
  state: LinkState,
  { readIdentity, log }: Pick<CloudLinkOptions, 'readIdentity' | 'log'>,
): Promise<LinkIdentity | null> {
  try {
    const identity = await readIdentity();
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
