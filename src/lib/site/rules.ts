import { nearest, type Report } from '../document/index.ts';
import { isRecord } from '../json/index.ts';
import { shorten } from '../text/index.ts';
import { placeOf, sameHost } from './called-services.ts';
import { READ_ONLY_PORT } from './platform-ports.ts';
import { deviceKinds } from './schema.ts';
import { isThisMachine } from './this-machine.ts';
import { checkTopics } from './topic-rules.ts';

const READ_ONLY_REASON = `no such key: the read-only socket is always 127.0.0.1:${READ_ONLY_PORT} and not configurable`;

const WITHOUT_USER = 'an http:// or https:// address with the port it needs, without user name and password';

/**
 * Rules across keys, and better messages for some unknown keys. Runs on any value, valid or not, so that all errors are
 * listed at once.
 */
export function checkAcrossKeys(value: unknown, report: Report): void {
  if (!isRecord(value)) return;
  checkTours(value, report);
  checkPorts(value, report);
  checkForwards(value, report);
  checkDevices(value, report);
  checkTopics(value, report);
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

/** An address is entered once (specification, 'Addressing rules'), since a second entry could become outdated. */
function checkDevices({ network, operator }: Record<string, unknown>, report: Report): void {
  if (!isRecord(network) || !Array.isArray(network.devices)) return;
  for (const [index, device] of network.devices.entries()) {
    if (!isRecord(device)) continue;
    const path = ['network', 'devices', index];
    if (typeof device.kind === 'string' && /^building.?(iot.?)?module$/i.test(device.kind)) {
      const expected = `one of ${deviceKinds.join(', ')}: the building module is entered once, as operator.building.url`;
      report([...path, 'kind'], { expected });
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

/** Keys that the schema deliberately does not have, at any depth. */
function checkWishes(map: Record<string, unknown>, path: readonly string[], report: Report): void {
  for (const [key, value] of Object.entries(map)) {
    const here = [...path, key];
    const isOurName = path.length === 1 && (path[0] === 'stations' || path[0] === 'tours');
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
