import { asGwError } from '../../error/index.ts';
import { type SupportView, supportViewSchema } from '../../tunnel/index.ts';
import { readCloudStatus } from '../cloud/status.ts';
import { gatewayAccess } from '../operator/local-access.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import type { TunnelStatus } from './tunnel.result.ts';

export const SUPPORT_PATH = '/api/wartung/sitzung';

export interface TunnelOptions {
  /** Host of the operator server; by default this machine. */
  readonly host?: string | undefined;
}

/**
 * Reads the state of remote support of the running gateway, with that of the cloud link, by which the notification of a
 * session arrives. Throws OPERATOR_NOT_REACHABLE.
 */
export async function readTunnelStatus(
  toolkit: Toolkit,
  { host }: TunnelOptions,
  context: CheckContext,
): Promise<TunnelStatus> {
  const [view, cloud] = await Promise.all([
    readSupport(toolkit, { host }, context),
    readCloudStatus(toolkit, { host }, context),
  ]);
  const { status, detail, remedy } = cloud;
  return { ...view, cloud: { status, detail, remedy } };
}

/**
 * The state of remote support alone, with a remedy where the gateway was started without the `cloud.tunnel` of the site
 * file. Throws OPERATOR_NOT_REACHABLE.
 */
export async function readSupport(
  toolkit: Toolkit,
  { host }: TunnelOptions,
  context: CheckContext,
): Promise<SupportView> {
  const { site } = toolkit;
  const view = await (await gatewayAccess(toolkit, context, host)).ask('GET', SUPPORT_PATH, supportViewSchema);
  if (view.status !== 'not-configured' || site.cloud?.tunnel === undefined) return view;
  return { ...view, remedy: `${site.path} has \`cloud.tunnel\`: restart \`gw serve\`, so that it reads it.` };
}

/** Whether the gateway refused a request because its site file has no `cloud`. */
export function isNotConfigured(error: unknown): boolean {
  return asGwError(error).details?.status === 409;
}
