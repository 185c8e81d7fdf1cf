import { z } from 'zod';
import { quote, readJsonBytes } from '../../json/index.ts';
import { isVersion } from './version.ts';

export const MANIFEST_NAME = 'manifest.json';
export const SIGNATURE_NAME = 'manifest.sig';
/** The file that the launcher starts. */
const PROGRAM_PATH = 'bin/run.js';

const MiB = 1024 * 1024;

/** Limits of a package. Project decisions. */
export const packageLimits = {
  manifestBytes: 8 * MiB,
  files: 20_000,
  pathBytes: 1_024,
  elementBytes: 255,
  /** Sum of all files. */
  totalBytes: 1_024 * MiB,
  /** The tar: files, headers, padding. */
  packageBytes: 1_100 * MiB,
} as const;

/** Problems listed of one manifest or package; further ones are counted. */
export const MAX_PROBLEMS = 20;

const version = z.string().refine(isVersion, 'expected a version such as 1.2.3');

/**
 * `manifest.json`, the first entry of a package (tar). `manifest.sig`, the second, is its Ed25519 signature: 64 bytes
 * over the bytes of `manifest.json`. All further entries are the listed files.
 */
const shape = z.strictObject({
  schema: z.literal('gw/release/1'),
  version,
  /** Oldest version that may be replaced by this one. */
  minimumVersion: version,
  files: z
    .array(
      z.strictObject({
        /** Relative, with `/`, without `.`, `..` and empty elements. */
        path: z.string(),
        bytes: z.int().min(0).max(packageLimits.totalBytes),
        sha256: z.string().regex(/^[0-9a-f]{64}$/, 'expected 64 lower-case hex digits'),
        executable: z.boolean().optional(),
      }),
    )
    .max(packageLimits.files),
});

export type ReleaseManifest = z.infer<typeof shape>;

export type ManifestReading =
  | { readonly ok: true; readonly manifest: ReleaseManifest }
  | { readonly ok: false; readonly problems: readonly string[] };

/** Parses the manifest of a package, and checks that its paths can be unpacked into one folder. */
export function readManifest(bytes: Uint8Array): ManifestReading {
  const reading = readJsonBytes(bytes, MANIFEST_NAME);
  if (!reading.ok) return { ok: false, problems: [`${MANIFEST_NAME}: ${reading.problem}`] };
  const parsed = shape.safeParse(reading.value);
  if (!parsed.success) {
    const problems = parsed.error.issues.flatMap(issueTexts).map((text) => `${MANIFEST_NAME}: ${text}`);
    return { ok: false, problems };
  }
  const manifest = parsed.data;
  const problems = listProblems(manifest).map((text) => `${MANIFEST_NAME}: ${text}`);
  return problems.length > 0 ? { ok: false, problems } : { ok: true, manifest };
}

/** One issue of a schema as sentences; an unknown field is named with its path. */
export function issueTexts(issue: z.core.$ZodIssue): string[] {
  const at = (path: readonly PropertyKey[]) => path.map(String).join('.');
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => `unknown field ${quote(at([...issue.path, key]))}`);
  }
  return [`${issue.path.length === 0 ? 'the document' : quote(at(issue.path))}: ${issue.message}`];
}

function listProblems({ files }: ReleaseManifest): string[] {
  const problems: string[] = [];
  let total = 0;
  for (const { path, bytes } of files) {
    total += bytes;
    const problem = pathProblem(path);
    if (problem !== null) problems.push(`path ${quote(path)}: ${problem}`);
  }
  if (total > packageLimits.totalBytes) problems.push(`its files exceed ${packageLimits.totalBytes} bytes`);
  problems.push(...collisions(files.map(({ path }) => path)));
  if (!files.some(({ path }) => path === PROGRAM_PATH)) {
    problems.push(`${PROGRAM_PATH} is missing; the launcher starts it`);
  }
  return problems;
}

/** Why a path cannot be unpacked; null: it can. */
export function pathProblem(path: string): string | null {
  if (path === '') return 'empty';
  if (path.startsWith('/')) return 'absolute';
  if (/[\\\p{Cc}\p{Cs}\p{Bidi_Control}]/u.test(path)) return 'contains a backslash or a control character';
  if (path.normalize('NFC') !== path) return 'not in Unicode form NFC';
  if (Buffer.byteLength(path) > packageLimits.pathBytes) return `longer than ${packageLimits.pathBytes} bytes`;
  for (const element of path.split('/')) {
    if (element === '') return 'contains an empty element';
    if (element === '.' || element === '..') return `contains ${quote(element)}`;
    if (Buffer.byteLength(element) > packageLimits.elementBytes) {
      return `an element is longer than ${packageLimits.elementBytes} bytes`;
    }
  }
  return path === MANIFEST_NAME || path === SIGNATURE_NAME ? 'reserved for the package itself' : null;
}

/** Paths that are one file on some file system, or a file and a folder at once. */
function collisions(paths: readonly string[]): string[] {
  const problems: string[] = [];
  const files = new Map<string, string>();
  const folders = new Map<string, string>();
  for (const reserved of [MANIFEST_NAME, SIGNATURE_NAME]) files.set(reserved, reserved);
  for (const path of paths) {
    const key = path.toLowerCase();
    const other = files.get(key);
    if (other === path) problems.push(`path ${quote(path)} is listed twice`);
    else if (other !== undefined) problems.push(`paths ${quote(other)} and ${quote(path)} differ in case only`);
    files.set(key, path);
    const elements = path.split('/');
    for (let end = 1; end < elements.length; end += 1) {
      const folder = elements.slice(0, end).join('/');
      const present = folders.get(folder.toLowerCase());
      if (present !== undefined && present !== folder) {
        problems.push(`folders ${quote(present)} and ${quote(folder)} differ in case only`);
      }
      folders.set(folder.toLowerCase(), folder);
    }
  }
  for (const [key, path] of files) {
    if (folders.has(key)) problems.push(`path ${quote(path)} is a file and a folder`);
  }
  return problems;
}
