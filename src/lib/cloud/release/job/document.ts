import { createHash } from 'node:crypto';
import { z } from 'zod';
import { isRecord, quote } from '../../../json/index.ts';
import type { ReleaseDocumentWire } from '../../wire.ts';
import { issueTexts, packageLimits } from '../manifest.ts';
import { isVersion } from '../version.ts';
import { MAX_DETAIL_CHARACTERS } from './jobs.ts';

const MAX_URL_CHARACTERS = 8_192;
/** Names of placeholders in one problem; more are counted. */
const MAX_PLACEHOLDERS = 20;
const MAX_DEPTH = 20;
/** @source specification, 'Events' */
const ROLLOUT_STAGES = 4;
const STAGE_EXPECTED = `expected a whole number from 1 to ${ROLLOUT_STAGES}`;

const shape = z.strictObject({
  schema: z.literal('gw/release-job/1'),
  version: z.string().refine(isVersion, 'expected a version such as 1.2.3'),
  package: z.strictObject({
    url: z
      .string()
      .max(MAX_URL_CHARACTERS)
      .refine((text) => /^https:\/\/[^\s]+$/.test(text) && URL.canParse(text), 'expected an https:// URL'),
    bytes: z.int().min(1).max(packageLimits.packageBytes),
    sha256: z.string().regex(/^[0-9a-f]{64}$/, 'expected 64 lower-case hex digits'),
  }),
  allowDowngrade: z.boolean().optional(),
  stage: z.int(STAGE_EXPECTED).min(1, STAGE_EXPECTED).max(ROLLOUT_STAGES, STAGE_EXPECTED).optional(),
  /** Its shape is not shown: any value. */
  documentParameters: z.unknown().optional(),
});

export type DocumentReading =
  | { readonly ok: true; readonly document: ReleaseDocumentWire }
  | { readonly ok: false; readonly problems: readonly string[]; readonly version: string | null };

/**
 * Parses the document of a release job. Names every unknown field and every unresolved placeholder `${…}`, because the
 * substitution of `documentParameters` is unverified (`cloud.job-parameters-substitution`). The parameters themselves
 * are kept as they came: nothing is made of them, so that a placeholder among them changes nothing.
 */
export function readDocument(value: unknown): DocumentReading {
  const problems = placeholderProblems(withoutParameters(value));
  const parsed = shape.safeParse(value);
  if (!parsed.success) problems.push(...parsed.error.issues.flatMap(issueTexts));
  if (parsed.success && problems.length === 0) return { ok: true, document: parsed.data as ReleaseDocumentWire };
  const version =
    isRecord(value) && typeof value.version === 'string' && isVersion(value.version) ? value.version : null;
  return { ok: false, problems, version };
}

function withoutParameters(value: unknown): unknown {
  if (!isRecord(value)) return value;
  const { documentParameters: _, ...rest } = value;
  return rest;
}

/**
 * `documentParameters` for a status detail: compact JSON, by size and SHA-256 where it exceeds the detail.
 * Null: the document has none.
 */
export function parametersText({ documentParameters }: ReleaseDocumentWire): string | null {
  if (documentParameters === undefined) return null;
  const json = JSON.stringify(documentParameters);
  // A status detail has no control characters; JSON escapes those below U+0020 itself.
  const text = json.replace(/[\u007f-\u009f]/g, (sign) => `\\u00${sign.charCodeAt(0).toString(16)}`);
  if (text.length <= MAX_DETAIL_CHARACTERS) return text;
  const digest = createHash('sha256').update(json).digest('hex');
  return `not repeated: ${Buffer.byteLength(json)} bytes of JSON, SHA-256 ${digest}`;
}

function placeholderProblems(value: unknown): string[] {
  const found = new Map<string, string>();
  const search = (part: unknown, path: string, depth: number): void => {
    if (depth > MAX_DEPTH) return;
    if (typeof part === 'string') {
      for (const name of placeholdersIn(part)) if (!found.has(name)) found.set(name, path);
    } else if (Array.isArray(part)) {
      for (const [at, item] of part.entries()) search(item, join(path, String(at)), depth + 1);
    } else if (isRecord(part)) {
      for (const [key, item] of Object.entries(part)) {
        search(key, join(path, 'a field name'), depth + 1);
        search(item, join(path, key), depth + 1);
      }
    }
  };
  search(value, '', 0);
  const texts = [...found].map(
    ([name, path]) => `unresolved placeholder ${quote(name)} in ${path === '' ? 'the document' : quote(path)}`,
  );
  const left = texts.length - MAX_PLACEHOLDERS;
  return left > 0 ? [...texts.slice(0, MAX_PLACEHOLDERS), `and ${left} more placeholders`] : texts;
}

/** `${name}`; of any other text that begins so only its start, because the rest may be the signature of a URL. */
function placeholdersIn(text: string): string[] {
  return [...text.matchAll(/\$\{[A-Za-z0-9_.:-]{0,64}(\}?)/g)].map(([start, end]) =>
    end === '}' ? start : `${start}…`,
  );
}

function join(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`;
}
