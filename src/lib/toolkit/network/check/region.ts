import { isIP } from 'node:net';
import { CLOUD_REGION, placeOf } from '../../../site/index.ts';
import type { NetworkLine } from '../check.result.ts';

/**
 * Domains whose names carry the region, as the label before them. The specification names no provider; that names below
 * these are read so is a project decision, and names of any other domain prove nothing.
 */
const REGIONAL_DOMAINS = ['amazonaws.com', 'amazonaws.com.cn', 'api.aws', 'on.aws'].map((name) => name.split('.'));
/** What a region is called: `eu-central-1`, `us-gov-west-1`; nothing that merely has a number at its end. */
const REGION =
  /^(?:af|ap|ca|cn|eu|il|me|mx|sa|us)(?:-gov|-iso[a-z]?)?-(?:north|south|east|west|central|northeast|northwest|southeast|southwest)-\d{1,2}$/;

/** What the name of a host says of its region. */
export type NamedRegion =
  | { readonly kind: 'address' }
  /** No label that is one, or one below a domain whose owner writes what they like. */
  | { readonly kind: 'none' }
  | { readonly kind: 'named'; readonly region: string; readonly isProviders: boolean };

/** Reads whole labels only: `eu-central-10` is another region, and `my-eu-central-1` is none. */
export function regionOfHost(host: string): NamedRegion {
  if (isIP(host) !== 0) return { kind: 'address' };
  const labels = host.toLowerCase().replace(/\.$/, '').split('.');
  if (labels.at(-1) === 'localhost') return { kind: 'address' };
  const domain = REGIONAL_DOMAINS.find((parts) => parts.every((part, at) => labels.at(at - parts.length) === part));
  if (domain !== undefined) {
    const before = labels.at(-domain.length - 1) ?? '';
    // Load balancers stand the other way round, and old storage names join service and region.
    const label = before === 'elb' ? (labels.at(-domain.length - 2) ?? '') : before.replace(/^s3-/, '');
    return REGION.test(label) ? { kind: 'named', region: label, isProviders: true } : { kind: 'none' };
  }
  const label = labels.find((one) => REGION.test(one));
  return label === undefined ? { kind: 'none' } : { kind: 'named', region: label, isProviders: false };
}

/** The keys of a site file that name an endpoint of the cloud. */
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

/** Whether the endpoints of the cloud are in its region, as far as their names say so. */
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
    title: `Region of ${what} is ${region}, by its name`,
    section: 'outward',
    seenFrom: 'gateway',
    // What no name tells is asked of the operator of the cloud, and holds nobody up.
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
    return line('not-checked', `${host} is this machine or an address, which names no region`);
  if (named.kind === 'none') return line('not-checked', `${host} names no region`);
  if (named.region !== region) {
    const remedy = `Correct the host, or cloud.region, in the site file. The specification has the cloud in ${CLOUD_REGION}.`;
    return line('wrong', `${host} says ${named.region}`, remedy);
  }
  if (named.isProviders) return line('ok', `${host} says ${named.region}`);
  return line('not-checked', `${host} has ${named.region} in a name that its owner chose, which proves nothing`);
}
