import { isIP } from 'node:net';
import { CLOUD_REGION, placeOf } from '../../../site/index.ts';
import type { NetworkLine } from '../check.result.ts';

/**
 * Provider domains with the region as the label before them. The specification names no provider, so this list is a project
 * decision; host names in other domains prove nothing.
 */
const REGIONAL_DOMAINS = ['amazonaws.com', 'amazonaws.com.cn', 'api.aws', 'on.aws'].map((name) => name.split('.'));
/** Region names: `eu-central-1`, `us-gov-west-1`. */
const REGION =
  /^(?:af|ap|ca|cn|eu|il|me|mx|sa|us)(?:-gov|-iso[a-z]?)?-(?:north|south|east|west|central|northeast|northwest|southeast|southwest)-\d{1,2}$/;

/** The region in a host name. */
export type NamedRegion =
  | { readonly kind: 'address' }
  /** No label of the name is a region. */
  | { readonly kind: 'none' }
  | { readonly kind: 'named'; readonly region: string; readonly isProviders: boolean };

/** Compares whole labels: `eu-central-10` is another region, `my-eu-central-1` is none. */
export function regionOfHost(host: string): NamedRegion {
  if (isIP(host) !== 0) return { kind: 'address' };
  const labels = host.toLowerCase().replace(/\.$/, '').split('.');
  if (labels.at(-1) === 'localhost') return { kind: 'address' };
  const domain = REGIONAL_DOMAINS.find((parts) => parts.every((part, at) => labels.at(at - parts.length) === part));
  if (domain !== undefined) {
    const before = labels.at(-domain.length - 1) ?? '';
    // Load balancer names have `elb` after the region, and old storage names join service and region.
    const label = before === 'elb' ? (labels.at(-domain.length - 2) ?? '') : before.replace(/^s3-/, '');
    return REGION.test(label) ? { kind: 'named', region: label, isProviders: true } : { kind: 'none' };
  }
  const label = labels.find((one) => REGION.test(one));
  return label === undefined ? { kind: 'none' } : { kind: 'named', region: label, isProviders: false };
}

/** The site file keys that name cloud endpoints. */
interface CloudHosts {
  readonly cloud?:
    | {
        readonly region: string;
        readonly mqtt: { readonly host: string };
        readonly storageUrl?: string | undefined;
        readonly tunnel?: { readonly host: string } | undefined;
      }
    | undefined;
  readonly enrolment?: { readonly url: string } | undefined;
}

/** Whether the cloud endpoints are in the configured region, by their host names. */
export function regionLines({ cloud, enrolment }: CloudHosts): NetworkLine[] {
  const region = cloud?.region ?? CLOUD_REGION;
  const hosts = [
    { id: 'mqtt', title: 'the MQTT broker', host: cloud?.mqtt.host },
    { id: 'storage', title: 'the object storage', host: cloud?.storageUrl && placeOf(cloud.storageUrl).host },
    { id: 'tunnel', title: 'the tunnel service', host: cloud?.tunnel?.host },
    { id: 'enrolment', title: 'the enrolment endpoint', host: enrolment && placeOf(enrolment.url).host },
  ];
  return hosts.flatMap(({ id, title, host }) => (host === undefined ? [] : [regionLine(id, title, host, region)]));
}

function regionLine(id: string, what: string, host: string, region: string): NetworkLine {
  const line = (verdict: NetworkLine['verdict'], detail: string, remedy: string | null = null): NetworkLine => ({
    id: `region.${id}`,
    title: `Host name of ${what} is in region ${region}`,
    section: 'outward',
    seenFrom: 'gateway',
    // Only the cloud operator can confirm it, so it does not block the check.
    need: verdict === 'not-checked' ? 'optional' : 'needed',
    tried: null,
    spec: 'Network segments',
    verdict,
    detail,
    remedy,
    ask: null,
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
