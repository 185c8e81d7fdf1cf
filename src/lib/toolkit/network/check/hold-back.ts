import { withDeadline } from '../../../lifecycle/index.ts';
import { reachEndpoint } from '../../../net/index.ts';
import { readGatewayHealth } from '../../gateway/health.ts';
import type { CheckContext, Toolkit } from '../../toolkit.ts';

/** Together with the dial before it; a gateway that runs answers on loopback at once. */
const HEALTH_MS = 1_500;

/**
 * Why the handshake must not be tried: the client id is the serial number, so that a second connection displaces a
 * cloud link of the gateway that runs. Null when none does.
 */
export async function holdBackReason(toolkit: Toolkit, context: CheckContext): Promise<string | null> {
  const { site, clock, dialer } = toolkit;
  const endpoint = { host: '127.0.0.1', port: site.operator.port };
  const beganMs = clock.monotonicMs();
  const reach = await reachEndpoint(dialer, endpoint, { timeoutMs: HEALTH_MS, signal: context.signal, clock });
  if (!reach.reached) return reach.failure === 'refused' ? null : unknownLink(site.operator.port);
  const left = Math.ceil(Math.max(1, HEALTH_MS - (clock.monotonicMs() - beganMs)));
  const signal = withDeadline(context.signal, left);
  try {
    const { services } = await readGatewayHealth(toolkit, {}, { ...context, signal });
    const link = services.find(
      ({ name, status }) => /^(cloud|mqtt)/.test(name) && !['stopped', 'waiting'].includes(status),
    );
    return link === undefined
      ? null
      : `gw serve holds the cloud link of this device (${link.name}: ${link.detail}), and a second connection with its client id would displace it`;
  } catch {
    context.signal.throwIfAborted();
    return unknownLink(site.operator.port);
  }
}

function unknownLink(port: number): string {
  return `something has port ${port} of this machine and does not say whether the cloud link runs; a second connection with its client id would displace it`;
}
