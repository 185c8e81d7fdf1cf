import { GwError } from '../../../error/index.ts';
import type { PathPlan } from '../../../net/path/index.ts';
import { certificatesOf } from '../../../net/probe/index.ts';
import { calledServices, type Site } from '../../../site/index.ts';
import { readCaFile } from '../ca-file.ts';
import type { NetworkLine } from '../check.result.ts';
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
    const mqttCa = await caOf(mqtt.caFile, 'cloud.mqtt.caFile');
    const broker = {
      host: mqtt.host,
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
    const trusted = (await caOf(cloud.caFile, 'cloud.caFile')) ?? 'system';
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
      trusted: (await caOf(enrolment.caFile, 'enrolment.caFile')) ?? 'system',
      application: 'https',
      spec: 'Enrolment',
    });
  }
  return plans;
}

function endpointOf(url: string): { host: string; port: number } {
  const { hostname, port } = new URL(url);
  return { host: hostname.replace(/^\[|\]$/g, ''), port: port === '' ? 443 : Number(port) };
}

async function caOf(path: string | undefined, key: string): Promise<string | null> {
  if (path === undefined) return null;
  const refuse = (why: string, cause?: unknown) =>
    new GwError('SITE_FILE_INVALID', `${path} (${key}) ${why}.`, {
      remedy: 'Write the CA certificates (PEM) of the cloud operator to this file.',
      cause,
    });
  const text = await readCaFile(path, refuse);
  if (certificatesOf(text) === null) throw refuse('holds no valid certificate');
  return text;
}

/** The lines for endpoints that the site file does not have. */
export function missingPlans({ cloud, enrolment }: Site): NetworkLine[] {
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
