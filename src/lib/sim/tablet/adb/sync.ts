import { type Entry, Refused, type Storage } from '../storage.ts';
import type { Channel } from './channel.ts';

/**
 * The file service in the stream `sync:`, in its first version. A request is four letters, a little-endian length and
 * the path. Source: Android's documentation.
 */

const MAX_PATH_LENGTH = 1024;
const MAX_PIECE_BYTES = 64 * 1024;
const MAX_BATCH_BYTES = 3 * MAX_PIECE_BYTES;

const words = (id: string, ...numbers: number[]) =>
  Buffer.concat([Buffer.from(id, 'latin1'), Buffer.from(Uint32Array.from(numbers).buffer)]);

const fail = (text: string) => {
  const message = Buffer.from(text);
  return Buffer.concat([words('FAIL', message.length), message]);
};

const facts = ({ content, mode, mtimeS }: Entry) => [mode, content?.size ?? 4096, mtimeS] as const;

/** Serves requests until the peer ends or violates the protocol. */
export async function serveSync(channel: Channel, storage: Storage): Promise<void> {
  for (let isGoing = true; isGoing; ) {
    const head = await channel.exactly(8);
    if (!head) return;
    const length = head.readUInt32LE(4);
    const path = length > MAX_PATH_LENGTH ? undefined : await channel.exactly(length);
    if (!path) {
      await channel.write(fail('path too long'));
      return;
    }
    isGoing = await answer(head.toString('latin1', 0, 4), path.toString('utf8'), channel, storage);
  }
}

/** What `work` returns; for a refusal what `otherwise` makes of its text. */
function attempt<T, U>(work: () => T, otherwise: (text: string) => U): T | U {
  try {
    return work();
  } catch (error) {
    if (error instanceof Refused) return otherwise(error.message);
    throw error;
  }
}

/** False when the stream is to be closed. */
async function answer(id: string, path: string, channel: Channel, storage: Storage): Promise<boolean> {
  switch (id) {
    case 'QUIT':
      return false;
    case 'STAT': {
      const found = attempt(
        () => facts(storage.find(path)),
        () => [0, 0, 0],
      );
      return channel.write(words('STAT', ...found));
    }
    case 'LIST': {
      const rows = attempt(
        () => storage.list(path),
        () => [],
      );
      const answers = rows.map(([name, entry]) => {
        const text = Buffer.from(name);
        return Buffer.concat([words('DENT', ...facts(entry), text.length), text]);
      });
      return channel.write(Buffer.concat([...answers, words('DONE', 0, 0, 0, 0)]));
    }
    case 'SEND':
      return receive(channel, storage, path);
    case 'RECV':
      return give(channel, storage, path);
    default:
      await channel.write(fail('unknown command'));
      return false;
  }
}

/** Receives a file. After a failure the rest is read and discarded. */
async function receive(channel: Channel, storage: Storage, request: string): Promise<boolean> {
  const [, path = '', mode] = /^(.*),(\d{1,10})$/s.exec(request) ?? [];
  using sink = storage.openSink();
  const create = (work: () => void) =>
    attempt(
      () => void work(),
      (text) => `couldn't create file: ${text}`,
    );
  let problem = mode === undefined ? 'missing mode' : create(() => storage.assertCreatable(path));
  if (problem !== undefined) await channel.write(fail(problem));
  for (;;) {
    const head = await channel.exactly(8);
    if (!head) return false;
    const id = head.toString('latin1', 0, 4);
    const length = head.readUInt32LE(4);
    if (id === 'DONE') {
      if (problem !== undefined) return false;
      problem = create(() => storage.write(path, sink.finish(), Number(mode), length));
      return channel.write(problem === undefined ? words('OKAY', 0) : fail(problem));
    }
    if (id !== 'DATA' || length > MAX_PIECE_BYTES) {
      if (problem === undefined) await channel.write(fail('invalid data message'));
      return false;
    }
    for (let missing = length; missing > 0; ) {
      const bytes = await channel.some(missing);
      if (!bytes) return false;
      missing -= bytes.length;
      if (problem === undefined && !sink.add(bytes)) {
        problem = 'write failed: No space left on device';
        await channel.write(fail(problem));
      }
    }
  }
}

async function give(channel: Channel, storage: Storage, path: string): Promise<boolean> {
  const content = attempt(
    () => storage.bytes(path),
    (text) => `open failed: ${text}`,
  );
  if (typeof content === 'string') return channel.write(fail(content));
  // Several pieces per frame, since every frame needs an acknowledgement.
  for (let at = 0; at < content.length; at += MAX_BATCH_BYTES) {
    const batch: Buffer[] = [];
    for (let from = at; from < Math.min(at + MAX_BATCH_BYTES, content.length); from += MAX_PIECE_BYTES) {
      const piece = content.subarray(from, from + MAX_PIECE_BYTES);
      batch.push(words('DATA', piece.length), piece);
    }
    if (!(await channel.write(Buffer.concat(batch)))) return false;
  }
  return channel.write(words('DONE', 0));
}
