import { asGwError, GwError } from '../../error/index.ts';
import { readCloudStatus } from '../cloud/status.ts';
import type { Finding } from '../finding.result.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';

/** The cloud's side, played by the simulator. */
export interface SimulatedCloud {
  /** Closes the broker, or opens it again. */
  cut(on: boolean): Promise<void>;
  stop(reason: string, by: string): Promise<{ readonly id: string }>;
  /** Releases a package, and returns its job. */
  release(file: string): Promise<SimulatedJob>;
  job(jobId: string): Promise<SimulatedJob | null>;
  /** Opens a tunnel to the robot. */
  openTunnel(service: string, minutes: number): Promise<{ readonly tunnelId: string }>;
  /** Requests these paths of the robot through the tunnel, as the technician's browser does. */
  browse(tunnelId: string, paths: readonly string[]): Promise<readonly SimulatedPage[]>;
  closeTunnel(tunnelId: string): Promise<void>;
  /** Payloads that the cloud received on the topic of this key, oldest first. */
  received(topic: string): Promise<readonly (string | null)[]>;
}

interface SimulatedJob {
  readonly jobId: string;
  readonly status: string;
  readonly statusDetails: Readonly<Record<string, string>>;
}

interface SimulatedPage {
  readonly path: string;
  /** Null: no complete answer. */
  readonly status: number | null;
}

export interface RehearsalOptions {
  readonly cloud: SimulatedCloud;
  /** Makes a signed package of the given version from the running installation; returns its path. */
  readonly makePackage: (version: string) => Promise<string>;
  readonly onFinding: (finding: Finding) => void;
}

const POLL_MS = 100;

export interface Tools extends RehearsalOptions {
  readonly toolkit: Toolkit;
  readonly context: CheckContext;
}

/** Polls until the state satisfies; throws with what was awaited. */
export async function until<T>(
  { toolkit, context }: Tools,
  what: string,
  withinMs: number,
  read: () => Promise<T>,
  satisfies: (value: T) => boolean,
  beganMs = toolkit.clock.monotonicMs(),
): Promise<{ readonly value: T; readonly tookMs: number }> {
  const { clock } = toolkit;
  for (;;) {
    // A gateway that restarts does not answer for a moment.
    const value = await read().catch((error: unknown) => {
      context.signal.throwIfAborted();
      if (asGwError(error).code !== 'OPERATOR_NOT_REACHABLE') throw error;
      return undefined;
    });
    const tookMs = Math.round(clock.monotonicMs() - beganMs);
    if (value !== undefined && satisfies(value)) return { value, tookMs };
    if (tookMs > withinMs) {
      throw new GwError('CHECK_FAILED', `${what}: not within ${withinMs / 1000} s.`, {
        remedy: 'Read the log of the gateway, and run `gw cloud status`.',
      });
    }
    await clock.sleep(POLL_MS, context.signal);
  }
}

export const statusOf = ({ toolkit, context }: Tools) => readCloudStatus(toolkit, {}, context);
