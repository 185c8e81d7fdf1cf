import { basename, join } from 'node:path';
import { addUpload, type CloudView, cloudViewSchema, type SpoolEntry, UPLOADS_FOLDER } from '../../cloud/index.ts';
import { GwError } from '../../error/index.ts';
import { isComplete, readArchive } from '../../maps/index.ts';
import { localOperatorAccess } from '../operator/local-access.ts';
import { type CheckContext, poll, type Toolkit } from '../toolkit.ts';
import type { CloudUpload } from './cloud.result.ts';

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
 * ARCHIVE_FOREIGN,
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
  const { sha256, archive } = await readArchive(file);
  const { serial } = archive.chassis;
  if (serial !== site.chassis.serial) {
    throw new GwError(
      'ARCHIVE_FOREIGN',
      `The backup belongs to chassis ${JSON.stringify(serial)}, and this gateway uploads as ${JSON.stringify(site.chassis.serial)}. Nothing was uploaded.`,
      { remedy: `Upload it on the gateway of ${JSON.stringify(serial)}.`, details: { archived: serial } },
    );
  }
  context.onProgress(`adding ${basename(file)}`);
  const { entry, isNew } = await addUpload(join(site.stateDir, UPLOADS_FOLDER), {
    file,
    sha256,
    name: `maps/${basename(file)}`,
    signal: context.signal,
    now: clock.wall(),
    limits: { reserveBytes: site.disk.reserveMb * 1_000_000 },
  });
  const limits = { everyMs: POLL_MS, withinMs: waitMs ?? 0 };
  const read = async () => {
    const view = waitMs === undefined ? before : await operator.ask('GET', '/api/cloud', cloudViewSchema);
    const upload = uploadIn(view, entry);
    const { state, sentBytes, bytes, detail } = upload;
    const percent = state === 'uploading' && bytes > 0 ? ` ${Math.floor((100 * sentBytes) / bytes)} %` : '';
    context.onProgress(`${state}${percent}${detail === null ? '' : `: ${detail}`}`);
    return { upload, link: { status: view.status, detail: view.detail } };
  };
  const { value, waitedMs } = await poll(toolkit, context, limits, read, ({ upload: { state } }) => {
    return state === 'uploaded' || state === 'refused';
  });
  return { file, complete: isComplete(archive), isNew, ...value, waitedMs: waitMs === undefined ? null : waitedMs };
}

/** The running gateway of this site file, by its socket for local commands. */
async function gatewayHere(toolkit: Pick<Toolkit, 'site' | 'clock'>, context: CheckContext) {
  const operator = await localOperatorAccess(toolkit, context);
  if (operator !== null) return operator;
  const { stateDir } = toolkit.site;
  throw new GwError('NEEDS_GATEWAY', `No gateway with the state folder ${stateDir} runs here for this user.`, {
    remedy: 'Run it on the gateway, as the user of `gw serve`, with its site file and while `gw serve` runs.',
  });
}

/** As the gateway reports it, or as it was added: the gateway looks into the spool every few seconds. */
function uploadIn({ uploads }: CloudView, entry: SpoolEntry): CloudUpload['upload'] {
  const { name, bytes, sha256, addedAt, state, detail } = entry;
  const seen = uploads.find((upload) => upload.name === name && upload.sha256 === sha256 && upload.addedAt === addedAt);
  return seen ?? { name, bytes, sha256, addedAt, state, sentBytes: 0, detail };
}
