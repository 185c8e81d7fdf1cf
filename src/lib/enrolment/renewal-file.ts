import { createPublicKey } from 'node:crypto';
import { join } from 'node:path';
import { z } from 'zod';
import { GwError } from '../error/index.ts';
import { readJson } from '../json/index.ts';
import { installedCertificate, judgeCertificate, readCertificates } from './certificate.ts';
import { type OnStored, placeFile, RENEWAL_FILE, removeFile } from './folder.ts';
import type { Credentials, Identity } from './model.ts';
import { deviceKey, pem, readOwn } from './store.ts';

const FORMAT = 'gw/renewal/1';
/** Bounds what an error of a peer adds to the file. */
const MAX_TEXT = 2_000;

const text = z.string().max(MAX_TEXT);
const renewalSchema = z.strictObject({
  format: z.literal(FORMAT),
  serial: z.string().min(1).max(128),
  /** SHA-256 of the certificate that is renewed: beside another one this file counts for nothing. */
  renews: z.string().min(1).max(128),
  /** The new key, on disk before it is sent; it outlives a failed request, so that a lost answer costs no second one. */
  key: z.strictObject({ begunAt: z.iso.datetime(), keyPem: pem, requestPem: pem }).nullable(),
  /** What was issued for it, until the broker has proved it. */
  candidate: z
    .strictObject({
      keptAt: z.iso.datetime(),
      /** As in the identity. */
      enrolledAt: z.iso.datetime(),
      endpoint: z.string().min(1).max(253),
      region: z.string().min(1).max(64),
      certificatePem: pem,
      caPem: pem,
      /** Attempts while the present identity was connected. */
      refusals: z.int().min(0),
      unreachable: z.int().min(0),
    })
    .nullable(),
  /** Failed attempts in a row. */
  failed: z.int().min(0),
  last: z.strictObject({ at: z.iso.datetime(), code: text, detail: text, remedy: text.nullable() }).nullable(),
  /** No new request before. */
  nextAt: z.iso.datetime().nullable(),
});

/** A renewal without a visit: the new key, the identity that was issued for it, and how the attempts went. One file, replaced whole. */
export type RenewalRecord = Readonly<Omit<z.infer<typeof renewalSchema>, 'format'>>;

export const renewalPath = (identityDir: string): string => join(identityDir, RENEWAL_FILE);

/** null: there is none. Throws IDENTITY_BROKEN for one that cannot be used; it is no part of the identity. */
export async function readRenewal(identityDir: string): Promise<RenewalRecord | null> {
  const path = renewalPath(identityDir);
  const bytes = await readOwn(path, 'the renewal of the certificate');
  if (bytes === undefined) return null;
  const reading = readJson(bytes, 'file');
  const parsed = reading.ok ? renewalSchema.safeParse(reading.value) : undefined;
  if (parsed?.success !== true || !isWhole(parsed.data)) {
    throw new GwError('IDENTITY_BROKEN', `Corrupt renewal file ${path}.`, {
      remedy: `Remove ${path}, which changes no identity; \`gw serve\` then begins a new renewal.`,
    });
  }
  const { format: _, ...record } = parsed.data;
  return record;
}

function isWhole({ key, candidate, serial }: z.infer<typeof renewalSchema>): boolean {
  if (key !== null && deviceKey(key.keyPem) === undefined) return false;
  if (candidate === null) return true;
  const [chain, cas] = [readCertificates(candidate.certificatePem), readCertificates(candidate.caPem)];
  if (key === null || chain === undefined || cas === undefined) return false;
  return judgeCertificate(chain, { publicKey: createPublicKey(key.keyPem), serial, cas, at: null }).length === 0;
}

/** Replaces the file atomically. Throws FILE_UNWRITABLE. */
export async function writeRenewal(
  identityDir: string,
  record: RenewalRecord,
  onStored: OnStored = () => {},
): Promise<void> {
  const content = JSON.stringify({ format: FORMAT, ...record }, null, 2);
  await placeFile(renewalPath(identityDir), `${content}\n`, { replace: true, onStored });
}

/** Throws FILE_UNWRITABLE. */
export async function dropRenewal(identityDir: string): Promise<void> {
  await removeFile(renewalPath(identityDir));
}

/** What was issued and is not installed yet. */
export interface Candidate extends Pick<Identity, 'serial' | 'endpoint' | 'region'>, Credentials {
  readonly fingerprintSha256: string;
  readonly notAfter: string;
}

/** What a TLS client needs of the candidate; null without one. */
export function candidateOf({ serial, key, candidate }: RenewalRecord): Candidate | null {
  if (key === null || candidate === null) return null;
  const { endpoint, region, certificatePem, caPem } = candidate;
  const { fingerprintSha256, notAfter } = installedCertificate(readCertificates(certificatePem) ?? []);
  return { serial, endpoint, region, keyPem: key.keyPem, certificatePem, caPem, fingerprintSha256, notAfter };
}

/** A text of a peer or of the system, as the file takes it. */
export const bounded = (words: string): string => words.toWellFormed().slice(0, MAX_TEXT).toWellFormed();
