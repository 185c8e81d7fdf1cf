import { type Entry, NOT_KEPT, type Storage } from '../storage.ts';
import type { Channel } from './channel.ts';

/**
 * The file service in the stream `sync:`. A request is four letters, a little-endian length and the path. Source:
 * Android's documentation. The features `stat_v2` and `ls_v2` announce version 2 of STAT and LIST.
 */

const MAX_PATH_LENGTH = 1024;
const MAX_PIECE_BYTES = 64 * 1024;
const MAX_BATCH_BYTES = 3 * MAX_PIECE_BYTES;
const LINK_MODE = 0o120000;
const KIND_MODE = 0o170000;
const ENOENT = 2;
const ENOTDIR = 20;

/** Reads a given number of bytes from a channel. */
export function createByteReader(channel: Pick<Channel, 'read'>) {
  let rest: Buffer = Buffer.alloc(0);
  async function more(): Promise<boolean> {
    const bytes = await channel.read();
    if (bytes === undefined) return false;
    rest = rest.length === 0 ? bytes : Buffer.concat([rest, bytes]);
    return true;
  }
  function cut(bytes: number): Buffer {
    const taken = rest.subarray(0, bytes);
    rest = rest.subarray(bytes);
    return taken;
  }
  return {
    async exactly(bytes: number): Promise<Buffer | undefined> {
      while (rest.length < bytes) if (!(await more())) return undefined;
      return cut(bytes);
    },
    /** The next bytes, at least one. */
    async some(most: number): Promise<Buffer | undefined> {
      if (rest.length === 0 && !(await more())) return undefined;
      return cut(Math.min(most, rest.length));
    },
  };
}

type ByteReader = ReturnType<typeof createByteReader>;

const words = (id: string, ...numbers: number[]) => {
  const bytes = Buffer.alloc(4 + 4 * numbers.length);
  bytes.write(id, 0, 'latin1');
  for (const [index, number] of numbers.entries()) bytes.writeUInt32LE(number >>> 0, 4 + 4 * index);
  return bytes;
};

const fail = (text: string) => {
  const message = Buffer.from(text);
  return Buffer.concat([words('FAIL', message.length), message]);
};

const sizeOf = (entry: Entry) => (entry.kind === 'file' ? entry.content.size : 4096);

/** The long form of STAT: error, device, inode, mode, links, owner, group, size, three times. */
function longStat(id: string, entry: Entry | undefined, error: number): Buffer {
  const bytes = Buffer.alloc(72);
  bytes.write(id, 0, 'latin1');
  bytes.writeUInt32LE(error, 4);
  if (!entry) return bytes;
  bytes.writeBigUInt64LE(0xfd05n, 8);
  bytes.writeBigUInt64LE(1n, 16);
  bytes.writeUInt32LE(entry.mode, 24);
  bytes.writeUInt32LE(1, 28);
  bytes.writeUInt32LE(entry.uid, 32);
  bytes.writeUInt32LE(entry.uid, 36);
  bytes.writeBigUInt64LE(BigInt(sizeOf(entry)), 40);
  for (const at of [48, 56, 64]) bytes.writeBigInt64LE(BigInt(entry.mtimeS), at);
  return bytes;
}

const problemNumber = (problem: string) => (problem === 'Not a directory' ? ENOTDIR : ENOENT);

export interface SyncHost {
  readonly storage: Storage;
  readonly hasLongStat: boolean;
}

/** Serves requests until the peer ends or violates the protocol. */
export async function serveSync(channel: Channel, host: SyncHost): Promise<void> {
  const reader = createByteReader(channel);
  for (;;) {
    const head = await reader.exactly(8);
    if (!head) return;
    const id = head.toString('latin1', 0, 4);
    const length = head.readUInt32LE(4);
    if (id === 'QUIT') return;
    if (length > MAX_PATH_LENGTH) {
      await channel.write(fail('path too long'));
      return;
    }
    const path = await reader.exactly(length);
    if (!path) return;
    if (!(await answer(id, path.toString('utf8'), channel, reader, host))) return;
  }
}

async function answer(
  id: string,
  path: string,
  channel: Channel,
  reader: ByteReader,
  { storage, hasLongStat }: SyncHost,
): Promise<boolean> {
  const isLong = id === 'STA2' || id === 'LST2' || id === 'LIS2';
  if (isLong && !hasLongStat) {
    await channel.write(fail(`unknown command ${JSON.stringify(id)}`));
    return false;
  }
  switch (id) {
    case 'STAT': {
      const entry = storage.find(path);
      const known = typeof entry === 'object';
      return channel.write(known ? words('STAT', entry.mode, sizeOf(entry), entry.mtimeS) : words('STAT', 0, 0, 0));
    }
    case 'STA2':
    case 'LST2': {
      const entry = storage.find(path);
      const known = typeof entry === 'object';
      return channel.write(known ? longStat(id, entry, 0) : longStat(id, undefined, problemNumber(entry)));
    }
    case 'LIST':
    case 'LIS2':
      return list(channel, storage, path, id === 'LIS2');
    case 'SEND':
      return receive(channel, reader, storage, path);
    case 'RECV':
      return give(channel, storage, path);
    default:
      await channel.write(fail('unknown command'));
      return false;
  }
}

async function list(channel: Channel, storage: Storage, path: string, long: boolean): Promise<boolean> {
  const found = storage.list(path);
  const rows = typeof found === 'string' ? [] : found;
  const answers = rows.map(([name, entry]) => {
    const text = Buffer.from(name);
    const facts = long ? longStat('DNT2', entry, 0) : words('DENT', entry.mode, sizeOf(entry), entry.mtimeS);
    const length = Buffer.alloc(4);
    length.writeUInt32LE(text.length);
    return Buffer.concat([facts, length, text]);
  });
  const done = Buffer.alloc(long ? 76 : 20);
  done.write('DONE', 0, 'latin1');
  return channel.write(Buffer.concat([...answers, done]));
}

/** Receives a file. After a failure the rest is read and discarded. */
async function receive(channel: Channel, reader: ByteReader, storage: Storage, request: string): Promise<boolean> {
  const comma = request.lastIndexOf(',');
  const modeText = comma === -1 ? '' : request.slice(comma + 1);
  const path = request.slice(0, comma === -1 ? undefined : comma);
  const mode = /^\d{1,10}$/.test(modeText) ? Number(modeText) : undefined;
  const sink = storage.openSink();
  let problem: string | undefined;
  const refuse = async (text: string) => {
    problem = text;
    sink.drop();
    await channel.write(fail(text));
  };
  if (mode === undefined) await refuse(`missing , in ${JSON.stringify(request)}`);
  else if ((mode & KIND_MODE) === LINK_MODE) await refuse("couldn't create file: links are not simulated");
  if (problem === undefined) {
    const parent = path.slice(0, path.lastIndexOf('/')) || '/';
    // Like the real service, creates a missing folder.
    const folder = typeof storage.find(parent) === 'string' ? storage.makeFolder(parent, true) : undefined;
    const refused = folder ?? storage.refusal(path);
    if (refused !== undefined) await refuse(`couldn't create file: ${refused}`);
  }
  for (;;) {
    const head = await reader.exactly(8);
    const id = head?.toString('latin1', 0, 4);
    const length = head?.readUInt32LE(4) ?? 0;
    if (id === 'DONE') {
      if (problem !== undefined) return false;
      const content = sink.finish();
      const failed = storage.write(path, content, mode, length);
      if (failed !== undefined) {
        await channel.write(fail(`couldn't create file: ${failed}`));
        return false;
      }
      return channel.write(words('OKAY', 0));
    }
    if (id !== 'DATA' || length > MAX_PIECE_BYTES) {
      if (problem === undefined && id !== undefined)
        await refuse(id === 'DATA' ? 'oversize data message' : 'invalid data message');
      else if (problem === undefined) sink.drop();
      return false;
    }
    for (let missing = length; missing > 0; ) {
      const bytes = await reader.some(missing);
      if (!bytes) {
        if (problem === undefined) sink.drop();
        return false;
      }
      missing -= bytes.length;
      if (problem === undefined && !sink.add(bytes)) await refuse('write failed: No space left on device');
    }
  }
}

async function give(channel: Channel, storage: Storage, path: string): Promise<boolean> {
  const entry = storage.find(path);
  if (typeof entry === 'string') return channel.write(fail(`open failed: ${entry}`));
  if (entry.kind !== 'file') return channel.write(fail('read failed: Is a directory'));
  const { content } = entry;
  if (!content.isWhole) return channel.write(fail(`read failed: ${NOT_KEPT}`));
  // Several pieces per frame, since every frame needs an acknowledgement.
  for (let at = 0; at < content.head.length; at += MAX_BATCH_BYTES) {
    const batch: Buffer[] = [];
    for (let from = at; from < Math.min(at + MAX_BATCH_BYTES, content.head.length); from += MAX_PIECE_BYTES) {
      const piece = content.head.subarray(from, from + MAX_PIECE_BYTES);
      batch.push(words('DATA', piece.length), piece);
    }
    if (!(await channel.write(Buffer.concat(batch)))) return false;
  }
  return channel.write(words('DONE', 0));
}
