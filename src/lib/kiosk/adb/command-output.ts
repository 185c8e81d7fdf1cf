/**
 * Parsers for the output of commands on the tablet. They accept any text and never throw; null is 'not parsed', never a
 * value. Formats of Android 8 and later (Android's source code; not measured on a tablet of the platform).
 */

/** `getprop`: lines `[key]: [value]`; a value may span several lines. */
export function parseProperties(text: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  let open: { readonly key: string; readonly lines: string[] } | undefined;
  for (const row of text.split('\n')) {
    const line = row.replace(/\r$/, '');
    const start = /^\[([^\]]{1,200})\]: \[/.exec(line);
    if (start?.[1] !== undefined) open = { key: start[1], lines: [line.slice(start[0].length)] };
    else open?.lines.push(line);
    if (open === undefined || !line.endsWith(']')) continue;
    found.set(open.key, open.lines.join('\n').slice(0, -1));
    open = undefined;
  }
  return found;
}

/** `settings get`: one line; null where the setting is unset. */
export function parseSetting(text: string): string | null {
  const value = text.replace(/\r?\n$/, '');
  return value === 'null' || value === '' ? null : value;
}

/** `settings get secure android_id`: 64 bits in hex, without leading zeros; null for anything else. */
export function parseAndroidId(text: string): string | null {
  return /^([0-9a-f]{1,16})\r?\n?$/.exec(text)?.[1] ?? null;
}

/** A decimal integer; null for anything else. */
export function parseInteger(text: string | null | undefined): number | null {
  const number = text != null && /^-?\d{1,15}$/.test(text.trim()) ? Number(text.trim()) : null;
  return number;
}

export interface PackageList {
  /** Version codes by package name; null where none is printed. */
  readonly packages: ReadonlyMap<string, number | null>;
  /** The first line that is no package; null: none. A package that is not in the list may stand there. */
  readonly unread: string | null;
}

/** `pm list packages`, with or without `--show-versioncode`. */
export function parsePackages(text: string): PackageList {
  const packages = new Map<string, number | null>();
  let unread: string | null = null;
  for (const line of text.split(/\r?\n/)) {
    const match = /^package:([^\s=]+)(?:\s+versionCode:(\d{1,15}))?\s*$/.exec(line);
    if (match?.[1] !== undefined) packages.set(match[1], match[2] === undefined ? null : Number(match[2]));
    else if (line.trim() !== '') unread ??= line;
  }
  return { packages, unread };
}

/** `wm density`: the effective density in dots per inch, that is the override if set. */
export function parseDensity(text: string): number | null {
  const physical = /^Physical density: (\d{1,6})\s*$/m.exec(text)?.[1];
  const override = /^Override density: (\d{1,6})\s*$/m.exec(text)?.[1];
  return parseInteger(override ?? physical);
}

/** `media volume --get`: the current step and the highest one. */
export function parseVolume(text: string): { readonly index: number; readonly max: number } | null {
  const match = /volume is (\d{1,4}) in range \[\d{1,4}\.\.(\d{1,4})\]/.exec(text);
  if (match === null || Number(match[2]) === 0) return null;
  return { index: Number(match[1]), max: Number(match[2]) };
}

/** `df -k`: free bytes of the queried file system. A long device name may wrap the line. */
export function parseFreeBytes(text: string): number | null {
  const [head = '', ...rows] = text.trim().split(/\r?\n/);
  if (!/1K-blocks/.test(head)) return null;
  const match = /\s(\d{1,15})\s{1,40}(\d{1,15})\s{1,40}(\d{1,15})\s{1,40}\d{1,3}%\s{1,40}\S/.exec(` ${rows.join(' ')}`);
  return match === null ? null : Number(match[3]) * 1024;
}

/** `sha256sum FILE`: the digest. */
export function parseDigest(text: string): string | null {
  return /^([0-9a-f]{64})(?:\s|$)/.exec(text)?.[1] ?? null;
}

/** A component `package/class` with its class name expanded. */
export function fullComponent(text: string): string {
  const [name = '', className = ''] = text.split('/');
  return className.startsWith('.') ? `${name}/${name}${className}` : `${name}/${className}`;
}

/**
 * `dumpsys device_policy`: the component of the device owner, expanded; null: no device owner, undefined: not an output
 * of this service.
 */
export function parseDeviceOwner(text: string): string | null | undefined {
  const owner = /^[ \t]*Device Owner:[^\n]*\n((?:[^\n]*\n?){0,4})/m.exec(text);
  if (owner !== null) {
    const component = /admin=ComponentInfo\{([^\s/{}]+\/[^\s{}]+)\}/.exec(owner[1] ?? '')?.[1];
    return component === undefined ? undefined : fullComponent(component);
  }
  return /Device Policy Manager/i.test(text) ? null : undefined;
}

export type LockTaskMode = 'LOCKED' | 'PINNED' | 'NONE';

/** `dumpsys activity activities`: the lock task mode. */
export function parseLockTaskMode(text: string): LockTaskMode | null {
  const mode = /mLockTaskModeState=(LOCKED|PINNED|NONE)\b/.exec(text)?.[1];
  return (mode as LockTaskMode | undefined) ?? null;
}

/** The activity in the foreground. */
export interface FrontActivity {
  /** `package/class`, expanded. */
  readonly component: string;
  /** URL of its first start, as printed by Android; null when none is printed. */
  readonly data: string | null;
}

/** `dumpsys activity activities`: the activity in the foreground; null when none is listed. */
export function parseFrontActivity(text: string): FrontActivity | null {
  const line =
    /(?:mResumedActivity|topResumedActivity|ResumedActivity)\s*[:=]\s*ActivityRecord\{(\S{1,40}) u\d+ ([^\s/}]+\/[^\s}]+)/;
  const match = line.exec(text);
  if (match === null) return null;
  const [, hash = '', component = ''] = match;
  return { component: fullComponent(component), data: firstData(text, hash) };
}

function firstData(text: string, hash: string): string | null {
  const lines = text.split(/\r?\n/);
  const start = lines.findIndex((line) => /\bHist\b/.test(line) && line.includes(`ActivityRecord{${hash} `));
  if (start < 0) return null;
  for (const line of lines.slice(start + 1, start + 40)) {
    if (/\bHist\b/.test(line)) return null;
    const intent = /^\s*Intent \{(.*)\}\s*$/.exec(line)?.[1];
    if (intent !== undefined) return /(?:^|\s)dat=(\S+)/.exec(intent)?.[1] ?? null;
  }
  return null;
}

/** Compares a printed URL with a page; newer Android versions omit the path: `http://host:1/...`. */
export function comparePage(printed: string, page: string): 'same' | 'prefix' | 'other' {
  if (printed === page) return 'same';
  if (printed.endsWith('/...') && page.startsWith(printed.slice(0, -3))) return 'prefix';
  return 'other';
}

/** `ip -f inet -o addr show`: IPv4 addresses with their interface, without loopback (`lo`). */
export function parseAddresses(text: string): readonly { readonly name: string; readonly address: string }[] {
  const found: { name: string; address: string }[] = [];
  for (const [, name = '', address = ''] of text.matchAll(
    /^\d{1,6}:\s{1,8}([^\s:@]{1,40})\S{0,40}\s{1,40}inet (\d{1,3}(?:\.\d{1,3}){3})\b/gm,
  )) {
    const isValid = address.split('.').every((part) => Number(part) <= 255);
    if (isValid && name !== 'lo') found.push({ name, address });
  }
  return found;
}

/** `cmd wifi status`: the SSID; null: not connected, undefined: not reported. */
export function parseSsid(text: string): string | null | undefined {
  const name = /^Wifi is connected to "(.{0,64}?)"\s*$/m.exec(text)?.[1];
  if (name !== undefined) return name;
  return /^Wifi is (?:not connected|disabled|disconnected)/m.test(text) ? null : undefined;
}
