/** Output and exit code of a command on the tablet. */
export interface ShellResult {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number;
}

/** Limit of the output of a command. Project decision; a whole `dumpsys` is far below. */
export const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;

const HEADER_BYTES = 5;
const STDOUT = 1;
const STDERR = 2;
const EXIT = 3;

export type FrameVerdict =
  | { readonly kind: 'more' }
  | { readonly kind: 'ended' }
  | { readonly kind: 'broken'; readonly reason: string };

/**
 * Decodes the frames of the shell protocol (v2): one byte of kind, four of length (little endian), then as many bytes.
 * Source: Android's own description of the protocol, `shell_protocol.h`.
 */
export function createShellReader() {
  let pending: Buffer = Buffer.alloc(0);
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  let printed = 0;
  let exitCode: number | undefined;
  let broken: string | undefined;

  function decode(kind: number, payload: Buffer): void {
    if (kind === EXIT) {
      if (payload.length === 1) exitCode = payload[0];
      else broken = `an exit frame of ${payload.length} bytes`;
    } else if (kind === STDOUT) stdout.push(payload);
    else if (kind === STDERR) stderr.push(payload);
    else broken = `a frame of the unknown kind ${kind}`;
  }

  function verdict(): FrameVerdict {
    if (broken !== undefined) return { kind: 'broken', reason: broken };
    return exitCode === undefined ? { kind: 'more' } : { kind: 'ended' };
  }

  return {
    /** Decodes the next bytes; bytes after the exit frame are ignored. */
    push(chunk: Uint8Array): FrameVerdict {
      pending = pending.length === 0 ? Buffer.from(chunk) : Buffer.concat([pending, chunk]);
      while (verdict().kind === 'more' && pending.length >= HEADER_BYTES) {
        const length = pending.readUInt32LE(1);
        if (printed + length > MAX_OUTPUT_BYTES) {
          broken = `more than ${MAX_OUTPUT_BYTES / 1024 / 1024} MiB of output`;
          break;
        }
        if (pending.length < HEADER_BYTES + length) break;
        printed += length;
        decode(pending[0] ?? 0, pending.subarray(HEADER_BYTES, HEADER_BYTES + length));
        pending = pending.subarray(HEADER_BYTES + length);
      }
      return verdict();
    },
    /** The result; undefined until the exit frame was received. */
    result(): ShellResult | undefined {
      if (exitCode === undefined) return undefined;
      const text = (pieces: readonly Buffer[]) => Buffer.concat(pieces).toString('utf8');
      return { stdout: text(stdout), stderr: text(stderr), exitCode };
    },
  };
}
