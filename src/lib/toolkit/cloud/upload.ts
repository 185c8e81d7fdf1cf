import { basename, join } from 'node:path';
import { addUpload, type SpoolEntry, UPLOADS_FOLDER } from '../../cloud/index.ts';
import { GwError } from '../../error/index.ts';
import { readArchive } from '../../maps/index.ts';
import { type GatewayAccess, localOperatorAccess } from '../operator/local-access.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import { type CloudStatus, type CloudUpload, cloudViewSchema } from './cloud.result.ts';

export interface CloudUploadOptions {
  /** A backup of `gw map backup`. */
  readonly file: string;
  /** Wait until the gateway reports it uploaded or refused, at most this long; absent: only add it. */
  readonly waitMs?: number | undefined;
  /** SSH host that was named; refused, since the file is not there. */
  readonly via?: string | undefined;
}

const POLL_MS = 1_000;

/**
 * Verifies a map backup and gives it to the gateway that runs on this machine, which uploads it. Throws ARCHIVE_INVALID,
 * SITE_FILE_INVALID without `cloud`, NEEDS_GATEWAY over SSH and where no gateway runs, and the errors of `addUpload`.
 */
export async function uploadArchive(
  toolkit: Pick<Toolkit, 'site' | 'clock'>,
  { file, waitMs, via }: CloudUploadOptions,
  context: CheckContext,
): Promise<CloudUpload> {
  const { site, clock } = toolkit;
  if (via !== undefined) {
    throw new GwError('NEEDS_GATEWAY', 'The backup must be on the gateway, so it cannot be given to it through SSH.', {
      remedy: `Copy it with scp to ${via}, then run there: gw cloud upload ${basename(file)}`,
    });
  }
  if (site.cloud === undefined) {
    throw new GwError('SITE_FILE_INVALID', `No \`cloud:\` section in ${site.path}, so nothing is uploaded.`, {
      remedy: 'Add `cloud:` with `mqtt:`; see docs/site-file.md.',
    });
  }
  const operator = await gatewayHere(toolkit, context);
  // Not only added: a gateway that does not answer would not upload it either.
  const before = await operator.ask('GET', '/api/cloud', cloudViewSchema);
  context.onProgress(`verifying ${basename(file)}`);
  const { sha256 } = await readArchive(file);
  context.onProgress(`adding ${basename(file)}`);
  const { entry, isNew } = await addUpload(join(site.stateDir, UPLOADS_FOLDER), {
    file,
    sha256,
    name: `maps/${basename(file)}`,
    signal: context.signal,
    now: clock.wall(),
    limits: { reserveBytes: site.disk.reserveMb * 1_000_000 },
  });
  if (waitMs === undefined) return resultOf(file, isNew, entry, before, null);
  return await waited({ file, isNew, entry, waitMs, operator }, toolkit, context);
}

/** The running gateway of this site file, by its socket for local commands. */
async function gatewayHere(toolkit: Pick<Toolkit, 'site'>, context: CheckContext) {
  const operator = await localOperatorAccess(toolkit, context);
  if (operator !== null) return operator;
  const { stateDir } = toolkit.site;
  throw new GwError('NEEDS_GATEWAY', `No gateway with the state folder ${stateDir} runs here for this user.`, {
    remedy: 'Run it on the gateway, as the user of `gw serve`, with its site file and while `gw serve` runs.',
  });
}

interface Waiting {
  readonly file: string;
  readonly isNew: boolean;
  readonly entry: SpoolEntry;
  readonly waitMs: number;
  readonly operator: Pick<GatewayAccess, 'ask'>;
}

/** Until it is uploaded or refused, or the time is over. */
async function waited(
  { file, isNew, entry, waitMs, operator }: Waiting,
  { clock }: Pick<Toolkit, 'clock'>,
  { signal, onProgress }: CheckContext,
): Promise<CloudUpload> {
  const beganMs = clock.monotonicMs();
  for (;;) {
    const view = await operator.ask('GET', '/api/cloud', cloudViewSchema);
    const result = resultOf(file, isNew, entry, view, Math.round(clock.monotonicMs() - beganMs));
    const { state, sentBytes, bytes, detail } = result.upload;
    if (state === 'uploaded' || state === 'refused') return result;
    if (clock.monotonicMs() - beganMs >= waitMs) return result;
    const percent = state === 'uploading' && bytes > 0 ? ` ${Math.floor((100 * sentBytes) / bytes)} %` : '';
    onProgress(`${state}${percent}${detail === null ? '' : `: ${detail}`}`);
    await clock.sleep(POLL_MS, signal);
  }
}

function resultOf(
  file: string,
  isNew: boolean,
  entry: SpoolEntry,
  { status, detail, uploads }: CloudStatus,
  waitedMs: number | null,
): CloudUpload {
  const { name, bytes, sha256, addedAt } = entry;
  const seen = uploads.find((upload) => upload.name === name && upload.sha256 === sha256 && upload.addedAt === addedAt);
  // The gateway looks into the spool every few seconds.
  const added = { name, bytes, sha256, addedAt, state: entry.state, sentBytes: 0, detail: entry.detail };
  return { file, isNew, upload: seen ?? added, link: { status, detail }, waitedMs };
}
