import type { StorageAnswerWire } from '../../../cloud/wire.ts';
import { parseRequest, unknownKey } from '../services/request.ts';
import type { Storage } from './storage.ts';

const MAX_UPLOAD_BYTES = 256 * 1024 * 1024;
/** Relative, without `.`, `..` and empty elements. */
const NAME = /^(?!.*(^|\/)\.{1,2}(\/|$))[A-Za-z0-9_.-]+(\/[A-Za-z0-9_.-]+){0,7}$/;

/** The answer to a request for an upload URL; null when it has no client token to answer to. */
export function answerUploadRequest(
  serial: string,
  payload: Uint8Array,
  storage: Pick<Storage, 'uploadUrl'>,
): StorageAnswerWire | null {
  const body = parseRequest(payload);
  const clientToken = body?.clientToken;
  if (body === undefined || typeof clientToken !== 'string' || clientToken === '') return null;
  const unknown = unknownKey(body, ['clientToken', 'method', 'name', 'bytes', 'sha256']);
  const { method, name, bytes, sha256 } = body;
  const refuse = (error: string) => ({ clientToken, error });
  if (unknown !== undefined) return refuse(`unknown field '${unknown}'`);
  if (method !== 'PUT') return refuse('method is not PUT');
  if (typeof name !== 'string' || name.length > 200 || !NAME.test(name)) return refuse('invalid name');
  if (typeof bytes !== 'number' || !Number.isInteger(bytes) || bytes < 1) return refuse('invalid size');
  if (bytes > MAX_UPLOAD_BYTES) return refuse(`more than ${MAX_UPLOAD_BYTES} bytes`);
  if (typeof sha256 !== 'string' || !/^[0-9a-f]{64}$/.test(sha256)) return refuse('invalid sha256');
  return { clientToken, ...storage.uploadUrl(`devices/${serial}/${name}`, bytes, sha256) };
}
