import { createHash, createHmac, randomBytes } from 'node:crypto';
import { createSocket, type Socket } from 'node:dgram';
import { GwError } from '../../error/index.ts';
import type { Clock } from '../../lifecycle/index.ts';
import type { FaultName, Faults } from '../faults.ts';

/** The state in a heartbeat of a neighbour. */
interface NeighbourState {
  readonly moving: boolean;
  readonly stopped: boolean;
  readonly batteryPercent: number;
  readonly xM: number;
  readonly yM: number;
  readonly yawDeg: number;
}

/** Random parameters of one neighbour. */
interface NeighbourTraits {
  readonly radiusM: number;
  /** Uptime when the simulator started. */
  readonly headStartS: number;
  readonly batteryAtStart: number;
}

/** One cycle: driving, standing, then a latched stop. */
const DRIVING_S = 60;
const STANDING_S = 20;
const STOPPED_S = 10;
const CYCLE_S = DRIVING_S + STANDING_S + STOPPED_S;
const SPEED_MS = 0.5;
const DISCHARGE_S_PER_PERCENT = 60;
const MIN_PERCENT = 5;

/**
 * Encoder of the heartbeat datagram, from the table in docs/heartbeat.md, without code of the decoder: a shared mistake
 * would stay hidden.
 */

interface Heartbeat extends NeighbourState {
  readonly serial: string;
  readonly software: string;
  readonly bootCounter: number;
  readonly sequence: number;
  /** 8 bytes. */
  readonly instance: Uint8Array;
  readonly uptimeS: number;
  readonly map: MapInUse | undefined;
}

/** The map on which the robot drives. */
interface MapInUse {
  readonly uid: string;
  readonly mapVersion: number;
}

const FIXED_BYTES = 48;
const MAP_BYTES = 8;
const SIGNATURE_BYTES = 32;

type HeartbeatKey = ReturnType<typeof heartbeatKey>;

export const MAX_NEIGHBOURS = 1000;
/** A constant, so that heartbeats never leave this machine. */
const HOST = '127.0.0.1';
/** @source specification, 'Events' */
const HEARTBEAT_PORT = 45301;
/** @source specification, 'Limits' */
const PERIOD_MS = 2000;
/** Each address is a socket; further neighbours share them. */
const MAX_SOURCES = 200;
const sourceOf = (index: number) => `127.0.0.${2 + (index % MAX_SOURCES)}`;
/** The second device that claims the serial of the last neighbour. */
const DUPLICATE_SOURCE = `127.0.0.${2 + MAX_SOURCES}`;
const YEAR_S = 365.25 * 24 * 3600;
/** Clock offsets of the last neighbour, by heartbeat. */
const YEARS_OFF = [7, -7, 40, 0] as const;

export interface NeighboursOptions {
  /** 1 to 1000. */
  readonly robots: number;
  readonly secret: Uint8Array;
  readonly firstBoot: number;
  readonly software: string;
  /** The map that the robots drive on; undefined: none. */
  readonly map: () => MapInUse | undefined;
  readonly faults: Pick<Faults, 'is'>;
  readonly clock: Clock;
  /** Called once when sending fails, and again only after it has worked. */
  readonly onUnsent: (reason: string) => void;
  /** UDP port; tests only, 45301 by default. */
  readonly port?: number;
}

export type Neighbours = Awaited<ReturnType<typeof startNeighbours>>;

/** State from one boot to the next. */
interface Boot {
  readonly bootCounter: number;
  readonly instance: Uint8Array;
  readonly beganMs: number;
  sequence: number;
}

interface Device {
  readonly serial: string;
  readonly source: Socket;
  /** Offset of its heartbeat within each period. */
  readonly phaseMs: number;
  readonly traits: NeighbourTraits;
  boot: Boot;
}

/**
 * Robots that only send heartbeats, to the port of the heartbeat on 127.0.0.1. Throws PORT_UNUSABLE when a source
 * address cannot be bound.
 */
export async function startNeighbours(options: NeighboursOptions) {
  const { robots, firstBoot, software, faults, clock, port = HEARTBEAT_PORT } = options;
  const siteKey = heartbeatKey(options.secret);
  const wrongKey = heartbeatKey(randomBytes(32));
  let isUnsent = false;
  let isEnded = false;

  await using undo = new AsyncDisposableStack();
  const sources: Socket[] = [];
  for (let index = 0; index < Math.min(robots, MAX_SOURCES); index += 1) {
    sources.push(await open(sourceOf(index)));
  }
  const duplicateSource = await open(DUPLICATE_SOURCE);

  const beganMs = clock.monotonicMs();
  const devices = Array.from({ length: robots }, (_, index) =>
    makeDevice(serialOf(index), sources[index % MAX_SOURCES]),
  );
  const last = devices.at(-1);
  if (last === undefined) throw new RangeError('at least one neighbour');
  const duplicate = makeDevice(last.serial, duplicateSource);
  /** The first heartbeat of the last neighbour. */
  let recording: Buffer | undefined;
  for (const device of [...devices, duplicate]) {
    undo.use(
      clock.after(device.phaseMs, () => {
        sendHeartbeat(device);
        if (!opened.disposed) opened.use(clock.every(PERIOD_MS, () => sendHeartbeat(device)));
      }),
    );
  }

  async function open(address: string): Promise<Socket> {
    const socket = await openSource(address);
    undo.defer(() => new Promise((resolve) => socket.close(() => resolve())));
    socket.on('error', onSent);
    return socket;
  }

  function makeDevice(serial: string, source: Socket | undefined): Device {
    if (source === undefined) throw new RangeError('every neighbour has an address');
    const [phaseMs, traits] = [clock.random() * PERIOD_MS, randomTraits(clock.random)];
    return { serial, source, phaseMs, traits, boot: newBoot(firstBoot) };
  }

  function newBoot(bootCounter: number): Boot {
    return { bootCounter, instance: randomBytes(8), beganMs: clock.monotonicMs(), sequence: 0 };
  }

  function sendHeartbeat(device: Device): void {
    if (device === duplicate) {
      if (faults.is('fleet-serial-conflict')) send(device, datagramOf(device, siteKey, 0));
      return;
    }
    if (device !== last) {
      send(device, datagramOf(device, siteKey, 0));
      return;
    }
    if (faults.is('fleet-silent')) return;
    const isWrongKey = faults.is('fleet-wrong-key');
    const yearsOff = faults.is('fleet-clock-jumps') ? (YEARS_OFF[device.boot.sequence % YEARS_OFF.length] ?? 0) : 0;
    const datagram = datagramOf(device, isWrongKey ? wrongKey : siteKey, yearsOff);
    send(device, datagram);
    if (!isWrongKey) recording ??= datagram;
    if (faults.is('fleet-replaying') && recording !== undefined) send(device, recording);
  }

  function datagramOf({ serial, traits, boot }: Device, key: HeartbeatKey, yearsOff: number): Buffer {
    const { bootCounter, instance, sequence } = boot;
    boot.sequence += 1;
    const nowMs = clock.monotonicMs();
    const uptimeS = Math.max(0, Math.floor((nowMs - boot.beganMs) / 1000 + yearsOff * YEAR_S));
    const state = neighbourState(traits, (nowMs - beganMs) / 1000);
    const about = { serial, software, bootCounter, sequence, instance, uptimeS, map: options.map() };
    return encodeHeartbeat({ ...about, ...state }, key);
  }

  function send({ source }: Device, datagram: Buffer): void {
    source.send(datagram, port, HOST, onSent);
  }

  function onSent(error: Error | null): void {
    if (isEnded) return;
    if (error !== null && !isUnsent) options.onUnsent((error as NodeJS.ErrnoException).code ?? error.message);
    isUnsent = error !== null;
  }

  const opened = undo.move();
  return {
    to: { host: HOST, port },
    firstSerial: serialOf(0),
    lastSerial: last.serial,
    /** Must be called on every change of a fault. */
    applyFault(name: FaultName, on: boolean): void {
      if (name === 'fleet-silent' && !on) last.boot = newBoot(last.boot.bootCounter + 1);
      // A copied SD card in another robot, which starts for the first time.
      if (name === 'fleet-serial-conflict' && on) duplicate.boot = newBoot(1);
    },
    async [Symbol.asyncDispose](): Promise<void> {
      isEnded = true;
      await opened.disposeAsync();
    },
  };
}

function randomTraits(random: () => number): NeighbourTraits {
  return {
    radiusM: 1 + 4 * random(),
    headStartS: 10_000 * random(),
    batteryAtStart: 60 + Math.floor(41 * random()),
  };
}

/** A robot that drives in a circle, counter-clockwise, `ageS` after the start of the simulator. */
function neighbourState({ radiusM, headStartS, batteryAtStart }: NeighbourTraits, ageS: number): NeighbourState {
  const upS = headStartS + ageS;
  const cycles = Math.floor(upS / CYCLE_S);
  const inCycleS = upS - cycles * CYCLE_S;
  const drivenM = SPEED_MS * (cycles * DRIVING_S + Math.min(inCycleS, DRIVING_S));
  const turns = drivenM / (2 * Math.PI * radiusM);
  const angleDeg = 360 * (turns - Math.floor(turns));
  const angleRad = (angleDeg * Math.PI) / 180;
  // The heading is tangential, a quarter turn ahead of the position; reported in (-180, 180].
  const aheadDeg = angleDeg + 90;
  return {
    moving: inCycleS < DRIVING_S,
    stopped: inCycleS >= DRIVING_S + STANDING_S,
    batteryPercent: Math.max(MIN_PERCENT, batteryAtStart - Math.floor(ageS / DISCHARGE_S_PER_PERCENT)),
    xM: radiusM * Math.cos(angleRad),
    yM: radiusM * Math.sin(angleRad),
    yawDeg: aheadDeg > 180 ? aheadDeg - 360 : aheadDeg,
  };
}

/** A key with its id of 4 bytes in the datagram. */
function heartbeatKey(secret: Uint8Array) {
  const hash = createHash('sha256').update('gw heartbeat key id').update(Uint8Array.of(0)).update(secret).digest();
  return { secret, id: hash.subarray(0, 4) };
}

function encodeHeartbeat(heartbeat: Heartbeat, key: HeartbeatKey): Buffer {
  const serial = Buffer.from(heartbeat.serial, 'latin1');
  const software = Buffer.from(heartbeat.software, 'utf8');
  const signedBytes = FIXED_BYTES + 1 + serial.length + 1 + software.length + MAP_BYTES;
  const bytes = Buffer.alloc(signedBytes + SIGNATURE_BYTES);
  bytes.write('GWHB', 0, 'latin1');
  bytes.writeUInt8(1, 4);
  bytes.writeUInt16BE(signedBytes, 6);
  bytes.set(key.id, 8);
  bytes.writeUInt32BE(heartbeat.bootCounter, 12);
  bytes.writeUInt32BE(heartbeat.sequence, 16);
  bytes.set(heartbeat.instance, 20);
  bytes.writeUInt32BE(heartbeat.uptimeS, 28);
  bytes.writeUInt8(heartbeat.moving ? 2 : 1, 32);
  bytes.writeUInt8(heartbeat.stopped ? 2 : 1, 33);
  bytes.writeUInt8(heartbeat.batteryPercent, 34);
  bytes.writeInt32BE(Math.round(heartbeat.xM * 1000), 36);
  bytes.writeInt32BE(Math.round(heartbeat.yM * 1000), 40);
  bytes.writeInt32BE(Math.round(heartbeat.yawDeg * 1000), 44);
  bytes.writeUInt8(serial.length, 48);
  bytes.set(serial, 49);
  bytes.writeUInt8(software.length, 49 + serial.length);
  bytes.set(software, 50 + serial.length);
  if (heartbeat.map !== undefined) {
    const words = ['gw heartbeat map', heartbeat.map.uid, String(heartbeat.map.mapVersion)];
    const hash = createHash('sha256').update(words.join('\0')).digest();
    bytes.set(hash.subarray(0, MAP_BYTES), 50 + serial.length + software.length);
  }
  bytes.set(createHmac('sha256', key.secret).update(bytes.subarray(0, signedBytes)).digest(), signedBytes);
  return bytes;
}

/** Serials of the neighbours, and their source addresses without duplicates. */
export function neighbourAddresses(robots: number): { readonly serials: string[]; readonly addresses: string[] } {
  const indexes = Array.from({ length: robots }, (_, index) => index);
  return { serials: indexes.map(serialOf), addresses: [...new Set(indexes.map(sourceOf))] };
}

function serialOf(index: number): string {
  return `SIM-N${String(index + 1).padStart(3, '0')}`;
}

async function openSource(address: string): Promise<Socket> {
  const socket = createSocket('udp4');
  try {
    await new Promise<void>((resolve, reject) => {
      socket.once('error', reject);
      socket.bind({ address, port: 0, exclusive: true }, () => {
        socket.off('error', reject);
        resolve();
      });
    });
  } catch (cause) {
    socket.close();
    const { code } = cause as NodeJS.ErrnoException;
    throw new GwError('PORT_UNUSABLE', `Cannot bind the source address ${address} of a neighbour (${code}).`, {
      tried: { address, action: 'send heartbeats' },
      remedy: `Add the addresses ${sourceOf(0)} to ${DUPLICATE_SOURCE} to the loopback interface, or start without --robots.`,
      cause,
    });
  }
  return socket;
}
