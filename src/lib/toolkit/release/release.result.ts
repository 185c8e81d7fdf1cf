import { z } from 'zod';
import { installedVersionSchema, releaseRunSchema } from '../../cloud/index.ts';
import type { DeepReadonly } from '../../json/index.ts';
import { checkVerdictSchema, lineSchema } from '../finding.result.ts';

const key = z.strictObject({
  file: z.string(),
  fingerprintSha256: z.string().describe('Of the public key (SPKI): upper-case hex pairs with colons.'),
});

/** Shape of `gw release verify --json`. */
export const releaseVerifySchema = z.strictObject({
  verdict: z.literal('ok').describe('An invalid package is the error RELEASE_INVALID.'),
  file: z.string(),
  bytes: z.int(),
  sha256: z.string().describe('Of the package file, as the job document names it.'),
  version: z.string(),
  minimumVersion: z.string().describe('Oldest version that the package may replace.'),
  files: z.int(),
  unpackedBytes: z.int(),
  key,
});
export type ReleaseVerify = z.infer<typeof releaseVerifySchema>;

/** Shape of `gw release make --json`. */
export const releaseMakeSchema = releaseVerifySchema.extend({
  verdict: z.literal('ok').describe('The package was written, read back and verified.'),
});
export type ReleaseMake = z.infer<typeof releaseMakeSchema>;

/** Shape of `gw release inspect --json`. */
export const releaseInspectSchema = releaseVerifySchema.extend({
  verdict: z
    .enum(['ok', 'not-checked'])
    .describe('not-checked: without a key, so whose package it is was not checked.'),
  origin: z
    .strictObject({ commit: z.string(), sourceTime: z.string() })
    .nullable()
    .describe('What it was built from, as it says; null: it does not say.'),
  parts: z
    .array(z.strictObject({ path: z.string(), files: z.int(), bytes: z.int() }))
    .describe('Files by the first element of their path.'),
  files: z.array(z.strictObject({ path: z.string(), bytes: z.int(), sha256: z.string(), executable: z.boolean() })),
  key: key.nullable(),
});
export type ReleaseInspect = z.infer<typeof releaseInspectSchema>;

/** Shape of `gw release key new --json`. */
export const releaseKeyNewSchema = z.strictObject({
  file: z.string().describe('The private key, which signs; for its owner only.'),
  publicFile: z.string().describe('The public key, for the gateways.'),
  fingerprintSha256: key.shape.fingerprintSha256,
});
export type ReleaseKeyNew = z.infer<typeof releaseKeyNewSchema>;

/** Shape of `gw release status --json`. */
export const releaseStatusSchema = z.strictObject({
  verdict: checkVerdictSchema,
  dir: z.string(),
  current: installedVersionSchema
    .nullable()
    .describe('What the launcher starts next; null: the folder cannot be read.'),
  previous: installedVersionSchema
    .nullable()
    .describe('What `gw release rollback` restores, once no release is in progress; null: none.'),
  installed: z.array(installedVersionSchema),
  keys: z
    .array(z.string())
    .describe('SHA-256 of the public keys that are accepted: one, or two during a change of key.'),
  run: releaseRunSchema.nullable().describe('The release in progress, or the last one.'),
  onSite: z
    .strictObject({ at: z.string(), fromVersion: z.string(), toVersion: z.string() })
    .nullable()
    .describe('The last rollback on site.'),
  findings: z.array(lineSchema),
});
export type ReleaseStatus = DeepReadonly<z.infer<typeof releaseStatusSchema>>;

/** Shape of `gw release rollback --json`. */
export const releaseRollbackSchema = z.strictObject({
  mode: z.enum(['dry-run', 'switched']),
  dir: z.string(),
  from: z.string(),
  to: z.string(),
  toBase: z.boolean().describe('Whether `to` is the base installation.'),
  isUnconfirmed: z.boolean().describe('Whether the job of an unconfirmed release is reported as failed.'),
  next: z.array(z.string()),
});
export type ReleaseRollback = z.infer<typeof releaseRollbackSchema>;
