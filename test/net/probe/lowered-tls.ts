import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const root = join(import.meta.dirname, '..', '..', '..');
/** Options that a person or a unit file could set for the whole process, with the minimum of OpenSSL lowered too. */
const LOWERED = '--tls-min-v1.0 --tls-cipher-list=DEFAULT:@SECLEVEL=0';

/** Runs a script in a separate process, since the TLS defaults are read once, and parses its JSON output. */
export async function runLowered(script: string): Promise<unknown> {
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], {
    cwd: root,
    env: { ...process.env, NODE_OPTIONS: LOWERED, NODE_NO_WARNINGS: '1' },
    timeout: 60_000,
  });
  return JSON.parse(stdout);
}

/** Script: the version negotiated by a client that accepts any, up to 1.1. */
export const anyVersion = `
import { connect } from 'node:tls';
const protocolAt = (port) => new Promise((resolve) => {
  const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false, maxVersion: 'TLSv1.1' }, () => {
    resolve(socket.getProtocol());
    socket.destroy();
  });
  socket.on('error', (error) => resolve(error.code));
});
`;
