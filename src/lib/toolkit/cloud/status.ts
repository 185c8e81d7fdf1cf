import { type CloudView, cloudViewSchema } from '../../cloud/index.ts';
import { gatewayAccess } from '../operator/local-access.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import type { Deciding } from '../verdict.ts';

export interface CloudOptions {
  /** Host of the operator server; by default this machine. */
  readonly host?: string | undefined;
}

/**
 * Reads the state of the cloud link of the running gateway, with a remedy where it was started without the `cloud` of the
 * site file. Throws OPERATOR_NOT_REACHABLE.
 */
export async function readCloudStatus(
  toolkit: Toolkit,
  { host }: CloudOptions,
  context: CheckContext,
): Promise<CloudView> {
  const view = await (await gatewayAccess(toolkit, context, host)).ask('GET', '/api/cloud', cloudViewSchema);
  if (view.status !== 'not-configured' || toolkit.site.cloud === undefined) return view;
  return { ...view, remedy: `${toolkit.site.path} has \`cloud\`: restart \`gw serve\`, so that it reads it.` };
}

/** A gateway that has no cloud by its site file is none of its concern. */
export function judgeCloud({ status, remedy }: Pick<CloudView, 'status' | 'remedy'>): Deciding['verdict'] {
  if (status === 'connected') return 'ok';
  if (status === 'not-checked') return 'not-checked';
  return status === 'not-configured' && remedy === null ? 'not-applicable' : 'wrong';
}
