/**
 * Reading what the tablet answers. Every function takes any text and never throws: what cannot be read is null, and
 * null is never taken for a value. Shapes as Android 8 and later print them (vendor's source text; not measured on
 * a tablet of the platform).
 */

/** `getprop`: lines `[key]: [value]`; values may go over several lines. */
export function readProperties(text: string): ReadonlyMap<string, string> {
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
export function readSetting(text: string): string | null {
  const value = text.replace(/\r?\n$/, '');
  return value === 'null' || value === '' ? null : value;
}

/** `settings get secure android_id`: 64 bits in hex, without leading zeros; null for anything else. */
export function readAndroidId(text: string): string | null {
  return /^([0-9a-f]{1,16})\r?\n?$/.exec(text)?.[1] ?? null;
}

/** A whole number as Android prints it; null for anything else. */
export function readWhole(text: string | null | undefined): number | null {
  const number = text != null && /^-?\d{1,15}$/.test(text.trim()) ? Number(text.trim()) : null;
  return number;
}

/** `pm list packages --show-versioncode`: by package name its version code, null where none is shown. */
export function readPackages(text: string): ReadonlyMap<string, number | null> {
  const found = new Map<string, number | null>();
  for (const line of text.split(/\r?\n/)) {
    const match = /^package:([^\s=]+)(?:\s+versionCode:(\d{1,15}))?\s*$/.exec(line);
    if (match?.[1] !== undefined) found.set(match[1], match[2] === undefined ? null : Number(match[2]));
  }
  return found;
}

/** `wm density`: the density in use, in dots per inch: the override where there is one. */
export function readDensity(text: string): number | null {
  const physical = /^Physical density: (\d{1,6})\s*$/m.exec(text)?.[1];
  const override = /^Override density: (\d{1,6})\s*$/m.exec(text)?.[1];
  return readWhole(override ?? physical);
}

/** `media volume --get`: the step in use and the highest one. */
export function readVolume(text: string): { readonly index: number; readonly most: number } | null {
  const match = /volume is (\d{1,4}) in range \[\d{1,4}\.\.(\d{1,4})\]/.exec(text);
  if (match === null || Number(match[2]) === 0) return null;
  return { index: Number(match[1]), most: Number(match[2]) };
}

/** `df -k`: free bytes of the one file system asked for. A long device name may break the line in two. */
export function readFreeBytes(text: string): number | null {
  const [head = '', ...rows] = text.trim().split(/\r?\n/);
  if (!/1K-blocks/.test(head)) return null;
  const match = /\s(\d{1,15})\s{1,40}(\d{1,15})\s{1,40}(\d{1,15})\s{1,40}\d{1,3}%\s{1,40}\S/.exec(` ${rows.join(' ')}`);
  return match === null ? null : Number(match[3]) * 1024;
}

/** `sha256sum FILE`: the digest. */
export function readDigest(text: string): string | null {
  return /^([0-9a-f]{64})(?:\s|$)/.exec(text)?.[1] ?? null;
}

/** A component as Android writes it, `package/class`, with the short class name made whole. */
export function wholeComponent(text: string): string {
  const [name = '', className = ''] = text.split('/');
  return className.startsWith('.') ? `${name}/${name}${className}` : `${name}/${className}`;
}

/**
 * `dumpsys device_policy`: the device owner's component, in whole; null when there is none, undefined when the text
 * is none of this service.
 */
export function readDeviceOwner(text: string): string | null | undefined {
  const owner = /^[^\S\n]*Device Owner:[^\n]*\n((?:[^\n]*\n?){0,4})/m.exec(text);
  if (owner !== null) {
    const component = /admin=ComponentInfo\{([^\s/{}]+\/[^\s{}]+)\}/.exec(owner[1] ?? '')?.[1];
    return component === undefined ? undefined : wholeComponent(component);
  }
  return /Device Policy Manager/i.test(text) ? null : undefined;
}

export type LockTaskMode = 'LOCKED' | 'PINNED' | 'NONE';

/** `dumpsys activity activities`: whether the tablet is locked into one application. */
export function readLockTaskMode(text: string): LockTaskMode | null {
  const mode = /mLockTaskModeState=(LOCKED|PINNED|NONE)\b/.exec(text)?.[1];
  return (mode as LockTaskMode | undefined) ?? null;
}

/** What is in front on the screen. */
export interface FrontActivity {
  /** `package/class`, in whole. */
  readonly component: string;
  /** The address that it was first started with, as far as Android shows it; null when none is shown. */
  readonly data: string | null;
}

/** `dumpsys activity activities`: the activity in front; null when none is told. */
export function readFrontActivity(text: string): FrontActivity | null {
  const line =
    /(?:mResumedActivity|topResumedActivity|ResumedActivity)\s*[:=]\s*ActivityRecord\{(\S{1,40}) u\d+ ([^\s/}]+\/[^\s}]+)/;
  const front = line.exec(text);
  if (front === null) return null;
  const [, hash = '', component = ''] = front;
  return { component: wholeComponent(component), data: firstData(text, hash) };
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

/** Whether what Android shows of an address fits the whole one; newer versions cut the path: `http://host:1/...`. */
export function showsPage(shown: string, page: string): 'same' | 'as-far-as-shown' | 'other' {
  if (shown === page) return 'same';
  if (shown.endsWith('/...') && page.startsWith(shown.slice(0, -3))) return 'as-far-as-shown';
  return 'other';
}

/** `ip -f inet -o addr show`: IPv4 addresses by interface, without the one for the tablet itself (`lo`). */
export function readAddresses(text: string): readonly { readonly name: string; readonly address: string }[] {
  const found: { name: string; address: string }[] = [];
  for (const [, name = '', address = ''] of text.matchAll(
    /^\d{1,6}:\s{1,8}([^\s:@]{1,40})\S{0,40}\s{1,40}inet (\d{1,3}(?:\.\d{1,3}){3})\b/gm,
  )) {
    const isSound = address.split('.').every((part) => Number(part) <= 255);
    if (isSound && name !== 'lo') found.push({ name, address });
  }
  return found;
}

/** `cmd wifi status`: the network's name; null when not connected, undefined when not told. */
export function readSsid(text: string): string | null | undefined {
  const name = /^Wifi is connected to "(.{0,64}?)"\s*$/m.exec(text)?.[1];
  if (name !== undefined) return name;
  return /^Wifi is (?:not connected|disabled|disconnected)/m.test(text) ? null : undefined;
}
