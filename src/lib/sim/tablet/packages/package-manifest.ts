/**
 * Parser of the binary manifest of a package, for the fields that an installation needs: chunks with type, head length
 * and length; a pool of strings; elements with attributes that refer to strings by number. Source: Android's headers.
 */

export interface PackageManifest {
  readonly name: string;
  readonly versionCode: number;
  readonly versionName: string;
  readonly minSdk: number;
  readonly targetSdk: number;
  readonly isTestOnly: boolean;
  /** Full class names. */
  readonly activities: readonly { readonly name: string; readonly isMain: boolean; readonly isHome: boolean }[];
  /** Receivers for device administration. */
  readonly admins: readonly string[];
}

const chunkType = { pool: 0x0001, file: 0x0003, start: 0x0102, end: 0x0103, resourceMap: 0x0180 } as const;
const UTF8_POOL = 0x100;
const NONE = 0xffffffff;
const TYPE_STRING = 0x03;
const MAX_STRINGS = 20_000;
const MAX_ELEMENTS = 20_000;
/** Maximum per kind; further ones are ignored. */
const MAX_PARTS = 200;
const MAX_NAME_LENGTH = 300;

/** Numbers that packages use in place of attribute names. */
const attributeIds: ReadonlyMap<number, string> = new Map([
  [0x01010003, 'name'],
  [0x01010006, 'permission'],
  [0x0101020c, 'minSdkVersion'],
  [0x0101021b, 'versionCode'],
  [0x0101021c, 'versionName'],
  [0x01010270, 'targetSdkVersion'],
  [0x01010272, 'testOnly'],
]);

interface Element {
  readonly tag: string;
  readonly attributes: ReadonlyMap<string, string | number>;
}

/** Parses a binary manifest; undefined when it is malformed. Never throws. */
export function readPackageManifest(bytes: Buffer): PackageManifest | undefined {
  try {
    return manifestOf(elementsOf(bytes));
  } catch (error) {
    // A read beyond the end of the buffer throws RangeError.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** Elements in order; undefined marks the end of an element. */
function elementsOf(bytes: Buffer): (Element | undefined)[] {
  if (bytes.readUInt16LE(0) !== chunkType.file) return [];
  let strings: readonly string[] = [];
  let ids: readonly number[] = [];
  const elements: (Element | undefined)[] = [];
  for (let at = bytes.readUInt16LE(2); at + 8 <= bytes.length && elements.length < MAX_ELEMENTS; ) {
    const size = bytes.readUInt32LE(at + 4);
    if (size < 8 || at + size > bytes.length) return elements;
    const chunk = bytes.subarray(at, at + size);
    const type = chunk.readUInt16LE(0);
    if (type === chunkType.pool) strings = readPool(chunk);
    else if (type === chunkType.resourceMap) ids = readIds(chunk);
    else if (type === chunkType.start) elements.push(readElement(chunk, strings, ids));
    else if (type === chunkType.end) elements.push(undefined);
    at += size;
  }
  return elements;
}

function readPool(chunk: Buffer): string[] {
  const count = Math.min(chunk.readUInt32LE(8), MAX_STRINGS);
  const isUtf8 = (chunk.readUInt32LE(16) & UTF8_POOL) !== 0;
  const begin = chunk.readUInt32LE(20);
  const table = chunk.readUInt16LE(2);
  return Array.from({ length: count }, (_, index) => {
    let at = begin + chunk.readUInt32LE(table + 4 * index);
    if (isUtf8) {
      at += chunk.readUInt8(at) & 0x80 ? 2 : 1;
      const first = chunk.readUInt8(at);
      const length = first & 0x80 ? ((first & 0x7f) << 8) | chunk.readUInt8(at + 1) : first;
      at += first & 0x80 ? 2 : 1;
      return chunk.toString('utf8', at, at + length);
    }
    const first = chunk.readUInt16LE(at);
    const length = first & 0x8000 ? ((first & 0x7fff) << 16) | chunk.readUInt16LE(at + 2) : first;
    at += first & 0x8000 ? 4 : 2;
    return chunk.toString('utf16le', at, at + 2 * length);
  });
}

function readIds(chunk: Buffer): number[] {
  const count = Math.min((chunk.length - 8) >> 2, MAX_STRINGS);
  return Array.from({ length: count }, (_, index) => chunk.readUInt32LE(8 + 4 * index));
}

function readElement(chunk: Buffer, strings: readonly string[], ids: readonly number[]): Element {
  const head = chunk.readUInt16LE(2);
  const attributes = new Map<string, string | number>();
  const begin = head + chunk.readUInt16LE(head + 8);
  const step = Math.max(20, chunk.readUInt16LE(head + 10));
  const count = chunk.readUInt16LE(head + 12);
  for (let index = 0; index < count; index += 1) {
    const at = begin + index * step;
    const nameIndex = chunk.readUInt32LE(at + 4);
    const name = attributeIds.get(ids[nameIndex] ?? 0) ?? strings[nameIndex] ?? '';
    const raw = chunk.readUInt32LE(at + 8);
    const type = chunk.readUInt8(at + 15);
    const data = chunk.readUInt32LE(at + 16);
    const text = strings[type === TYPE_STRING ? data : raw];
    attributes.set(name, type === TYPE_STRING || raw !== NONE ? (text ?? '') : data);
  }
  return { tag: strings[chunk.readUInt32LE(head + 4)] ?? '', attributes };
}

function manifestOf(elements: readonly (Element | undefined)[]): PackageManifest | undefined {
  const [root] = elements;
  const name = text(root?.attributes.get('package'));
  if (root?.tag !== 'manifest' || !isPackageName(name)) return undefined;
  let minSdk = 1;
  let targetSdk: number | undefined;
  let isTestOnly = false;
  const activities: { name: string; isMain: boolean; isHome: boolean }[] = [];
  const admins: string[] = [];
  let isInActivity = false;
  const path: string[] = [];
  for (const element of elements) {
    if (!element) {
      if (isActivity(path.pop())) isInActivity = false;
      continue;
    }
    path.push(element.tag);
    const { attributes } = element;
    const named = text(attributes.get('name'));
    if (element.tag === 'uses-sdk') {
      minSdk = number(attributes.get('minSdkVersion')) ?? minSdk;
      targetSdk = number(attributes.get('targetSdkVersion'));
    } else if (element.tag === 'application') isTestOnly = (number(attributes.get('testOnly')) ?? 0) !== 0;
    else if (isActivity(element.tag)) {
      isInActivity = activities.length < MAX_PARTS;
      if (isInActivity) activities.push({ name: classOf(name, named), isMain: false, isHome: false });
    } else if (element.tag === 'receiver') {
      const isAdmin = attributes.get('permission') === 'android.permission.BIND_DEVICE_ADMIN';
      if (isAdmin && admins.length < MAX_PARTS) admins.push(classOf(name, named));
    } else if (isInActivity) {
      const last = activities.at(-1);
      if (last && named === 'android.intent.action.MAIN') last.isMain = true;
      if (last && named === 'android.intent.category.HOME') last.isHome = true;
    }
  }
  return {
    name,
    versionCode: number(root.attributes.get('versionCode')) ?? 0,
    versionName: text(root.attributes.get('versionName')),
    minSdk,
    targetSdk: targetSdk ?? minSdk,
    isTestOnly,
    activities,
    admins,
  };
}

function isPackageName(name: string): boolean {
  return name.length <= 223 && /^[A-Za-z]\w*(\.[A-Za-z]\w*)+$/.test(name);
}

/** The full name of a class; `.Main` is relative to the package. */
export function classOf(packageName: string, name: string): string {
  if (name.startsWith('.')) return packageName + name;
  return name.includes('.') ? name : `${packageName}.${name}`;
}

const isActivity = (tag: string | undefined) => tag === 'activity' || tag === 'activity-alias';
const text = (value: string | number | undefined) => (typeof value === 'string' ? value.slice(0, MAX_NAME_LENGTH) : '');
const number = (value: string | number | undefined) => (typeof value === 'number' ? value : undefined);
