import { isIP } from 'node:net';

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
