import { BlockList, isIP } from 'node:net';
import { nearest, type Report } from '../document/index.ts';
import { isRecord } from '../json/index.ts';
import { shorten } from '../text/index.ts';
import { checkMaps } from './map-rules.ts';
import { deviceKinds, type SiteFile } from './schema.ts';
import { checkTitles } from './title-rules.ts';
import { defaultTemplates, resolveTemplate, SERIAL_ELEMENT, type TopicKey, topicKeys, usesOf } from './topic-uses.ts';

/** Limit of a common MQTT service. @source vendor, quota page (HINWEIS) */
const MAX_TOPIC_BYTES = 256;
/** A job id of the greatest length. @source vendor (HINWEIS) */
const LONGEST_JOB_ID = 'j'.repeat(64);

/** First elements with a meaning of their own in the protocol or in brokers. */
const reservedStarts = ['$share', '$queue', '$SYS', '$delayed', '$exclusive'];

/** How people write the place of a serial number by mistake. */
const MEANT_SERIAL =
  /^[<{[(%$:]*(serial([-_ ]?(no|number))?|sn|thing([-_ ]?name)?|client[-_ ]?id|device([-_ ]?id)?)[>}\])%]*$/i;

/**
 * The topics of one robot: no topic of one key may match one of another key, because a message on it would have two
 * meanings, or gw would receive what it publishes.
 */
function checkTopics({ cloud, chassis }: Record<string, unknown>, report: Report): void {
  if (!isRecord(cloud) || !isRecord(cloud.topics)) return;
  const { topics } = cloud;
  const serial = isRecord(chassis) && typeof chassis.serial === 'string' ? chassis.serial : SERIAL_ELEMENT;
  const given = topicKeys.filter((key) => typeof topics[key] === 'string');
  const templateOf = (key: TopicKey) => (given.includes(key) ? String(topics[key]) : defaultTemplates[key]);
  const topicsOf = (key: TopicKey) => {
    const start = resolveTemplate(templateOf(key), serial);
    return usesOf(key).map((appended) => `${start}${appended}`);
  };

  for (const key of given) {
    const path = ['cloud', 'topics', key];
    const elements = templateOf(key).split('/');
    if (!elements.includes(SERIAL_ELEMENT)) {
      const suggestion = withSerial(elements, serial);
      report(path, { expected: `a topic with ${SERIAL_ELEMENT} as one path element`, suggestion });
      continue;
    }
    if (reservedStarts.includes(elements[0] ?? '')) {
      report(path, { expected: `a topic that does not start with ${elements[0]}, which brokers reserve` });
      continue;
    }
    const clash = clashOf(
      key,
      topicsOf,
      (other) => !given.includes(other) || topicKeys.indexOf(other) < topicKeys.indexOf(key),
    );
    if (clash !== null) {
      report(path, { expected: `topics of its own: ${clash.topic} belongs to cloud.topics.${clash.other} too` });
    }
    const longest = Math.max(...topicsOf(key).map(bytesOf));
    if (longest > MAX_TOPIC_BYTES) {
      const expected = `a shorter template: with the serial number and what gw appends it has ${longest} bytes, at most ${MAX_TOPIC_BYTES} are allowed`;
      report(path, { expected });
    }
  }
}

/** The first other key with a topic that matches one of this key. */
function clashOf(
  key: TopicKey,
  topicsOf: (key: TopicKey) => readonly string[],
  isCompared: (other: TopicKey) => boolean,
): { readonly other: TopicKey; readonly topic: string } | null {
  const own = topicsOf(key);
  for (const other of topicKeys) {
    if (other === key || !isCompared(other)) continue;
    const topic = topicsOf(other).find((theirs) => own.some((mine) => canMatch(mine, theirs)));
    if (topic !== undefined) return { other, topic };
  }
  return null;
}

/** Whether a topic exists that both match; `+` matches one path element. */
export function canMatch(a: string, b: string): boolean {
  const [left, right] = [a.split('/'), b.split('/')];
  return (
    left.length === right.length &&
    left.every((element, at) => element === '+' || right[at] === '+' || element === right[at])
  );
}

function bytesOf(topic: string): number {
  return Buffer.byteLength(topic.replace('+', LONGEST_JOB_ID));
}

/** The template as it was probably meant; undefined where no element looks like a serial number. */
function withSerial(elements: readonly string[], serial: string): string | undefined {
  const at = elements.findIndex((element) => element === serial || element === '+' || MEANT_SERIAL.test(element));
  return at < 0 ? undefined : elements.with(at, SERIAL_ELEMENT).join('/');
}

/** Addresses of the machine itself; IPv4 also in its IPv4-mapped form. */
const own = new BlockList();
own.addSubnet('127.0.0.0', 8, 'ipv4');
// The kernel connects the unspecified addresses to the machine itself.
own.addAddress('0.0.0.0', 'ipv4');
own.addAddress('::', 'ipv6');
own.addAddress('::1', 'ipv6');
// IPv4-compatible form, deprecated and still parsed.
own.addSubnet('::7f00:0', 104, 'ipv6');

/** @source RFC 6761, 6.3, and the names that Debian and Fedora write into /etc/hosts */
const ownNames =
  /^(?:(?:.+\.)?localhost|localhost\.localdomain|localhost[46](?:\.localdomain[46])?|ip6-(?:localhost|loopback))$/;

/** Whether a host name or address, in any spelling, is this machine. Makes no DNS query. */
export function isThisMachine(host: string): boolean {
  const name = writtenHost(host);
  const family = isIP(name);
  return family === 0 ? ownNames.test(name) : own.check(name, family === 4 ? 'ipv4' : 'ipv6');
}

/**
 * Ports fixed by the platform; those that a site file may change have their default in the schema.
 * The operator module binds its read-only socket by a constant of its own, independent of this one.
 */

/** Of the read-only socket, TCP on loopback. @source specification, 'Operator server' (BELEGT stated) */
export const READ_ONLY_PORT = 5174;

/** Of the heartbeat between gateways, UDP. @source specification, 'Cloud and other network paths' (BELEGT stated) */
export const HEARTBEAT_PORT = 45301;

const READ_ONLY_REASON = `no such key: the read-only socket is always 127.0.0.1:${READ_ONLY_PORT} and not configurable`;

const WITHOUT_USER = 'an http:// or https:// address with the port it needs, without user name and password';

/**
 * Rules across keys, and better messages for some unknown keys. Runs on any value, valid or not, so that all errors are
 * listed at once.
 */
export function checkAcrossKeys(value: unknown, report: Report): void {
  if (!isRecord(value)) return;
  checkMaps(value, report);
  if (isRecord(value.enrolment) && value.enrolment.renewal !== undefined && value.cloud === undefined) {
    report(['enrolment', 'renewal'], { expected: 'a `cloud` section beside it: its broker proves a new certificate' });
  }
  checkTitles(value, report);
  checkDelivery(value, report);
  checkTours(value, report);
  checkPorts(value, report);
  checkForwards(value, report);
  checkDevices(value, report);
  checkTopics(value, report);
  checkTime(value, report);
  checkWishes(value, [], report);
}

function checkTours({ tours, stations }: Record<string, unknown>, report: Report): void {
  if (!isRecord(tours)) return;
  const known = isRecord(stations) ? Object.keys(stations) : [];
  for (const [name, tour] of Object.entries(tours)) {
    if (!isRecord(tour) || !Array.isArray(tour.stations)) continue;
    for (const [index, station] of tour.stations.entries()) {
      if (typeof station !== 'string' || known.includes(station)) continue;
      const expected =
        known.length === 0 ? 'a station, but this file defines none' : `one of the stations ${known.join(', ')}`;
      report(['tours', name, 'stations', index], { expected, suggestion: nearest(station, known) });
    }
  }
}

/** What would begin by itself has to have a goal. */
function checkDelivery({ delivery, stations, dock }: Record<string, unknown>, report: Report): void {
  if (!isRecord(delivery)) return;
  const { return: back, idle } = delivery;
  const known = isRecord(stations) ? Object.keys(stations) : [];
  if (isRecord(back) && typeof back.station === 'string' && !known.includes(back.station)) {
    const expected =
      known.length === 0 ? 'a station, but this file defines none' : `one of the stations ${known.join(', ')}`;
    report(['delivery', 'return', 'station'], { expected, suggestion: nearest(back.station, known) });
  }
  const expected = 'a dock in this file: the robot returns there';
  if (isRecord(back) && back.station === undefined && dock === undefined) report(['delivery', 'return'], { expected });
  if (isRecord(idle) && dock === undefined) report(['delivery', 'idle'], { expected });
}

function checkPorts({ chassis, operator }: Record<string, unknown>, report: Report): void {
  const chassisHere = isRecord(chassis) && typeof chassis.host === 'string' && isThisMachine(chassis.host);
  const chassisPort = isRecord(chassis) ? (chassis.port ?? 8090) : undefined;
  const operatorPort = isRecord(operator) ? (operator.port ?? 5173) : 5173;
  if (operatorPort === READ_ONLY_PORT) {
    report(['operator', 'port'], {
      expected: `another port: ${READ_ONLY_PORT} is the port of the read-only socket`,
    });
  }
  if (chassisHere && chassisPort === operatorPort) {
    const path = isRecord(operator) && operator.port !== undefined ? ['operator', 'port'] : ['chassis', 'port'];
    report(path, {
      expected: 'two different ports for chassis and operator server, which are on the same machine here',
    });
  }
  if (chassisHere && chassisPort === READ_ONLY_PORT && operatorPort !== READ_ONLY_PORT) {
    report(['chassis', 'port'], {
      expected: `another port: ${READ_ONLY_PORT} on this machine is the read-only socket`,
    });
  }
}

/** A forwarder that points at the sockets of gw would call itself in a loop. */
function checkForwards({ operator, network }: Record<string, unknown>, report: Report): void {
  if (!isRecord(operator)) return;
  const operatorPort = operator.port ?? 5173;
  const names = [
    ...(Array.isArray(operator.names) ? operator.names : []),
    ...(isRecord(network) ? [network.gateway] : []),
  ].filter((name) => typeof name === 'string');
  const isOperator = (host: string, port: number) =>
    isThisMachine(host)
      ? port === operatorPort || port === READ_ONLY_PORT
      : port === operatorPort && names.some((name) => sameHost(name, host));
  for (const device of ['voice', 'building'] as const) {
    const target = operator[device];
    if (!isRecord(target) || typeof target.url !== 'string') continue;
    if (target.url.includes('@')) {
      // The part before the @ may be a password, which an error must not repeat.
      report(['operator', device, 'url'], { found: 'an address with an @', expected: WITHOUT_USER });
    }
    if (!URL.canParse(target.url)) continue;
    const { host, port } = placeOf(target.url);
    if (isOperator(host, port)) {
      report(['operator', device, 'url'], {
        expected: 'the address of another device: this is the operator server itself',
      });
    }
  }
}

/**
 * An address is entered once (specification, 'Addressing rules'), since a second entry could become outdated. A device that is
 * gw itself would always answer.
 */
function checkDevices({ network, operator, chassis }: Record<string, unknown>, report: Report): void {
  if (!isRecord(network) || !Array.isArray(network.devices)) return;
  for (const [index, device] of network.devices.entries()) {
    if (!isRecord(device)) continue;
    const path = ['network', 'devices', index];
    if (typeof device.kind === 'string' && /^building.?(iot.?)?module$/i.test(device.kind)) {
      const expected = `one of ${deviceKinds.join(', ')}: the building module is entered once, as operator.building.url`;
      report([...path, 'kind'], { expected });
    }
    const isHere = typeof device.host === 'string' && isThisMachine(device.host);
    const ownPort = isRecord(operator) ? (operator.port ?? 5173) : 5173;
    if (isHere && (device.port === ownPort || device.port === READ_ONLY_PORT)) {
      report([...path, 'port'], { expected: 'the port of a device: this one is the operator server itself' });
    }
    if (isHere && isRecord(chassis) && device.port === (chassis.port ?? 8090) && isThisMachine(String(chassis.host))) {
      report([...path, 'port'], { expected: 'the port of a device: this one is the chassis' });
    }
    for (const service of ['building', 'voice'] as const) {
      const target = isRecord(operator) ? operator[service] : undefined;
      if (!isRecord(target) || typeof target.url !== 'string' || !URL.canParse(target.url)) continue;
      const { host, port } = placeOf(target.url);
      if (typeof device.host !== 'string' || !sameHost(device.host, host) || device.port !== port) continue;
      report([...path, 'host'], {
        expected: `no second entry of an address: operator.${service}.url has it already`,
      });
    }
  }
}

/** One endpoint alone never decides, since its own clock may be the wrong one. */
function checkTime({ time, enrolment, cloud }: Record<string, unknown>, report: Report): void {
  if (!isRecord(time)) return;
  const urls = [
    isRecord(enrolment) ? enrolment.url : undefined,
    isRecord(cloud) ? cloud.storageUrl : undefined,
    ...(Array.isArray(time.urls) ? time.urls : []),
  ];
  const hosts = urls.flatMap((url) =>
    typeof url === 'string' && URL.canParse(url) ? [writtenHost(placeOf(url).host)] : [],
  );
  if (new Set(hosts).size >= 2) return;
  report(['time'], {
    expected: 'addresses of at least two hosts among enrolment.url, cloud.storageUrl and time.urls',
  });
}

/** Keys that the schema deliberately does not have, at any depth. */
function checkWishes(map: Record<string, unknown>, path: readonly string[], report: Report): void {
  for (const [key, value] of Object.entries(map)) {
    const here = [...path, key];
    const isOurName = path.length === 1 && (path[0] === 'stations' || path[0] === 'tours' || path[0] === 'maps');
    if (!isOurName) {
      if (/read.?only|maintenance|loopback.?port|^5174$/i.test(key)) {
        report(here, { at: 'key', found: `the key '${shorten(key, 60)}'`, expected: READ_ONLY_REASON });
      } else if (/passw|secret|token|passphrase|api.?key/i.test(key) && !/f[ile]{1,3}$/i.test(key)) {
        report(here, {
          at: 'key',
          found: `the key '${shorten(key, 60)}'`,
          expected:
            'no secret in this file; name the file that contains it (operator.passwordFile, chassis.secretFile)',
        });
      }
    }
    if (isRecord(value) && here.length < 4) checkWishes(value, here, report);
  }
}

/** A service that the operator server forwards to; its address is its `url` in the site file. */
interface CalledService {
  readonly id: 'building' | 'voice';
  /** Key of the site file that names it. */
  readonly key: 'operator.building.url' | 'operator.voice.url';
  /** IPv6 without brackets. */
  readonly host: string;
  readonly port: number;
}

/** The services that the forwarder calls. */
export function calledServices({ operator }: Pick<SiteFile, 'operator'>): CalledService[] {
  return (['building', 'voice'] as const).flatMap((id) => {
    const url = operator[id]?.url;
    return url === undefined ? [] : [{ id, key: `operator.${id}.url` as const, ...placeOf(url) }];
  });
}

/** Host and port of an http or https URL. Throws TypeError for other text. */
export function placeOf(url: string): { readonly host: string; readonly port: number } {
  const { hostname, port, protocol } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, '');
  return { host, port: port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port) };
}

/** Time zone for letters and reports (IANA name): of the site file, else of this machine. */
export function timeZoneOf(site: Pick<SiteFile, 'timeZone'> | null): string {
  return site?.timeZone ?? new Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** Normal form of a host name or an address. */
export function sameHost(one: string, other: string): boolean {
  return writtenHost(one) === writtenHost(other);
}

/** Lower case, no trailing dots, and an address as `URL` writes it (127.1 is 127.0.0.1). */
function writtenHost(host: string): string {
  const url = `http://${host.includes(':') ? `[${host}]` : host}/`;
  const name = URL.canParse(url) ? new URL(url).hostname : host.toLowerCase();
  return name.replace(/^\[|\]$/g, '').replace(/\.+$/, '');
}
