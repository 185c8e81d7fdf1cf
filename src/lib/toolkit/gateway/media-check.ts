import { createHash, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { GwError } from '../../error/index.ts';
import type { Finding } from '../finding.result.ts';
import { type FindingStart, notChecked, ok, wrong } from '../finding.ts';
import {
  asJson,
  type OperatorSession,
  operatorAgent,
  operatorOrigin,
  steadyOperatorAccess,
} from '../operator/access.ts';
import { answeredErrorSchema } from '../operator/answered-error.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import type { MediaCheck } from './gateway.result.ts';

/** The specification says 'up to 200 MB'; 1 MB = 1,000,000 bytes is a project decision. @source specification, 'Limits' */
const MEDIA_LIMIT_BYTES = 200_000_000;
const CHUNK_BYTES = 256 * 1024;
const MAX_REFUSAL_BYTES = 64 * 1024;

/**
 * Uploads a file of the maximum size, downloads it, compares the hashes, and deletes it. Throws OPERATOR_NOT_REACHABLE,
 * or the error of the sign-in.
 */
export async function checkMedia(
  toolkit: Toolkit,
  { password, bytes = MEDIA_LIMIT_BYTES }: { readonly password: string; readonly bytes?: number },
  context: CheckContext,
): Promise<MediaCheck> {
  const { clock } = toolkit;
  await using session = await steadyOperatorAccess(toolkit, context).signIn(password);
  const name = `gw-check-${randomBytes(6).toString('hex')}.bin`;
  const stored: FindingStart = { id: 'stored', title: 'A file of the maximum size is stored', spec: 'Limits' };
  const same: FindingStart = { id: 'same', title: 'The file is read back unchanged', spec: 'Limits' };
  const deleted: FindingStart = { id: 'deleted', title: 'The file can be deleted', spec: null };
  const size = `${bytes / 1_000_000} MB`;

  const none = (detail: string) => [notChecked(same, detail), notChecked(deleted, detail)];
  try {
    context.onProgress(`storing ${size}`);
    const beganMs = clock.monotonicMs();
    const sent = await upload(toolkit, session, { name, bytes }, context);
    const uploadMs = Math.round(clock.monotonicMs() - beganMs);
    if (sent.status !== 201) {
      const why = `upload of ${size} answered with ${sent.status}${sent.why === null ? '' : `: ${sent.why}`}`;
      const finding = wrong(stored, why, 'Check the free space of operator.mediaDir and the log of `gw serve`.');
      return { bytes, uploadMs: null, downloadMs: null, findings: [finding, ...none('no file was stored')] };
    }
    context.onProgress(`reading ${size} back`);
    const readMs = clock.monotonicMs();
    const read = await download(toolkit, session, name, context);
    const downloadMs = Math.round(clock.monotonicMs() - readMs);
    const isSame = read.bytes === bytes && read.sha256 === sent.sha256;
    const found = `${read.bytes} bytes read, status ${read.status}, sha256 ${isSame ? 'equal' : 'different'}`;
    return {
      bytes,
      uploadMs,
      downloadMs: isSame ? downloadMs : null,
      findings: [
        ok(stored, `${size} in ${(uploadMs / 1000).toFixed(1)} s`),
        isSame ? ok(same, found) : wrong(same, found, 'Check the disk of the gateway before relying on it.'),
        await deletedFinding(deleted, session, name),
      ],
    };
  } finally {
    // Also after an interruption, to free the space.
    await session.answerTo('DELETE', `/api/medien/${name}`).catch(() => {});
  }
}

async function deletedFinding(start: FindingStart, session: OperatorSession, name: string): Promise<Finding> {
  const gone = await session.answerTo('DELETE', `/api/medien/${name}`);
  const after = await session.answerTo('GET', `/api/medien/${name}`);
  const detail = `DELETE answers ${gone.status}, GET ${after.status} after it`;
  if (gone.status === 200 && after.status === 404) return ok(start, detail);
  return wrong(start, detail, `Delete ${name} from the folder operator.mediaDir by hand.`);
}

interface Transfer {
  readonly name: string;
  readonly bytes: number;
}

async function upload(toolkit: Toolkit, { cookie }: OperatorSession, file: Transfer, { signal }: CheckContext) {
  const boundary = `gw-${randomBytes(12).toString('hex')}`;
  const head = Buffer.from(
    `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="${file.name}"\r\n` +
      'content-type: application/octet-stream\r\n\r\n',
  );
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`);
  const hash = createHash('sha256');
  async function* parts() {
    yield head;
    for (const chunk of content(file.bytes)) {
      hash.update(chunk);
      yield chunk;
    }
    yield tail;
  }
  const { requestOver } = await import('../../net/http/index.ts');
  const response = await requestOver(await operatorAgent(toolkit.dialer), {
    origin: operatorOrigin(toolkit),
    path: '/api/medien',
    method: 'POST',
    signal,
    headers: {
      cookie,
      'content-type': `multipart/form-data; boundary=${boundary}`,
      'content-length': String(head.length + file.bytes + tail.length),
    },
    body: Readable.from(parts(), { objectMode: false }),
  }).catch((cause: unknown) => {
    signal.throwIfAborted();
    throw transferError(toolkit, 'POST /api/medien', cause);
  });
  let text = '';
  for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
    if (text.length < MAX_REFUSAL_BYTES) text += Buffer.from(chunk).toString('utf8');
  }
  const why = answeredErrorSchema.safeParse(asJson(text)).data?.error.message ?? null;
  return { status: response.statusCode, why, sha256: hash.digest('hex') };
}

async function download(toolkit: Toolkit, { cookie }: OperatorSession, name: string, { signal }: CheckContext) {
  const action = `/api/medien/${name}`;
  const hash = createHash('sha256');
  let bytes = 0;
  try {
    const { requestOver } = await import('../../net/http/index.ts');
    const agent = await operatorAgent(toolkit.dialer);
    const origin = operatorOrigin(toolkit);
    const response = await requestOver(agent, { origin, path: action, method: 'GET', signal, headers: { cookie } });
    for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
      bytes += chunk.byteLength;
      hash.update(chunk);
    }
    return { status: response.statusCode, bytes, sha256: hash.digest('hex') };
  } catch (cause) {
    signal.throwIfAborted();
    throw transferError(toolkit, `GET ${action}`, cause);
  }
}

function transferError({ site }: Toolkit, action: string, cause: unknown): GwError {
  return new GwError('OPERATOR_NOT_REACHABLE', 'Transfer of the media file was interrupted.', {
    tried: { address: '127.0.0.1', port: site.operator.port, action },
    cause,
  });
}

/** Incompressible content: one random block, varied by the number of each chunk. */
function* content(bytes: number): Generator<Buffer> {
  const block = randomBytes(CHUNK_BYTES);
  for (let at = 0; at < bytes; at += CHUNK_BYTES) {
    const chunk = Buffer.from(block.subarray(0, Math.min(CHUNK_BYTES, bytes - at)));
    if (chunk.length >= 8) chunk.writeDoubleLE(at, 0);
    yield chunk;
  }
}
