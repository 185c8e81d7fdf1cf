import { constants, generateKeyPairSync, privateEncrypt } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { startTablet, type Tablet } from '../../../src/lib/sim/index.ts';
import { createDrivenClock, type DrivenClock } from '../driven-clock.ts';

/**
 * The host side of the debug bridge, written from the protocol's documentation, without code of the simulator.
 */

interface Frame {
  readonly command: string;
  readonly arg0: number;
  readonly arg1: number;
  readonly sum: number;
  readonly payload: Buffer;
}

export function frame(command: string, arg0: number, arg1: number, payload: Buffer | string = ''): Buffer {
  const body = Buffer.from(payload);
  const head = Buffer.alloc(24);
  head.write(command, 0, 'latin1');
  head.writeUInt32LE(arg0, 4);
  head.writeUInt32LE(arg1, 8);
  head.writeUInt32LE(body.length, 12);
  let sum = 0;
  for (const byte of body) sum += byte;
  head.writeUInt32LE(sum >>> 0, 16);
  for (let at = 0; at < 4; at += 1) head[20 + at] = 255 - (head[at] ?? 0);
  return Buffer.concat([head, body]);
}

/** A key of a host: its offer and its signature. */
export function makeHostKey(owner = 'tester@bench') {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048, publicExponent: 65537 });
  const modulusBytes = Buffer.from(publicKey.export({ format: 'jwk' }).n ?? '', 'base64url');
  const modulus = BigInt(`0x${modulusBytes.toString('hex')}`);
  const little = (number: bigint) => Buffer.from(number.toString(16).padStart(512, '0'), 'hex').reverse();
  // -1/n modulo 2^32, by Newton's method.
  let inverse = 1n;
  for (let round = 0; round < 6; round += 1) inverse = (inverse * (2n - modulus * inverse)) & 0xffffffffn;
  const key = Buffer.alloc(524);
  key.writeUInt32LE(64, 0);
  key.writeUInt32LE(Number((0x100000000n - inverse) & 0xffffffffn), 4);
  little(modulus).copy(key, 8);
  little((1n << 4096n) % modulus).copy(key, 264);
  key.writeUInt32LE(65537, 520);
  return {
    offer: Buffer.from(`${key.toString('base64')} ${owner}\0`),
    raw: key,
    sign: (token: Buffer) =>
      privateEncrypt(
        { key: privateKey, padding: constants.RSA_PKCS1_PADDING },
        Buffer.concat([Buffer.from('3021300906052b0e03021a05000414', 'hex'), token]),
      ),
  };
}

export type HostKey = ReturnType<typeof makeHostKey>;

let usual: HostKey | undefined;
/** The same key for every test: making one takes long. */
export function hostKey(): HostKey {
  usual ??= makeHostKey();
  return usual;
}

export interface Line {
  readonly socket: Socket;
  send(command: string, arg0: number, arg1: number, payload?: Buffer | string): void;
  /** The next frame; undefined when the tablet has closed the connection. */
  next(): Promise<Frame | undefined>;
  /** Whether nothing has arrived, and the connection is open. */
  isQuiet(): boolean;
  [Symbol.dispose](): void;
}

const MAX_ROUNDS = 50_000;

/** Where the tablet has a clock of the test, timers that are due fire while a frame is awaited. */
export async function dial(port: number, clock?: DrivenClock): Promise<Line> {
  const socket = connect({ host: '127.0.0.1', port, noDelay: true });
  await once(socket, 'connect');
  let bytes: Buffer = Buffer.alloc(0);
  let ended = false;
  let wake = () => {};
  socket.on('data', (piece: Buffer) => {
    bytes = Buffer.concat([bytes, piece]);
    wake();
  });
  socket.on('error', () => {});
  socket.on('close', () => {
    ended = true;
    wake();
  });
  function cut(): Frame | undefined {
    if (bytes.length < 24) return undefined;
    const length = bytes.readUInt32LE(12);
    if (bytes.length < 24 + length) return undefined;
    const found = {
      command: bytes.toString('latin1', 0, 4),
      arg0: bytes.readUInt32LE(4),
      arg1: bytes.readUInt32LE(8),
      sum: bytes.readUInt32LE(16),
      payload: Buffer.from(bytes.subarray(24, 24 + length)),
    };
    bytes = bytes.subarray(24 + length);
    return found;
  }
  return {
    socket,
    send: (command, arg0, arg1, payload) => void socket.write(frame(command, arg0, arg1, payload)),
    async next() {
      for (let rounds = 0; rounds < MAX_ROUNDS; rounds += 1) {
        const found = cut();
        if (found || ended) return found;
        const woken = new Promise<void>((resolve) => {
          wake = resolve;
        });
        await (clock === undefined ? woken : clock.advance(0));
      }
      throw new Error('no frame');
    },
    isQuiet: () => bytes.length === 0 && !ended,
    [Symbol.dispose]: () => void socket.destroy(),
  };
}

export const BANNER = 'host::features=shell_v2,cmd,stat_v2,ls_v2';

/** Connects with this key, and offers the key if it is not allowed yet. */
export async function goOnline(
  port: number,
  key = hostKey(),
  version = 0x01000001,
  clock?: DrivenClock,
): Promise<Line> {
  const line = await dial(port, clock);
  line.send('CNXN', version, 1024 * 1024, BANNER);
  const token = await line.next();
  if (token?.command !== 'AUTH') throw new Error(`expected AUTH, found ${token?.command}`);
  line.send('AUTH', 2, 0, key.sign(token.payload));
  let answer = await line.next();
  if (answer?.command === 'AUTH') {
    line.send('AUTH', 3, 0, key.offer);
    answer = await line.next();
  }
  if (answer?.command !== 'CNXN') throw new Error(`expected CNXN, found ${answer?.command}`);
  return line;
}

let lastId = 100;

/** Opens a service and returns its stream; every payload is acknowledged. */
export async function openStream(line: Line, service: string) {
  lastId += 1;
  const id = lastId;
  line.send('OPEN', id, 0, `${service}\0`);
  const opened = await line.next();
  if (opened?.command !== 'OKAY') return undefined;
  const remote = opened.arg0;
  let bytes: Buffer = Buffer.alloc(0);
  let ended = false;
  /** Reads one frame of the tablet; false at the end. */
  async function step(): Promise<string | undefined> {
    const got = await line.next();
    if (got === undefined || got.command === 'CLSE') ended = true;
    if (got?.command === 'WRTE') {
      bytes = Buffer.concat([bytes, got.payload]);
      line.send('OKAY', id, remote);
    }
    return got?.command;
  }
  return {
    id,
    remote,
    async write(payload: Buffer | string) {
      line.send('WRTE', id, remote, payload);
      for (let got = await step(); got !== 'OKAY' && !ended; ) got = await step();
      return !ended;
    },
    async exactly(count: number) {
      while (bytes.length < count && !ended) await step();
      const found = bytes.subarray(0, count);
      bytes = bytes.subarray(count);
      return found;
    },
    /** Everything until the tablet closes the stream. */
    async all() {
      while (!ended) await step();
      return bytes;
    },
    close: () => line.send('CLSE', id, remote),
  };
}

/** Runs a command without packets. */
export async function raw(line: Line, command: string): Promise<string> {
  const stream = await openStream(line, `shell:${command}`);
  return (await stream?.all())?.toString('utf8') ?? '';
}

/** Runs a command with packets. */
export async function run(line: Line, command: string, stdin?: string) {
  const stream = await openStream(line, `shell,v2,raw:${command}`);
  if (!stream) throw new Error('no shell');
  if (stdin !== undefined) {
    await stream.write(packet(0, stdin));
    await stream.write(packet(4, ''));
  }
  const bytes = await stream.all();
  let stdout = '';
  let stderr = '';
  let code: number | undefined;
  for (let at = 0; at < bytes.length; ) {
    const length = bytes.readUInt32LE(at + 1);
    const body = bytes.subarray(at + 5, at + 5 + length);
    if (bytes[at] === 1) stdout += body.toString('utf8');
    else if (bytes[at] === 2) stderr += body.toString('utf8');
    else if (bytes[at] === 3) code = body[0];
    at += 5 + length;
  }
  return { stdout, stderr, code };
}

export function packet(kind: number, body: string | Buffer): Buffer {
  const bytes = Buffer.from(body);
  const head = Buffer.from([kind, 0, 0, 0, 0]);
  head.writeUInt32LE(bytes.length, 1);
  return Buffer.concat([head, bytes]);
}

/** Four letters and a number: the head of everything in the file service. */
export function request(id: string, number: number, rest: Buffer | string = ''): Buffer {
  const head = Buffer.alloc(8);
  head.write(id, 0, 'latin1');
  head.writeUInt32LE(number, 4);
  return Buffer.concat([head, Buffer.from(rest)]);
}

export const pathRequest = (id: string, path: string) => request(id, Buffer.byteLength(path), path);

/** Pushes a file on a connection of its own: `OKAY`, `cut`, or the refusal of the tablet. */
export async function push(line: Line, path: string, bytes: Buffer) {
  const stream = await openStream(line, 'sync:');
  await stream?.write(pathRequest('SEND', `${path},33188`));
  for (let at = 0; at < bytes.length; at += 65536) {
    const piece = bytes.subarray(at, at + 65536);
    if (!(await stream?.write(request('DATA', piece.length, piece)))) return 'cut';
  }
  await stream?.write(request('DONE', 1_700_000_000));
  const head = await stream?.exactly(8);
  const id = head?.toString('latin1', 0, 4);
  return id === 'FAIL' ? (await stream?.exactly(head?.readUInt32LE(4) ?? 0))?.toString() : id;
}

function isListening(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect({ host: '127.0.0.1', port }, () => resolve(true));
  socket.once('error', () => resolve(false));
  return promise.finally(() => socket.destroy());
}

/** A tablet on a clock that the test advances. */
export async function startTabletWorld(options: Parameters<typeof startTablet>[0] = {}) {
  const clock = createDrivenClock();
  const tablet: Tablet = await startTablet({ clock, ...options });
  const lines: Line[] = [];
  const kept = (line: Line) => {
    lines.push(line);
    return line;
  };
  const world = {
    tablet,
    clock,
    state: tablet.state,
    fault: tablet.setFault,
    dial: async () => kept(await dial(tablet.port, clock)),
    online: async (version?: number, port = tablet.port) => kept(await goOnline(port, hostKey(), version, clock)),
    /** On a connection of its own. */
    push: async (path: string, bytes: Buffer) => push(await world.online(), path, bytes),
    settled: () => clock.during(tablet.settled()),
    openPort: () => clock.during(tablet.openPort()),
    untilPort: (port: number | null) => clock.until(() => tablet.state().port === port),
    isListening: () => isListening(tablet.port),
    /** A connection that has sent its banner; the token of the tablet. */
    async greet(): Promise<readonly [Line, Buffer]> {
      const line = await world.dial();
      line.send('CNXN', 0x01000001, 4096, BANNER);
      return [line, (await line.next())?.payload ?? Buffer.alloc(0)];
    },
    async [Symbol.asyncDispose]() {
      for (const line of lines) line[Symbol.dispose]();
      await tablet[Symbol.asyncDispose]();
    },
  };
  return world;
}

/** A tablet, and an allowed connection to it. */
export async function startOnline(options: Parameters<typeof startTablet>[0] = {}) {
  const world = await startTabletWorld(options);
  const line = await world.online();
  const run_ = (command: string, stdin?: string) => run(line, command, stdin);
  return {
    ...world,
    line,
    run: run_,
    output: async (command: string) => (await run_(command)).stdout,
    open: (service: string) => openStream(line, service),
  };
}
