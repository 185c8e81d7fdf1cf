import { asGwError } from '../../error/index.ts';
import { readSiteCa } from '../../net/path/index.ts';
import type { LinkPlan } from './attempt.ts';
import type { CloudLinkOptions, FailedAttempt, LinkIdentity, LinkPath } from './model.ts';

/** The host of the broker: that of the site file, else that of the enrolment. */
export function brokerHost({ mqtt }: CloudLinkOptions['cloud'], { endpoint }: Pick<LinkIdentity, 'endpoint'>): string {
  return mqtt.host ?? endpoint;
}

/** The paths of the site file. With one port for both there is one path, with ALPN. */
export function linkPaths({ mqtt }: CloudLinkOptions['cloud']): readonly LinkPath[] {
  return mqtt.port === mqtt.fallbackPort ? ['fallback'] : ['direct', 'fallback'];
}

/** Reads the CA file anew, so that a corrected file needs no restart; one that cannot be used is a failed attempt. */
export async function planOf(
  path: LinkPath,
  cloud: CloudLinkOptions['cloud'],
  identity: LinkIdentity,
  now: Date,
): Promise<LinkPlan | FailedAttempt> {
  const { mqtt } = cloud;
  const endpoint = {
    host: brokerHost(cloud, identity),
    port: path === 'direct' ? mqtt.port : mqtt.fallbackPort,
  };
  let siteCa: string | undefined;
  try {
    siteCa = (await readSiteCa(mqtt.caFile, 'cloud.mqtt.caFile'))?.pem;
  } catch (error) {
    const { message, remedy } = asGwError(error);
    const outcome = { verdict: 'wrong', detail: message, remedy } as const;
    return { path, ...endpoint, step: 'tls', outcome, at: now.toISOString(), tookMs: 0 };
  }
  return {
    path,
    identity,
    plan: {
      ...endpoint,
      trusted: siteCa ?? identity.caPem,
      credentials: { keyPem: identity.keyPem, certificatePem: identity.certificatePem },
      alpn: path === 'direct' ? null : mqtt.alpn,
      application: 'mqtt',
    },
  };
}
