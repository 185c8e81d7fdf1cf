import { readSiteCa } from '../../net/path/index.ts';
import type { LinkPlan } from './attempt.ts';
import type { CloudLinkOptions, LinkIdentity, LinkPath } from './model.ts';

/** The host of the broker: that of the site file, else that of the enrolment. */
export function brokerHost({ mqtt }: CloudLinkOptions['cloud'], { endpoint }: Pick<LinkIdentity, 'endpoint'>): string {
  return mqtt.host ?? endpoint;
}

/** The paths of the site file. With one port for both there is one path, with ALPN. */
export function linkPaths({ mqtt }: CloudLinkOptions['cloud']): readonly LinkPath[] {
  return mqtt.port === mqtt.fallbackPort ? ['fallback'] : ['direct', 'fallback'];
}

/** Reads the CA file anew, so that a corrected file needs no restart. Throws SITE_FILE_INVALID. */
export async function planOf(
  path: LinkPath,
  cloud: CloudLinkOptions['cloud'],
  identity: LinkIdentity,
): Promise<LinkPlan> {
  const { mqtt } = cloud;
  return {
    path,
    identity,
    plan: {
      host: brokerHost(cloud, identity),
      port: path === 'direct' ? mqtt.port : mqtt.fallbackPort,
      trusted: (await readSiteCa(mqtt.caFile, 'cloud.mqtt.caFile')) ?? identity.caPem,
      credentials: { keyPem: identity.keyPem, certificatePem: identity.certificatePem },
      alpn: path === 'direct' ? null : mqtt.alpn,
      application: 'mqtt',
    },
  };
}
