import { isIP } from 'node:net';
import {
  agreedDevices,
  CLOUD_REGION,
  HEARTBEAT_PORT,
  isThisMachine,
  type Site,
  timeEndpoints,
} from '../../site/index.ts';
import type { NetworkRequestFacts, OpenPoint } from '../network-request.result.ts';

/**
 * The facts of the letter, from the site file, and the broker of the enrolment where that names none. A missing value is null and an open point. Addresses of this machine (a
 * simulator, a service on the gateway) count as missing for cloud and reservations, and are left out for services.
 *
 * @source specification, 'Customer IT request' and 'Cloud and other network paths'
 */
export function networkRequestFacts(site: Site, enrolledBroker: string | null = null): NetworkRequestFacts {
  const open: OpenPoint[] = [];
  const ask = (from: OpenPoint['from'], id: string, key: string, what: string) => open.push({ id, from, key, what });

  const customer = personOf(site.contacts?.customer);
  const operator = personOf(site.contacts?.operator);
  if (customer.company === null && customer.name === null) {
    ask('operator', 'recipient', 'contacts.customer', 'who receives the letter');
  }
  if (operator.company === null && operator.name === null) {
    ask('operator', 'sender', 'contacts.operator', 'who writes the letter');
  }
  if (operator.mail === null && operator.phone === null) {
    ask('operator', 'sender-reach', 'contacts.operator', 'how questions reach you: mail or phone');
  }

  const segment = site.network.robotSegment ?? null;
  if (segment === null) ask('customer', 'segment', 'network.robotSegment', 'the address range of the robot segment');

  const reservations = [
    reservation('chassis', site.chassis.host, site.chassis.mac),
    reservation('gateway', site.network.gateway, site.network.gatewayMac),
  ];
  for (const { device, mac, address } of reservations) {
    const [macKey, addressKey] =
      device === 'chassis' ? ['chassis.mac', 'chassis.host'] : ['network.gatewayMac', 'network.gateway'];
    if (mac === null) ask('operator', `${device}-mac`, macKey, `the MAC address of the ${device}`);
    if (address === null) ask('customer', `${device}-address`, addressKey, `the reserved address of the ${device}`);
  }

  const outbound = outboundOf(site, enrolledBroker);
  for (const { use, host } of outbound) {
    if (host !== null || use === 'mqtt' || use === 'time') continue;
    const [key, what] = hostKeys[use];
    ask('operator', `${use === 'mqtt-443' ? 'mqtt' : use}-host`, key, what);
  }
  if (site.cloud === undefined) ask('operator', 'alpn', 'cloud.mqtt.alpn', 'the ALPN identifier for MQTT on 443');

  const devices = devicesOf(site);
  const house = devices.flatMap(({ isHere, ...device }) => (isHere ? [] : [device]));
  if (house.length === 0) {
    ask('customer', 'devices', 'network.devices', 'the agreed address of each door and lift, if the robot uses any');
  }

  const heartbeat = heartbeatOf(site);
  if (heartbeat?.routed && heartbeat.unicast.length === 0) {
    ask('operator', 'heartbeat-gateways', 'fleet.unicast', 'the addresses of the gateways of the other robots');
  } else if (heartbeat !== null && hasOthers(site) && site.fleet?.unicast.length === 0) {
    // Only the technician knows whether a route is needed, so the letter does not request it.
    const what = 'the gateways of the other robots; a broadcast reaches them only if all share one robot segment';
    ask('operator', 'heartbeat-segments', 'fleet.unicast', what);
  }

  return {
    site: site.name,
    serial: site.chassis.serial,
    customer,
    operator,
    region: site.cloud?.region ?? CLOUD_REGION,
    segment,
    reservations,
    tablet: tabletOf(site),
    outbound,
    house,
    onGateway: devices.flatMap(({ isHere, name, kind, port }) => (isHere ? [{ name, kind, port }] : [])),
    inside: insideOf(site),
    heartbeat,
    open,
  };
}

const hostKeys = {
  'mqtt-443': ['cloud.mqtt.host', 'the host of the MQTT broker'],
  storage: ['cloud.storageUrl', 'the host of the object storage'],
  tunnel: ['cloud.tunnel.host', 'the host of the secure tunnel service'],
  enrolment: ['enrolment.url', 'the host of the enrolment endpoint'],
} as const;

type Person = NetworkRequestFacts['customer'];

type Contact = NonNullable<NonNullable<Site['contacts']>['customer']>;

function personOf(person: Contact = {}): Person {
  return {
    company: person.company ?? null,
    name: person.name ?? null,
    mail: person.mail ?? null,
    phone: person.phone ?? null,
    salutation: person.salutation ?? null,
    title: person.title ?? null,
    lastName: person.lastName ?? null,
    street: person.street ?? null,
    postcode: person.postcode ?? null,
    city: person.city ?? null,
    country: person.country ?? null,
  };
}

function reservation(
  device: 'chassis' | 'gateway',
  host: string | undefined,
  mac: string | undefined,
): NetworkRequestFacts['reservations'][number] {
  const usable = host === undefined || isThisMachine(host) ? null : host;
  const isAddress = usable !== null && isIP(usable) !== 0;
  return {
    device,
    mac: mac?.toLowerCase() ?? null,
    address: isAddress ? usable : null,
    name: isAddress ? null : usable,
  };
}

function tabletOf({ tablet }: Site): NetworkRequestFacts['tablet'] {
  const host = tablet?.host;
  return {
    mac: tablet?.mac?.toLowerCase() ?? null,
    address: host === undefined || isIP(host) === 0 || isThisMachine(host) ? null : host,
  };
}

function outboundOf({ cloud, enrolment, time }: Site, enrolledBroker: string | null): NetworkRequestFacts['outbound'] {
  const elsewhere = (host: string | undefined) => (host === undefined || isThisMachine(host) ? null : host);
  const ofUrl = (url: string | undefined) => {
    const parsed = url === undefined ? undefined : new URL(url);
    return { host: elsewhere(parsed && bare(parsed.hostname)), port: Number(parsed?.port || 443) };
  };
  const mqtt = elsewhere(cloud && (cloud.mqtt.host ?? enrolledBroker ?? undefined));
  const port = cloud?.mqtt.port ?? 8883;
  const fallbackPort = cloud?.mqtt.fallbackPort ?? 443;
  const readsTime = time !== undefined;
  const plain = { alpn: null, readsTime: false } as const;
  const further = timeEndpoints({ time, enrolment, cloud }).filter(
    ({ use, host }) => use === 'time' && elsewhere(host),
  );
  return [
    { ...plain, use: 'mqtt-443', host: mqtt, port: fallbackPort, alpn: cloud?.mqtt.alpn ?? null, need: 'needed' },
    ...(port === fallbackPort ? [] : [{ ...plain, use: 'mqtt', host: mqtt, port, need: 'optional' } as const]),
    { ...plain, use: 'storage', ...ofUrl(cloud?.storageUrl), need: 'needed', readsTime },
    {
      ...plain,
      use: 'tunnel',
      host: elsewhere(cloud?.tunnel?.host),
      port: cloud?.tunnel?.port ?? 443,
      need: 'in-session',
    },
    {
      ...plain,
      use: 'enrolment',
      ...ofUrl(enrolment?.url),
      need: readsTime ? 'optional' : 'before-delivery',
      readsTime,
    },
    ...further.map(
      ({ host, port: at }) => ({ ...plain, use: 'time', host, port: at, need: 'optional', readsTime }) as const,
    ),
  ];
}

function devicesOf(site: Site): (NetworkRequestFacts['house'][number] & { readonly isHere: boolean })[] {
  return agreedDevices(site).map(({ name, kind, host, port, isHere }) => {
    const place = { host, port, isHere };
    if (kind === 'building') return { name: null, kind: 'building-module', ...place };
    return kind === 'voice' ? { name: null, kind, ...place } : { name, kind, ...place };
  });
}

/**
 * A robot segment holds one robot (specification), so the heartbeat of several robots is routed between segments: that
 * is asked for once the site file lists gateways, or broadcasts nothing.
 */
function heartbeatOf(site: Site): NetworkRequestFacts['heartbeat'] {
  const { fleet } = site;
  if (fleet === undefined) return null;
  const unicast = fleet.unicast.filter((address) => !isThisMachine(address));
  const routed = unicast.length > 0 || (hasOthers(site) && !fleet.broadcast && fleet.unicast.length === 0);
  return { broadcast: fleet.broadcast, unicast, routed };
}

function hasOthers({ fleet, chassis }: Site): boolean {
  return fleet?.robots.some((serial) => serial !== chassis.serial) ?? false;
}

function insideOf({ chassis, operator, fleet, tablet }: Site): NetworkRequestFacts['inside'] {
  return [
    { use: 'chassis', protocol: 'tcp', port: chassis.port },
    { use: 'operator', protocol: 'tcp', port: operator.port },
    ...(fleet?.broadcast !== true ? [] : [{ use: 'heartbeat', protocol: 'udp', port: HEARTBEAT_PORT } as const]),
    { use: 'ssh', protocol: 'tcp', port: 22 },
    { use: 'adb', protocol: 'tcp', port: tablet?.adbPort ?? 5555 },
  ];
}

function bare(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, '$1');
}
