import { z } from 'zod';
import type { Content } from '../storage.ts';

/**
 * A package file of the simulator: one line with its manifest as JSON, then padding. Neither gw nor `adb` reads what is
 * in a package, so a real one is refused as no package here, as a real tablet refuses these.
 */

const MAGIC = 'gw-simulated-package ';
const MAX_MANIFEST_BYTES = 8_192;
const className = z.string().max(300);

const manifestSchema = z.strictObject({
  name: z
    .string()
    .max(223)
    .regex(/^[A-Za-z]\w*(\.[A-Za-z]\w*)+$/),
  versionCode: z.int().nonnegative(),
  versionName: z.string().max(300),
  minSdk: z.int().nonnegative(),
  targetSdk: z.int().nonnegative(),
  isTestOnly: z.boolean(),
  /** Full class names. */
  activities: z.array(z.strictObject({ name: className, isMain: z.boolean(), isHome: z.boolean() })).max(200),
  /** Receivers for device administration. */
  admins: z.array(className).max(200),
});
export type PackageManifest = z.infer<typeof manifestSchema>;

/** Of the whole file, so that a shortened one is noticed. */
const fileSchema = z.strictObject({ bytes: z.int(), manifest: manifestSchema });

/** The manifest of a package file; undefined when the file is not a package. Never throws. */
export function readPackageFile({ head, size }: Content): PackageManifest | undefined {
  const line = head.subarray(0, MAX_MANIFEST_BYTES).toString('utf8').split('\n', 1)[0] ?? '';
  if (!line.startsWith(MAGIC)) return undefined;
  try {
    const { bytes, manifest } = fileSchema.parse(JSON.parse(line.slice(MAGIC.length)));
    return bytes === size ? manifest : undefined;
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
  /** Minimum size; the padding is deterministic. */
  readonly bytes?: number;
}

/** A package file for a simulated tablet, with the activity `.Main` and the administrator `.Admin`. */
export function makePackageFile({ name, bytes = 0, ...options }: PackageFileOptions): Buffer {
  const { versionCode = 1, versionName = '1.0', minSdk = 24, isTestOnly = false } = options;
  const activities = [{ name: classOf(name, '.Main'), isMain: true, isHome: true }];
  const admins = [classOf(name, '.Admin')];
  const manifest = { name, versionCode, versionName, minSdk, targetSdk: 33, isTestOnly, activities, admins };
  const lineFor = (total: number) => `${MAGIC}${JSON.stringify({ bytes: total, manifest })}\n`;
  const total = Math.max(bytes, lineFor(bytes).length + 8);
  const line = Buffer.from(lineFor(total));
  return Buffer.concat([line, filling(total - line.length)]);
}

/** Pseudorandom bytes with a long period. */
function filling(bytes: number): Buffer {
  const data = Buffer.alloc(bytes);
  let state = 0x2545f491;
  for (let at = 0; at + 4 <= bytes; at += 4) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    data.writeInt32LE(state, at);
  }
  return data;
}

/** The full name of a class; `.Main` is relative to the package. */
export function classOf(packageName: string, name: string): string {
  if (name.startsWith('.')) return packageName + name;
  return name.includes('.') ? name : `${packageName}.${name}`;
}
