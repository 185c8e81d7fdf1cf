import { CLOUD_REGION, placeOf, regionOfHost, type Site } from '../../../site/index.ts';
import type { NetworkLine } from '../network.result.ts';
import { networkLine } from './plans.ts';

type Cloud = NonNullable<Site['cloud']>;

/** The site file keys that name cloud endpoints. */
interface CloudHosts {
  readonly cloud?:
    | (Pick<Cloud, 'region' | 'storageUrl' | 'tunnel'> & { mqtt: Pick<Cloud['mqtt'], 'host'> })
    | undefined;
  readonly enrolment?: { readonly url: string } | undefined;
}

/**
 * Whether the cloud endpoints are in the configured region, by their host names. `enrolledBroker` is the broker of the
 * enrolment, which is used when the site file names none.
 */
export function regionLines({ cloud, enrolment }: CloudHosts, enrolledBroker?: string): NetworkLine[] {
  const region = cloud?.region ?? CLOUD_REGION;
  const hosts = [
    { id: 'mqtt', title: 'the MQTT broker', host: cloud && (cloud.mqtt.host ?? enrolledBroker) },
    { id: 'storage', title: 'the object storage', host: cloud?.storageUrl && placeOf(cloud.storageUrl).host },
    { id: 'tunnel', title: 'the tunnel service', host: cloud?.tunnel?.host },
    { id: 'enrolment', title: 'the enrolment endpoint', host: enrolment && placeOf(enrolment.url).host },
  ];
  return hosts.flatMap(({ id, title, host }) => (host === undefined ? [] : [regionLine(id, title, host, region)]));
}

function regionLine(id: string, what: string, host: string, region: string): NetworkLine {
  const line = (verdict: NetworkLine['verdict'], detail: string, remedy: string | null = null) =>
    networkLine('outward', `region.${id}`, `Host name of ${what} is in region ${region}`, {
      // Only the cloud operator can confirm it, so it does not block the check.
      need: verdict === 'not-checked' ? 'optional' : 'needed',
      spec: 'Network segments',
      ...{ verdict, detail, remedy },
    });
  const named = regionOfHost(host);
  if (named.kind === 'address')
    return line('not-checked', `${host} is an address or this machine, without a region in its name`);
  if (named.kind === 'none') return line('not-checked', `${host} has no region in its name`);
  if (named.region !== region) {
    const remedy = `Correct the host or cloud.region in the site file; the specification requires ${CLOUD_REGION}.`;
    return line('wrong', `${host} is in ${named.region}`, remedy);
  }
  if (named.isProviders) return line('ok', `${host} is in ${named.region}`);
  return line('not-checked', `${host} has ${named.region} in a name that its owner chose, which proves nothing`);
}
