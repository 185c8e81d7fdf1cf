import { withDeadline } from '../../../lifecycle/index.ts';
import { reachEndpoint } from '../../../net/index.ts';
import { readGatewayHealth } from '../../gateway/health.ts';
import type { CheckContext, Toolkit } from '../../toolkit.ts';

/** Including the dial; a running gateway answers on loopback at once. */
const HEALTH_MS = 1_500;

/**
 * Why MQTT CONNECT must not be sent: the client identifier is the serial number, so a second connection would displace the
 * cloud link of a running gateway. Null when no gateway runs.
 */
export async function displacedLinkReason(toolkit: Toolkit, context: CheckContext): Promise<string | null> {
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
      : `gw serve holds the cloud link of this device (${link.name}: ${link.detail}); a second connection with its client identifier would displace it`;
  } catch {
    context.signal.throwIfAborted();
    return unknownLink(site.operator.port);
  }
}

function unknownLink(port: number): string {
  return `a program on port ${port} of this machine does not report whether the cloud link runs; a second connection with its client identifier would displace it`;
}
