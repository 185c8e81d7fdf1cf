import { crc32, inflateRawSync } from 'node:zlib';
import type { Content } from '../storage.ts';
import { type PackageManifest, readPackageManifest } from './package-manifest.ts';

/** A package file is a ZIP archive with a binary manifest. Signatures are neither created nor verified. */

const MANIFEST = 'AndroidManifest.xml';
const END_SIGNATURE = 0x06054b50;
const LISTED_SIGNATURE = 0x02014b50;
const LOCAL_SIGNATURE = 0x04034b50;
const END_BYTES = 22;
const LISTED_BYTES = 46;
const LOCAL_BYTES = 30;
const MAX_ENTRIES = 65_535;
const MAX_MANIFEST_BYTES = 4 * 1024 * 1024;
const STORED = 0;
const DEFLATED = 8;

/** The manifest of a package file; undefined when the file is not a package. Never throws. */
export function readPackageFile(content: Content): PackageManifest | undefined {
  try {
    const entry = findManifest(content);
    return entry && readPackageManifest(entry);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** Bytes at an offset of the file. Throws RangeError when they were not stored. */
function bytesAt(content: Content, at: number, length: number): Buffer {
  if (at + length <= content.head.length) return content.head.subarray(at, at + length);
  const tailAt = content.size - content.tail.length;
  if (at < tailAt || at + length > content.size) throw new RangeError('not stored');
  return content.tail.subarray(at - tailAt, at - tailAt + length);
}

function findManifest(content: Content): Buffer | undefined {
  const last = content.tail.length > 0 ? content.tail : content.head;
  const end = last.lastIndexOf(Buffer.from([0x50, 0x4b, 5, 6]));
  if (end === -1 || last.readUInt32LE(end) !== END_SIGNATURE) return undefined;
  const count = Math.min(last.readUInt16LE(end + 10), MAX_ENTRIES);
  let at = last.readUInt32LE(end + 16);
  for (let index = 0; index < count; index += 1) {
    const entry = bytesAt(content, at, LISTED_BYTES);
    if (entry.readUInt32LE(0) !== LISTED_SIGNATURE) return undefined;
    const nameBytes = entry.readUInt16LE(28);
    const name = bytesAt(content, at + LISTED_BYTES, nameBytes).toString('utf8');
    if (name === MANIFEST) {
      return unpack(content, entry.readUInt16LE(10), entry.readUInt32LE(20), entry.readUInt32LE(42));
    }
    at += LISTED_BYTES + nameBytes + entry.readUInt16LE(30) + entry.readUInt16LE(32);
  }
  return undefined;
}

function unpack(content: Content, method: number, size: number, at: number): Buffer | undefined {
  const local = bytesAt(content, at, LOCAL_BYTES);
  if (local.readUInt32LE(0) !== LOCAL_SIGNATURE || size > MAX_MANIFEST_BYTES) return undefined;
  const packed = bytesAt(content, at + LOCAL_BYTES + local.readUInt16LE(26) + local.readUInt16LE(28), size);
  if (method === STORED) return packed;
  if (method !== DEFLATED) return undefined;
  try {
    return inflateRawSync(packed, { maxOutputLength: MAX_MANIFEST_BYTES });
  } catch {
    return undefined;
  }
}

export interface PackageFileOptions {
  /** Such as `org.example.kiosk`. */
  readonly name: string;
  readonly versionCode?: number;
  readonly versionName?: string;
  readonly minSdk?: number;
  readonly isTestOnly?: boolean;
  /** Class of the main activity; `.Main` by default. */
  readonly activity?: string;
  /** Class of the receiver for device administration; null for none. `.Admin` by default. */
  readonly admin?: string | null;
  /** Minimum size; the padding is deterministic. */
  readonly bytes?: number;
}

/** A package file for a simulated tablet. A real one rejects it: it has no code and no signature. */
export function makePackageFile(options: PackageFileOptions): Buffer {
  const manifest = packManifest(options);
  const entries: { name: string; data: Buffer }[] = [{ name: MANIFEST, data: manifest }];
  const rest = (options.bytes ?? 0) - manifest.length;
  if (rest > 0) entries.push({ name: 'assets/filling', data: filling(rest) });
  const parts: Buffer[] = [];
  const listed: Buffer[] = [];
  let at = 0;
  for (const { name, data } of entries) {
    const local = Buffer.alloc(LOCAL_BYTES);
    local.writeUInt32LE(LOCAL_SIGNATURE, 0);
    local.writeUInt16LE(20, 4);
    local.writeUInt32LE(crc32(data), 14);
    local.writeUInt32LE(data.length, 18);
    local.writeUInt32LE(data.length, 22);
    local.writeUInt16LE(name.length, 26);
    const entry = Buffer.alloc(LISTED_BYTES);
    entry.writeUInt32LE(LISTED_SIGNATURE, 0);
    entry.writeUInt16LE(20, 4);
    local.copy(entry, 6, 4, 30);
    entry.writeUInt32LE(at, 42);
    parts.push(local, Buffer.from(name), data);
    listed.push(entry, Buffer.from(name));
    at += LOCAL_BYTES + name.length + data.length;
  }
  const list = Buffer.concat(listed);
  const end = Buffer.alloc(END_BYTES);
  end.writeUInt32LE(END_SIGNATURE, 0);
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(list.length, 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...parts, list, end]);
}

/** Pseudorandom bytes with a long period. */
function filling(bytes: number): Buffer {
  const data = Buffer.allocUnsafe(bytes);
  let state = 0x2545f491;
  for (let at = 0; at + 4 <= bytes; at += 4) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    data.writeInt32LE(state, at);
  }
  data.fill(0, bytes - (bytes % 4));
  return data;
}

const NONE = 0xffffffff;
const ANDROID = 'http://schemas.android.com/apk/res/android';
/** Android's attributes and their numbers; their names are first in the pool, in this order. */
const known = [
  ['name', 0x01010003],
  ['permission', 0x01010006],
  ['minSdkVersion', 0x0101020c],
  ['versionCode', 0x0101021b],
  ['versionName', 0x0101021c],
  ['targetSdkVersion', 0x01010270],
  ['testOnly', 0x01010272],
] as const;

type Attributes = Readonly<Record<string, string | number | boolean>>;

function packManifest(options: PackageFileOptions): Buffer {
  const { name, versionCode = 1, versionName = '1.0', minSdk = 24, isTestOnly = false } = options;
  const { activity = '.Main', admin = '.Admin' } = options;
  const pool: string[] = known.map(([attribute]) => attribute);
  const indexOf = (text: string) => {
    const index = pool.indexOf(text);
    return index === -1 ? pool.push(text) - 1 : index;
  };
  const chunks: Buffer[] = [];
  const start = (tag: string, attributes: Attributes) => chunks.push(startChunk(tag, attributes, indexOf));
  const end = (tag: string) => chunks.push(endChunk(tag, indexOf));
  const leaf = (tag: string, attributes: Attributes) => {
    start(tag, attributes);
    end(tag);
  };
  start('manifest', { package: name, versionCode, versionName });
  leaf('uses-sdk', { minSdkVersion: minSdk, targetSdkVersion: 33 });
  start('application', isTestOnly ? { testOnly: true } : {});
  start('activity', { name: activity });
  start('intent-filter', {});
  leaf('action', { name: 'android.intent.action.MAIN' });
  leaf('category', { name: 'android.intent.category.LAUNCHER' });
  leaf('category', { name: 'android.intent.category.HOME' });
  end('intent-filter');
  end('activity');
  if (admin !== null) leaf('receiver', { name: admin, permission: 'android.permission.BIND_DEVICE_ADMIN' });
  end('application');
  end('manifest');
  const ids = Buffer.alloc(8 + 4 * known.length);
  ids.writeUInt16LE(0x0180, 0);
  ids.writeUInt16LE(8, 2);
  ids.writeUInt32LE(ids.length, 4);
  for (const [index, [, id]] of known.entries()) ids.writeUInt32LE(id, 8 + 4 * index);
  const body = Buffer.concat([packPool(pool), ids, ...chunks]);
  const head = Buffer.alloc(8);
  head.writeUInt16LE(0x0003, 0);
  head.writeUInt16LE(8, 2);
  head.writeUInt32LE(8 + body.length, 4);
  return Buffer.concat([head, body]);
}

function packPool(pool: readonly string[]): Buffer {
  const texts = pool.map((text) => {
    const length = Buffer.alloc(2);
    length.writeUInt16LE(text.length);
    return Buffer.concat([length, Buffer.from(`${text}\0`, 'utf16le')]);
  });
  const strings = Buffer.concat(texts);
  const begin = 28 + 4 * pool.length;
  const padding = Buffer.alloc((4 - (strings.length % 4)) % 4);
  const head = Buffer.alloc(begin);
  head.writeUInt16LE(0x0001, 0);
  head.writeUInt16LE(28, 2);
  head.writeUInt32LE(begin + strings.length + padding.length, 4);
  head.writeUInt32LE(pool.length, 8);
  head.writeUInt32LE(begin, 20);
  let at = 0;
  for (const [index, text] of texts.entries()) {
    head.writeUInt32LE(at, 28 + 4 * index);
    at += text.length;
  }
  return Buffer.concat([head, strings, padding]);
}

function startChunk(tag: string, attributes: Attributes, indexOf: (text: string) => number): Buffer {
  const rows = Object.entries(attributes);
  const chunk = Buffer.alloc(36 + 20 * rows.length);
  chunk.writeUInt16LE(0x0102, 0);
  chunk.writeUInt16LE(16, 2);
  chunk.writeUInt32LE(chunk.length, 4);
  chunk.writeUInt32LE(1, 8);
  chunk.writeUInt32LE(NONE, 12);
  chunk.writeUInt32LE(NONE, 16);
  chunk.writeUInt32LE(indexOf(tag), 20);
  chunk.writeUInt16LE(20, 24);
  chunk.writeUInt16LE(20, 26);
  chunk.writeUInt16LE(rows.length, 28);
  for (const [index, [name, value]] of rows.entries()) {
    const at = 36 + 20 * index;
    chunk.writeUInt32LE(name === 'package' ? NONE : indexOf(ANDROID), at);
    chunk.writeUInt32LE(indexOf(name), at + 4);
    const text = typeof value === 'string' ? indexOf(value) : NONE;
    chunk.writeUInt32LE(text, at + 8);
    chunk.writeUInt16LE(8, at + 12);
    chunk.writeUInt8(typeof value === 'string' ? 0x03 : typeof value === 'number' ? 0x10 : 0x12, at + 15);
    chunk.writeUInt32LE(
      typeof value === 'string' ? text : typeof value === 'number' ? value : value ? NONE : 0,
      at + 16,
    );
  }
  return chunk;
}

function endChunk(tag: string, indexOf: (text: string) => number): Buffer {
  const chunk = Buffer.alloc(24);
  chunk.writeUInt16LE(0x0103, 0);
  chunk.writeUInt16LE(16, 2);
  chunk.writeUInt32LE(24, 4);
  chunk.writeUInt32LE(1, 8);
  chunk.writeUInt32LE(NONE, 12);
  chunk.writeUInt32LE(NONE, 16);
  chunk.writeUInt32LE(indexOf(tag), 20);
  return chunk;
}
