import { randomBytes } from 'node:crypto';
import { createSocket, type Socket } from 'node:dgram';
import { GwError } from '../../error/index.ts';
import type { Clock } from '../../lifecycle/index.ts';
import type { FaultName, Faults } from '../faults.ts';
import { type HeartbeatKey, heartbeatKey, packHeartbeat } from './heartbeat.ts';
import { inventHabits, type NeighbourHabits, neighbourState } from './neighbour-state.ts';

export const MOST_NEIGHBOURS = 1000;
/** Beats leave for this machine alone, whatever anybody configures. */
const HOST = '127.0.0.1';
/** @source specification, 'Events' */
const HEARTBEAT_PORT = 45301;
/** @source specification, 'Limits' */
const PERIOD_MS = 2000;
/** Timers may fire a little early; what is due so soon is not waited for again. */
const SOON_MS = 1;
/** Neighbours beyond these share an address; each address is a socket. */
const MOST_SOURCES = 200;
const sourceOf = (index: number) => `127.0.0.${2 + (index % MOST_SOURCES)}`;
/** The second device that claims the serial of the last neighbour. */
const DOUBLE_SOURCE = `127.0.0.${2 + MOST_SOURCES}`;
const YEAR_S = 365.25 * 24 * 3600;
/** How far off the clock of the last neighbour is, beat by beat. */
const YEARS_OFF = [7, -7, 40, 0] as const;

/** Serials of so many neighbours, and the addresses that they send from, each once. */
export function neighbourPlaces(robots: number): { readonly serials: string[]; readonly addresses: string[] } {
  const indexes = Array.from({ length: robots }, (_, index) => index);
  return { serials: indexes.map(serialOf), addresses: [...new Set(indexes.map(sourceOf))] };
}

export interface NeighboursOptions {
  /** 1 to 1000. */
  readonly robots: number;
  readonly secret: Uint8Array;
  readonly firstBoot: number;
  readonly software: string;
  readonly faults: Pick<Faults, 'is'>;
  readonly clock: Clock;
  /** Called once when beats cannot be sent, until they can again. */
  readonly onUnsent: (reason: string) => void;
  /** Tests alone choose another than that of the heartbeat. */
  readonly port?: number;
}

export interface Neighbours extends AsyncDisposable {
  readonly to: { readonly host: string; readonly port: number };
  readonly firstSerial: string;
  readonly lastSerial: string;
  /** Has to be told of every change of a fault. */
  switched(name: FaultName, on: boolean): void;
}

/** From one start to the next. */
interface Life {
  readonly bootCounter: number;
  readonly instance: Uint8Array;
  readonly beganMs: number;
  sequence: number;
}

interface Device {
  readonly serial: string;
  readonly source: Socket;
  /** When in each period it beats. */
  readonly phaseMs: number;
  readonly habits: NeighbourHabits;
  life: Life;
}

/**
 * Robots that do nothing but beat, to the port of the heartbeat on 127.0.0.1. One timer goes round them all, so that a
 * thousand cost little; the n-th beat of each is due n periods after its first, however late the one before was. Throws
 * PORT_UNUSABLE where an address of their own cannot be had.
 */
export async function startNeighbours(options: NeighboursOptions): Promise<Neighbours> {
  const { robots, firstBoot, software, faults, clock, port = HEARTBEAT_PORT } = options;
  const siteKey = heartbeatKey(options.secret);
  const wrongKey = heartbeatKey(randomBytes(32));
  let isUnsent = false;
  let isEnded = false;

  await using undo = new AsyncDisposableStack();
  const sources: Socket[] = [];
  for (let index = 0; index < Math.min(robots, MOST_SOURCES); index += 1) {
    sources.push(await open(sourceOf(index)));
  }
  const doubleSource = await open(DOUBLE_SOURCE);

  const beganMs = clock.monotonicMs();
  const devices = Array.from({ length: robots }, (_, index) =>
    makeDevice(serialOf(index), sources[index % MOST_SOURCES]),
  );
  const last = devices.at(-1);
  if (last === undefined) throw new RangeError('at least one neighbour');
  const double = makeDevice(last.serial, doubleSource);
  const round = [...devices, double].sort((a, b) => a.phaseMs - b.phaseMs);

  /** What somebody recorded of the last neighbour: the first that it ever sent. */
  let recording: Buffer | undefined;
  /** Who beats next, and how many periods lie behind. */
  let next = 0;
  let periods = 0;
  let timer = clock.after(Math.max(0, untilNext()), goRound);

  async function open(address: string): Promise<Socket> {
    const socket = await openSource(address);
    undo.defer(() => new Promise((resolve) => socket.close(() => resolve())));
    socket.on('error', onSent);
    return socket;
  }

  function makeDevice(serial: string, source: Socket | undefined): Device {
    if (source === undefined) throw new RangeError('every neighbour has an address');
    const [phaseMs, habits] = [clock.random() * PERIOD_MS, inventHabits(clock.random)];
    return { serial, source, phaseMs, habits, life: beginLife(firstBoot) };
  }

  function beginLife(bootCounter: number): Life {
    return { bootCounter, instance: randomBytes(8), beganMs: clock.monotonicMs(), sequence: 0 };
  }

  function untilNext(): number {
    return beganMs + periods * PERIOD_MS + (round[next]?.phaseMs ?? 0) - clock.monotonicMs();
  }

  function goRound(): void {
    // What a machine missed that slept is left out.
    periods += Math.max(0, Math.floor(-untilNext() / PERIOD_MS));
    for (let beats = 0; beats < round.length && untilNext() < SOON_MS; beats += 1) {
      const device = round[next];
      if (device !== undefined) beat(device);
      next += 1;
      if (next === round.length) {
        next = 0;
        periods += 1;
      }
    }
    timer = clock.after(Math.max(0, untilNext()), goRound);
  }

  function beat(device: Device): void {
    if (device === double) {
      if (faults.is('fleet-serial-conflict')) send(device, datagramOf(device, siteKey, 0));
      return;
    }
    if (device !== last) {
      send(device, datagramOf(device, siteKey, 0));
      return;
    }
    if (faults.is('fleet-silent')) return;
    const isWrongKey = faults.is('fleet-wrong-key');
    const yearsOff = faults.is('fleet-clock-jumps') ? (YEARS_OFF[device.life.sequence % YEARS_OFF.length] ?? 0) : 0;
    const datagram = datagramOf(device, isWrongKey ? wrongKey : siteKey, yearsOff);
    send(device, datagram);
    if (!isWrongKey) recording ??= datagram;
    if (faults.is('fleet-replaying') && recording !== undefined) send(device, recording);
  }

  function datagramOf({ serial, habits, life }: Device, key: HeartbeatKey, yearsOff: number): Buffer {
    const { bootCounter, instance, sequence } = life;
    life.sequence += 1;
    const nowMs = clock.monotonicMs();
    const uptimeS = Math.max(0, Math.floor((nowMs - life.beganMs) / 1000 + yearsOff * YEAR_S));
    const state = neighbourState(habits, (nowMs - beganMs) / 1000);
    return packHeartbeat({ serial, software, bootCounter, sequence, instance, uptimeS, ...state }, key);
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
    switched(name, on) {
      if (name === 'fleet-silent' && !on) last.life = beginLife(last.life.bootCounter + 1);
      // A copied card in another robot, which has never run before.
      if (name === 'fleet-serial-conflict' && on) double.life = beginLife(1);
    },
    async [Symbol.asyncDispose]() {
      isEnded = true;
      timer[Symbol.dispose]();
      await opened.disposeAsync();
    },
  };
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
    throw new GwError('PORT_UNUSABLE', `No neighbour can send from ${address} (${code}).`, {
      tried: { address, action: 'send heartbeats' },
      remedy: `Give the loopback interface the addresses ${sourceOf(0)} to ${DOUBLE_SOURCE}, or start without --robots.`,
      cause,
    });
  }
  return socket;
}
