import { constants, generateKeyPairSync, privateEncrypt } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

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
  head.writeUInt32LE(
    body.reduce((sum, byte) => (sum + byte) >>> 0, 0),
    16,
  );
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

export interface Line {
  readonly socket: Socket;
  send(command: string, arg0: number, arg1: number, payload?: Buffer | string): void;
  /** The next frame; undefined when the tablet has closed the connection. */
  next(): Promise<Frame | undefined>;
  /** Whether no frame arrives within `ms`. */
  isSilent(ms: number): Promise<boolean>;
  [Symbol.dispose](): void;
}

export async function dial(port: number): Promise<Line> {
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
      for (;;) {
        const found = cut();
        if (found || ended) return found;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
    async isSilent(ms) {
      await new Promise((resolve) => setTimeout(resolve, ms));
      return bytes.length === 0 && !ended;
    },
    [Symbol.dispose]: () => void socket.destroy(),
  };
}

export const BANNER = 'host::features=shell_v2,cmd,stat_v2,ls_v2';

/** Connects with this key, and offers the key if it is not allowed yet. */
export async function goOnline(port: number, key: HostKey, version = 0x01000001): Promise<Line> {
  const line = await dial(port);
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

/** Pushes a file on its own connection: `OKAY`, `cut`, or the refusal of the tablet. */
export async function push(port: number, key: HostKey, path: string, bytes: Buffer) {
  using line = await goOnline(port, key);
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

export function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port });
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

export async function until(what: () => boolean | Promise<boolean>): Promise<void> {
  for (let round = 0; round < 500; round += 1) {
    if (await what()) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error('condition not met in time');
}
