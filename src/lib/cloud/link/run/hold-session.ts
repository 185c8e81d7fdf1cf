import { firstOf } from '../../../lifecycle/index.ts';
import type { CloudLinkOptions, LinkIdentity, LinkPath } from '../model.ts';
import { linkPaths } from '../plans.ts';
import type { LinkState } from '../state.ts';
import { isUnjudged } from './connector.ts';
import type { DirectRetry } from './direct-retry.ts';
import type { LinkRun, Replacements } from './replacements.ts';

export interface HoldOptions extends Pick<CloudLinkOptions, 'cloud' | 'clock' | 'candidate'> {
  readonly state: Pick<LinkState, 'session' | 'identity'>;
  /** How often the identity is read. */
  readonly pollMs: number;
  /** Reads it into the state; null: there is none, or it cannot be used. */
  readonly readIdentity: () => Promise<LinkIdentity | null>;
  readonly direct: Pick<DirectRetry, 'isDue' | 'postpone'>;
  readonly replacements: Replacements;
}

/** While a session lasts: takes up a renewed certificate, and returns from the fallback to the direct path. */
export async function holdSession(run: LinkRun, options: HoldOptions): Promise<void> {
  const { cloud, clock, state, direct, replacements } = options;
  const { signal, renewal } = run;
  const pathsFrom = (path: LinkPath) => [path, ...linkPaths(cloud).filter((other) => other !== path)];
  while (state.session !== null) {
    const { session } = state;
    await clock.sleep(options.pollMs, firstOf(signal, session.mqtt.ended)).catch(() => signal.throwIfAborted());
    const identity = await options.readIdentity();
    // A check of a path ends the session before its own is there.
    await replacements.settled();
    if (state.session !== session) continue;
    if (identity === null) {
      // A file that cannot be read now says nothing about the certificate in use.
      if (state.identity.kind === 'none') await session.mqtt.disconnect();
      continue;
    }
    const { path, identity: inUse } = session.plan;
    const isRenewed = identity.fingerprintSha256 !== inUse.fingerprintSha256;
    if (!isRenewed) renewal.done();
    const candidate = isRenewed ? null : (options.candidate?.due(identity) ?? null);
    if (isRenewed && renewal.isDue(identity)) {
      renewal.tried(identity, await replacements.replace(identity, pathsFrom(path), run));
    } else if (candidate !== null) {
      const failure = await replacements.replace(candidate, pathsFrom(path), run);
      const isUnreachable = failure !== null && isUnjudged(failure);
      options.candidate?.tried(candidate, { failure, isUnreachable, wasConnected: true });
    } else if (path === 'fallback' && linkPaths(cloud).includes('direct') && direct.isDue()) {
      const failed = await replacements.replace(isRenewed ? inUse : identity, ['direct'], run);
      if (failed !== null) direct.postpone();
    }
  }
}
