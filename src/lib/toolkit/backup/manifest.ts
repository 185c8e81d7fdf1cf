import { isAbsolute, join, normalize, relative } from 'node:path';
import { z } from 'zod';
import { quote, readJsonBytes } from '../../json/index.ts';

export const MANIFEST_NAME = 'manifest.json';
/** Opened by `age -d`: a tar.gz with a manifest of its own and the secret files. */
export const SECRETS_NAME = 'secrets.age';

/** Project decisions: above everything that a gateway keeps, see docs/gateway.md. */
export const bounds = {
  entries: 50_000,
  manifestBytes: 32 * 1024 * 1024,
  secretsBytes: 16 * 1024 * 1024,
  totalBytes: 64 * 1024 ** 3,
  pathChars: 1_024,
} as const;

/** Reasons in the manifest for which a file is left out by choice; with any other one it could not be read. */
export const choices = {
  secret: 'it is secret, and there is no passphrase',
  credential: 'it is a credential of systemd, made when the service starts',
  media: 'media were not asked for',
} as const;

const FORMAT = 'gw/gateway-backup/1';
const SECRETS_FORMAT = 'gw/gateway-secrets/1';

/** Where a file was: relative to the folder of the site file, with `/`; absolute for one outside of it. */
const path = z.string().max(bounds.pathChars).refine(isPlainPath, 'a plain path');
const bytes = z.int().min(0).max(bounds.totalBytes);
const sha256 = z.string().regex(/^[0-9a-f]{64}$/, '64 lower-case hex digits');
const text = z.string().max(4_096);

const file = z.strictObject({ path, holds: text, bytes, sha256 });
const leftOut = z.strictObject({ path: text, holds: text, reason: text, anew: text });

const manifestSchema = z.strictObject({
  format: z.literal(FORMAT),
  createdAt: z.iso.datetime(),
  gwVersion: text,
  host: text,
  serial: text,
  /** Absolute folder of the site file, and its name there. */
  siteDir: text.refine(isAbsolute, 'an absolute path'),
  siteFile: z.string().max(255).refine(isName, 'the name of a file'),
  files: z.array(file).max(bounds.entries),
  /** Names only: a sum of a short secret would give it away. null: left out, or none. */
  secrets: z
    .strictObject({
      bytes: z.int().min(0).max(bounds.secretsBytes),
      sha256,
      files: z.array(z.strictObject({ path, holds: text, anew: text })).max(1_000),
    })
    .nullable(),
  leftOut: z.array(leftOut).max(bounds.entries),
});

/** `manifest.json`, the first file of the archive. */
export type BackupManifest = z.infer<typeof manifestSchema>;
export type BackedUpFile = BackupManifest['files'][number];

const secretsSchema = z.strictObject({
  format: z.literal(SECRETS_FORMAT),
  files: z.array(z.strictObject({ path, bytes, sha256 })).max(1_000),
});
type SecretsManifest = z.infer<typeof secretsSchema>;

type Reading<T> = { readonly manifest: T } | { readonly problems: readonly string[] };

export const manifestText = (manifest: Omit<BackupManifest, 'format'>) => textOf({ format: FORMAT, ...manifest });
export const secretsText = (files: SecretsManifest['files']) => textOf({ format: SECRETS_FORMAT, files });
const textOf = (value: object) => `${JSON.stringify(value, null, 1)}\n`;

/** Every problem of its shape, or the manifest: no path twice, none that is another one's folder. */
export function readManifest(body: Uint8Array): Reading<BackupManifest> {
  const reading = parse(body, manifestSchema);
  if ('problems' in reading) return reading;
  const { files, secrets, siteFile } = reading.manifest;
  const problems = pathProblems([...files, ...(secrets?.files ?? [])].map((each) => each.path));
  if (!files.some((each) => each.path === siteFile)) problems.push(`${MANIFEST_NAME} has no site file`);
  return problems.length > 0 ? { problems } : reading;
}

/** The same of the encrypted part. */
export function readSecretsManifest(body: Uint8Array): Reading<SecretsManifest> {
  const reading = parse(body, secretsSchema);
  if ('problems' in reading) return reading;
  const problems = pathProblems(reading.manifest.files.map((each) => each.path));
  return problems.length > 0 ? { problems } : reading;
}

function parse<T>(body: Uint8Array, schema: z.ZodType<T>): Reading<T> {
  const read = readJsonBytes(body, 'file');
  if (!read.ok) return { problems: [`${MANIFEST_NAME}: ${read.problem}`] };
  const parsed = schema.safeParse(read.value);
  if (parsed.success) return { manifest: parsed.data };
  const shown = parsed.error.issues.slice(0, 20);
  return { problems: shown.map((issue) => `${MANIFEST_NAME}: ${issue.path.join('.')}: ${issue.message}`) };
}

function pathProblems(paths: readonly string[]): string[] {
  const all = new Set<string>();
  const twice = paths.filter((each) => all.size === all.add(each).size);
  const inFiles = paths.filter((each) => foldersOf(each).some((folder) => all.has(folder)));
  return [
    ...twice.map((each) => `${quote(each)} is there twice`),
    ...inFiles.map((each) => `${quote(each)} is in a folder that is a file`),
  ];
}

function foldersOf(each: string): string[] {
  const parts = each.split('/');
  return parts.slice(1).map((_, at) => parts.slice(0, at + 1).join('/'));
}

/** Name of a file in the archive. */
export const memberName = (each: string) => (isAbsolute(each) ? `outside${each}` : `site/${each}`);

/** Path of a file in an archive; null for a name that no archive may have. */
export function archivePath(siteDir: string, absolute: string): string | null {
  const inside = relative(siteDir, absolute);
  const isInside = inside !== '' && inside !== '..' && !inside.startsWith('../') && !isAbsolute(inside);
  const found = isInside ? inside : absolute;
  return found.length <= bounds.pathChars && isPlainPath(found) ? found : null;
}

/** Path of a file on a machine whose site file is in `siteDir`. */
export const placeOf = (siteDir: string, each: string) => (isAbsolute(each) ? each : join(siteDir, each));

function isPlainPath(each: string): boolean {
  // Control characters, lone surrogates and U+FFFD, which stands for bytes that are no text.
  if (/[\p{Cc}\p{Cs}\uFFFD]/u.test(each) || each.endsWith('/') || normalize(each) !== each) return false;
  const names = (each.startsWith('/') ? each.slice(1) : each).split('/');
  return names.every((name) => name !== '' && name !== '.' && name !== '..' && Buffer.byteLength(name) <= 255);
}

function isName(each: string): boolean {
  return !each.includes('/') && isPlainPath(each);
}
