import { nearest, type Report } from '../document/index.ts';
import { isRecord } from '../json/index.ts';
import { shorten } from '../text/index.ts';
import { placeOf, sameHost } from './called-services.ts';
import { READ_ONLY_PORT } from './platform-ports.ts';
import { deviceKinds } from './schema.ts';
import { isThisMachine } from './this-machine.ts';

const READ_ONLY_REASON = `nothing here: the read-only socket is 127.0.0.1:${READ_ONLY_PORT} on every gateway, and no site file moves it`;

const WITHOUT_USER = 'an http:// or https:// address with the port it needs, without user name and password';

/**
 * What the schema cannot see: rules across keys, and keys that deserve a better answer than 'unknown'. Runs on any
 * value, sound or not, so that everything wrong is listed at once.
 */
export function checkAcrossKeys(value: unknown, report: Report): void {
  if (!isRecord(value)) return;
  checkTours(value, report);
  checkPorts(value, report);
  checkForwards(value, report);
  checkDevices(value, report);
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
        known.length === 0 ? 'a station, and none is named in this file' : `one of the stations ${known.join(', ')}`;
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
      expected: `another port: ${READ_ONLY_PORT} is that of the read-only socket, which no site file moves`,
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

/** A forwarder that points at our own sockets would ask itself without end. */
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
      // What stands before the @ may be a password, and an error must not repeat it.
      report(['operator', device, 'url'], { found: 'an address with an @', expected: WITHOUT_USER });
    }
    if (!URL.canParse(target.url)) continue;
    const { host, port } = placeOf(target.url);
    if (isOperator(host, port)) {
      report(['operator', device, 'url'], {
        expected: 'the address of another device: this one is the operator server itself',
      });
    }
  }
}

/** An address is entered once (specification, 'Addressing rules'): a second one would go stale unseen. */
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
        expected: `no second entry of an address: operator.${service}.url has it already, and is read for this device too`,
      });
    }
  }
}

/** Keys that no schema of ours will ever have, at any depth that the file has keys of ours. */
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
          expected: 'no secret in this file; it names files that hold them (operator.passwordFile, chassis.secretFile)',
        });
      }
    }
    if (isRecord(value) && here.length < 4) checkWishes(value, here, report);
  }
}
