import { operatorAccess } from '../operator/access.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import { type CloudStatus, cloudViewSchema } from './view.result.ts';

export interface CloudOptions {
  /** Host of the operator server; by default this machine. */
  readonly host?: string | undefined;
}

/** Reads the state of the cloud link of the running gateway. Throws OPERATOR_NOT_REACHABLE. */
export function readCloudStatus(
  toolkit: Pick<Toolkit, 'site' | 'dialer'>,
  { host }: CloudOptions,
  context: CheckContext,
): Promise<CloudStatus> {
  return operatorAccess(toolkit, context, host).ask('GET', '/api/cloud', cloudViewSchema);
}

/** A robot may be without a cloud; every other state but 'connected' is none to leave a robot in. */
export function isCloudFine({ status }: Pick<CloudStatus, 'status'>): boolean {
  return status === 'connected' || status === 'not-configured';
}
