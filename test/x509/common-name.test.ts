import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));

/**
 * The output of a process that reads a certificate, then connects by TLS. `read` is JavaScript with the certificate as
 * `c`.
 */
function connectsAfter(read: string) {
  const code = `
    import { execFileSync } from 'node:child_process';
    import { X509Certificate } from 'node:crypto';
    const c = () => new X509Certificate(pem);
    const pem = execFileSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256',
      '-nodes', '-subj', '/CN=x', '-days', '1', '-keyout', '/dev/null'], { stdio: ['ignore', 'pipe', 'ignore'] });
    ${read};
    const { connect } = await import('node:tls');
    connect({ host: '127.0.0.1', port: 1 }).on('error', ({ code }) => console.log(code));`;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8' });
  return stdout + stderr;
}

describe('TLS in a process that has read a common name first', () => {
  it('connects', () => {
    const read = `console.log((await import(${JSON.stringify(`${root}src/lib/x509/index.ts`)})).commonNameOf(c()))`;
    expect(connectsAfter(read)).toBe('x\nECONNREFUSED\n');
  });

  it('fails with Node alone: the load order is still needed', { tags: 'large' }, () => {
    expect(connectsAfter('c().toLegacyObject()')).toContain('tls.createSecureContext is not a function');
  });
});
