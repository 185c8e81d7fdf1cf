import { type PathPlan, readSiteCa } from '../../../net/path/index.ts';
import { calledServices, type Site } from '../../../site/index.ts';
import type { NetworkLine } from '../network.result.ts';
import type { KnownIdentity } from './identity.ts';

/** A path to check, with what its lines are called. */
export interface PlannedPath extends PathPlan {
  /** `mqtt-fallback`, `mqtt-direct`, `enrolment`, `storage`, `tunnel`. */
  readonly id: string;
  /** For people: `MQTT broker on 443`. */
  readonly title: string;
  readonly need: 'needed' | 'optional';
  readonly spec: string;
}

/** The cloud endpoints of the site file, needed ones first. */
export async function pathPlans({ cloud, enrolment }: Site, identity: KnownIdentity): Promise<PlannedPath[]> {
  const plans: PlannedPath[] = [];
  const credentials = identity.kind === 'enrolled' ? identity.credentials : null;
  const plain = { credentials: null, alpn: null } as const;
  if (cloud !== undefined) {
    const { mqtt, storageUrl, tunnel } = cloud;
    const host = brokerHost(cloud, identity);
    const mqttCa = await readSiteCa(mqtt.caFile, 'cloud.mqtt.caFile');
    if (host !== null) {
      const broker = {
        host,
        trusted: mqttCa ?? (identity.kind === 'enrolled' ? identity.credentials.caPem : null),
        credentials,
        application: 'mqtt',
        spec: 'Cloud and other network paths',
      } as const;
      plans.push({
        ...broker,
        id: 'mqtt-fallback',
        title: `MQTT broker on ${mqtt.fallbackPort}`,
        port: mqtt.fallbackPort,
        need: 'needed',
        alpn: mqtt.alpn,
      });
      if (mqtt.port !== mqtt.fallbackPort) {
        plans.push({
          ...broker,
          id: 'mqtt-direct',
          title: `MQTT broker on ${mqtt.port}`,
          port: mqtt.port,
          need: 'optional',
          alpn: null,
        });
      }
    }
    const trusted = (await readSiteCa(cloud.caFile, 'cloud.caFile')) ?? 'system';
    if (storageUrl !== undefined) {
      plans.push({
        ...plain,
        ...endpointOf(storageUrl),
        id: 'storage',
        title: 'Object storage',
        need: 'needed',
        trusted,
        application: 'https',
        spec: 'Cloud and other network paths',
      });
    }
    if (tunnel !== undefined) {
      plans.push({
        ...plain,
        host: tunnel.host,
        port: tunnel.port,
        id: 'tunnel',
        title: 'Remote support tunnel',
        need: 'needed',
        trusted,
        application: 'tls',
        spec: 'Cloud and other network paths',
      });
    }
  }
  if (enrolment !== undefined) {
    plans.push({
      ...plain,
      ...endpointOf(enrolment.url),
      id: 'enrolment',
      title: 'Enrolment endpoint',
      // Used once, before delivery; an enrolled device does not need it.
      need: identity.kind === 'enrolled' ? 'optional' : 'needed',
      trusted: (await readSiteCa(enrolment.caFile, 'enrolment.caFile')) ?? 'system',
      application: 'https',
      spec: 'Enrolment',
    });
  }
  return plans;
}

/** Null: the site file names none, and the device is not enrolled. */
function brokerHost({ mqtt }: NonNullable<Site['cloud']>, identity: KnownIdentity): string | null {
  return mqtt.host ?? (identity.kind === 'enrolled' ? identity.endpoint : null);
}

function endpointOf(url: string): { host: string; port: number } {
  const { hostname, port } = new URL(url);
  return { host: hostname.replace(/^\[|\]$/g, ''), port: port === '' ? 443 : Number(port) };
}

/** The lines for endpoints that are not known. */
export function missingPlans({ cloud, enrolment }: Site, identity: KnownIdentity): NetworkLine[] {
  const line = (id: string, title: string, need: NetworkLine['need'], key: string): NetworkLine => ({
    id,
    title,
    section: 'outward',
    seenFrom: 'gateway',
    need,
    tried: null,
    spec: 'Cloud and other network paths',
    verdict: 'not-checked',
    detail: `${key} is not in the site file`,
    remedy: `Add ${key} to the site file.`,
    ask: null,
  });
  return [
    ...(cloud === undefined ? [line('mqtt', 'The MQTT broker is reachable', 'needed', 'cloud')] : []),
    ...(cloud !== undefined && brokerHost(cloud, identity) === null
      ? [
          {
            ...line('mqtt', 'The MQTT broker is reachable', 'needed', 'cloud.mqtt.host'),
            detail: 'its host is known after the enrolment: cloud.mqtt.host is not in the site file',
            remedy: 'Enrol this device (`gw enrol`), or add cloud.mqtt.host to the site file.',
          },
        ]
      : []),
    ...(cloud !== undefined && cloud.storageUrl === undefined
      ? [line('storage', 'The object storage is reachable', 'needed', 'cloud.storageUrl')]
      : []),
    ...(cloud !== undefined && cloud.tunnel === undefined
      ? [line('tunnel', 'The remote support tunnel is reachable', 'needed', 'cloud.tunnel')]
      : []),
    ...(enrolment === undefined
      ? [line('enrolment', 'The enrolment endpoint is reachable', 'optional', 'enrolment')]
      : []),
  ];
}

/** Doors, lifts and other devices of the site file, with the services that the operator server forwards to. */
export function agreedDevices(site: Site): { id: string; name: string; host: string; port: number }[] {
  const names = { building: 'the building module', voice: 'the voice service' } as const;
  return [
    ...site.network.devices.map(({ name, host, port }, index) => ({ id: `device-${index + 1}`, name, host, port })),
    ...calledServices(site).map(({ id, host, port }) => ({ id, name: names[id], host, port })),
  ];
}

/** The verdict of a line with its detail, remedy and request to the IT. */
export type Outcome = Pick<NetworkLine, 'verdict' | 'detail'> & { readonly remedy?: string; readonly ask?: string };
