import { asGwError, GwError, type Tried } from '../../error/index.ts';
import {
  byHardware,
  type Candidate,
  parseAddresses,
  probePort,
  type TabletRecord,
  tabletCommand,
} from '../../kiosk/index.ts';
import { type Endpoint, type Neighbour, parseNeighbourTable, readNeighbourTable, triedOver } from '../../net/index.ts';
import { hostsOfRange, isInRange } from '../../net/probe/index.ts';
import type { Site } from '../../site/index.ts';
import { plural } from '../../text/index.ts';
import { readRemoteText } from '../remote-run.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import { type KioskAccess, overAdb } from './connection.ts';

/**
 * How the address of the tablet became known. `serial`: the tablet there has reported the serial number of the site file.
 * `mac`: its MAC address answers there. `usb`: the tablet itself reported it. `remembered`: that of the last connection,
 * where something may answer that is not the tablet.
 */
export type FoundBy = 'site-file' | 'serial' | 'mac' | 'usb' | 'remembered';

export interface SearchOptions extends KioskAccess {
  readonly tablet: NonNullable<Site['tablet']>;
  /** Of the last connection: its address and MAC address are hints. */
  readonly record: TabletRecord | null;
  /** The command has an answer for a tablet whose port is closed, which reports no serial number. */
  readonly mayBeClosed?: boolean;
}

/** Project decisions: bounds of a search. */
const MAX_ADDRESSES = 254;
const AT_ONCE = 32;
const MAX_IDENTIFIED = 8;
/** For the authorisation on one of several devices, which may be a foreign one. */
const STRANGER_MS = 12_000;

/**
 * Looks for the tablet in the robot segment: at the remembered address, at those with its MAC address, then at every one.
 * Where the site file names a serial number, only that number identifies a tablet. Throws USAGE without
 * `network.robotSegment`, TABLET_NOT_FOUND, TABLET_WRONG_DEVICE, TABLET_SEVERAL, and what ADB says of the only candidate.
 */
export async function findTablet(toolkit: Toolkit, context: CheckContext, options: SearchOptions): Promise<Found> {
  const search = newSearch(toolkit, context, options);
  if (options.usb === true) return await findOverUsb(search);
  context.onProgress(`Looking for the tablet in ${search.range}`);
  const found = (await round(search, await hintsOf(search))) ?? (await round(search, await everyAddress(search)));
  return found ?? (await withoutSerial(search));
}

export interface Found {
  readonly endpoint: Endpoint;
  readonly by: FoundBy;
}

interface Search extends Omit<Toolkit, 'ssh'>, CheckContext {
  readonly options: SearchOptions;
  readonly range: string;
  /** MAC addresses to look for: that of the site file, else the remembered one of the same tablet. */
  readonly macs: readonly string[];
  readonly remembered: string | null;
  readonly neighbours: () => Promise<readonly Neighbour[]>;
  readonly beganMs: number;
  /** What is known of every address so far. */
  readonly seen: Map<string, Seen>;
}

interface Seen extends Candidate {
  /** The serial number reported there, or why there is none; null: not asked. */
  readonly identity: string | GwError | null;
}

function newSearch({ site, dialer, clock, ssh }: Toolkit, context: CheckContext, options: SearchOptions): Search {
  const { robotSegment: range } = site.network;
  const { tablet, record } = options;
  if (range === undefined) {
    throw new GwError('USAGE', `${site.path} has neither tablet.host nor network.robotSegment.`, {
      remedy: 'Enter network.robotSegment, in which the tablet is looked for.',
    });
  }
  // A record without a connection knows no tablet, and that of another tablet says nothing of this one.
  const known =
    record !== null && record.tablet !== null && record.tablet.serial === (tablet.serial ?? record.tablet.serial)
      ? record
      : null;
  const mac = tablet.mac?.toLowerCase() ?? known?.bridge.observed.mac ?? null;
  const isThere = known !== null && isInRange(known.address.host, range) === true;
  return {
    ...{ site, dialer, clock, ...context, options, range },
    macs: mac === null ? [] : [mac],
    remembered: isThere ? known.address.host : null,
    neighbours: async () => {
      if (dialer.way === 'direct') return await readNeighbourTable().catch(() => []);
      const text = ssh && (await readRemoteText(ssh, ['cat', '/proc/net/arp'], context.signal).catch(() => null));
      return parseNeighbourTable(text ?? '');
    },
    beganMs: clock.monotonicMs(),
    seen: new Map(),
  };
}

async function hintsOf({ neighbours, macs, remembered }: Search): Promise<string[]> {
  const table = await neighbours();
  const withMac = table.filter(({ mac }) => mac !== null && macs.includes(mac)).map(({ address }) => address);
  return [...withMac, ...(remembered === null ? [] : [remembered])];
}

/** Of a range that is too large for that, or of IPv6, the addresses that this segment has spoken with. */
async function everyAddress({ range, neighbours }: Search): Promise<readonly string[]> {
  return (
    hostsOfRange(range, MAX_ADDRESSES) ?? (await neighbours()).map(({ address }) => address).slice(0, MAX_ADDRESSES)
  );
}

/** Tries these addresses; null: none of them is the tablet. */
async function round(search: Search, addresses: readonly string[]): Promise<Found | null> {
  const { site, range, seen, options } = search;
  const spared = [site.chassis.host, site.network.gateway];
  const fresh = [...new Set(addresses)].filter(
    (address) => isInRange(address, range) === true && !spared.includes(address) && !seen.has(address),
  );
  const answers = await probeEach(search, fresh);
  // Read afterwards: an entry that was old has been renewed by the attempt.
  const candidates = byHardware(answers, await search.neighbours(), search.macs);
  for (const candidate of candidates) seen.set(candidate.address, { ...candidate, identity: null });
  const { serial } = options.tablet;
  if (serial === undefined) return byMac(search);
  const open = candidates.filter(({ port }) => port === 'open').slice(0, MAX_IDENTIFIED);
  for (const candidate of open) {
    const isStranger = open.length > 1 && !candidate.hasMac;
    const identity = await identify(search, candidate.address, isStranger);
    seen.set(candidate.address, { ...candidate, identity });
    if (identity !== serial) continue;
    const named = options.tablet.mac?.toLowerCase() ?? candidate.mac;
    if (candidate.mac !== null && candidate.mac !== named) {
      search.onProgress(`Its MAC address in this network is ${candidate.mac}: correct tablet.mac in the site file`);
    }
    return found(search, candidate.address, 'serial');
  }
  return null;
}

async function probeEach(search: Search, addresses: readonly string[]) {
  const { adbPort: port } = search.options.tablet;
  const answers: { address: string; port: Candidate['port'] }[] = [];
  const left = addresses.values();
  const worker = async () => {
    for (const host of left)
      answers.push({ address: host, port: await probePort({ ...search, endpoint: { host, port } }) });
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return answers.sort((a, b) => addresses.indexOf(a.address) - addresses.indexOf(b.address));
}

/** The serial number of the tablet there, or the error of the connection. */
async function identify(search: Search, host: string, isStranger: boolean): Promise<string | GwError> {
  const { options, onProgress } = search;
  const { authorizeMs, tablet } = options;
  onProgress(`Asking the device at ${host} for its serial number`);
  const access = {
    ...options,
    authorizeMs: isStranger ? Math.min(authorizeMs, STRANGER_MS) : authorizeMs,
    expected: { minSdk: 1 },
  };
  try {
    return await overAdb(search, { host, port: tablet.adbPort }, access, async ({ facts }) => facts.serial);
  } catch (error) {
    const known = asGwError(error);
    if (search.signal.aborted || !known.code.startsWith('TABLET_')) throw error;
    return known;
  }
}

/** The one address that has the MAC address. */
function byMac(search: Search): Found | null {
  const [first, second] = [...search.seen.values()].filter(({ hasMac }) => hasMac);
  if (second !== undefined) throw several(search, 'Several addresses have the MAC address of the tablet.');
  return first === undefined ? null : found(search, first.address, 'mac');
}

/** No address has reported the serial number: a closed tablet reports none. */
async function withoutSerial(search: Search): Promise<Found> {
  const { seen, options, remembered } = search;
  const { serial } = options.tablet;
  const asked = [...seen.values()].filter(({ identity }) => identity !== null);
  const closed = [...seen.values()].filter(({ hasMac, port }) => hasMac && port === 'closed');
  if (closed.length > 1) throw several(search, 'Several addresses have the MAC address of the tablet.');
  if (closed[0] !== undefined) return found(search, closed[0].address, 'mac');
  const others = asked.filter(({ identity }) => typeof identity === 'string');
  if (others.length > 0) {
    const list = others.map(({ address, identity }) => `${address} is '${String(identity)}'`).join(', ');
    throw new GwError(
      'TABLET_WRONG_DEVICE',
      `No tablet in ${search.range} has the serial number '${serial}': ${list}.`,
      {
        ...evidence(search),
        remedy:
          'Correct tablet.serial in the site file when the tablet was replaced; otherwise take the other tablet out of the robot segment.',
      },
    );
  }
  const [first, second] = asked.map(({ identity }) => identity as GwError);
  if (first !== undefined && second === undefined) throw first;
  if (first !== undefined)
    throw several(search, 'Several devices accept ADB, and none could be asked for its serial number.');
  if (options.mayBeClosed === true && remembered !== null) return found(search, remembered, 'remembered');
  throw notFound(search);
}

/** The tablet on USB reports its own addresses; whether it has them shows at the port. */
async function findOverUsb(search: Search): Promise<Found> {
  const { options, range } = search;
  const expected = { minSdk: 1, serial: options.tablet.serial };
  const addresses = await overAdb(search, null, { ...options, expected }, async (tablet) =>
    parseAddresses(await tablet.read(tabletCommand`ip -f inet -o addr show`)),
  );
  const own = addresses.find(({ address }) => isInRange(address, range) === true);
  if (own !== undefined) return found(search, own.address, 'usb');
  throw new GwError('TABLET_NOT_FOUND', `The tablet on USB has no address in ${range}.`, {
    remedy: 'Connect it to the WLAN of the robot segment, then run the command again.',
  });
}

function found({ options, onProgress }: Search, host: string, by: FoundBy): Found {
  onProgress(`The tablet is looked for at ${host} (${by})`);
  return { endpoint: { host, port: options.tablet.adbPort }, by };
}

function several(search: Search, message: string): GwError {
  const list = [...search.seen.values()].filter(({ hasMac, identity }) => hasMac || identity !== null);
  return new GwError('TABLET_SEVERAL', `${message} ${list.map(({ address }) => address).join(', ')}.`, {
    ...evidence(search),
    remedy: 'Name tablet.serial in the site file, and take other devices out of the robot segment.',
  });
}

function notFound(search: Search): GwError {
  const { seen, macs, options, range } = search;
  const closed = [...seen.values()].filter(({ port }) => port === 'closed').length;
  const mac = macs[0] === undefined ? '' : ` The MAC address ${macs[0]} answers at none of them.`;
  const size =
    hostsOfRange(range, MAX_ADDRESSES) === null
      ? ` The range has more than ${MAX_ADDRESSES} addresses: only known neighbours were tried.`
      : '';
  const { serial } = options.tablet;
  const what =
    serial === undefined ? 'No device with its MAC address' : `No open ADB port with the serial number '${serial}'`;
  return new GwError(
    'TABLET_NOT_FOUND',
    `${what} in ${range}; ${plural(closed, 'address refuses', 'addresses refuse')} the port, the others are silent.${mac}${size}`,
    evidence(search),
  );
}

function evidence({ range, options, dialer, clock, beganMs, seen }: Search) {
  const forMs = Math.round(clock.monotonicMs() - beganMs);
  const tried: Tried = { address: range, port: options.tablet.adbPort, ...triedOver(dialer), action: 'ADB', forMs };
  const candidates = [...seen.values()].map(({ address, port, mac, identity }) => ({
    ...{ address, port, mac },
    serial: typeof identity === 'string' ? identity : null,
    error: identity instanceof GwError ? identity.code : null,
  }));
  return { tried, details: { candidates } };
}
