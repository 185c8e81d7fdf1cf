import { X509Certificate } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { getCACertificates } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { systemCertificates } from '../../../src/lib/net/probe/index.ts';
import { createCa } from '../../../src/lib/sim/cloud/certificates.ts';
import { folderOfFile } from '../../lifecycle/folder.ts';
import { shared } from '../../lifecycle/shared.ts';
import { runProcess } from '../../process.ts';
import { established, type Peer, probe, tlsPeer, tlsPeerOf } from './world.ts';

const dir = folderOfFile();
const [file, none] = [join(dir, 'ca.pem'), join(dir, 'none.pem')];
const added = await createCa({ commonName: 'CA of this house' });
await writeFile(file, added.caPem);
await writeFile(none, (await createCa({ commonName: 'Another CA' })).caPem);
const peer = shared(await tlsPeer(added));

/** The result in a separate process: a process reads the lists once, from its environment. */
async function found(env: Readonly<Record<string, string>>, { port }: Peer = peer) {
  const world = new URL('./world.ts', import.meta.url).href;
  const program = `
    const { probe } = await import(${JSON.stringify(world)});
    const result = await probe({ host: '127.0.0.1', port: ${port} }, { trusted: 'system' });
    if (result.kind === 'established') result.socket.destroy();
    console.log(JSON.stringify(result.trust ?? result.failure));
    process.exit(0);`;
  const { stdout, stderr } = await runProcess(
    process.execPath,
    ['--no-warnings', '--input-type=module', '-e', program],
    { env: { PATH: process.env.PATH, SSL_CERT_DIR: join(dir, 'no-folder'), ...env } },
  );
  if (stdout === '') throw new Error(stderr);
  return JSON.parse(stdout);
}

it('the certificates of all trust lists are valid PEM, each of them: Node ignores all that follow an invalid one', async () => {
  const found = systemCertificates().match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
  const names = found.map((pem) => new X509Certificate(pem).fingerprint256);
  const bundled = getCACertificates('bundled').map((pem) => new X509Certificate(pem).fingerprint256);
  expect(names).toEqual(expect.arrayContaining(bundled));
  expect(systemCertificates()).not.toContain('\n\n');
});

describe('the trust lists that verify a chain', () => {
  it('distinguish NODE_EXTRA_CA_CERTS from the list of the operating system', { tags: 'large' }, async () => {
    expect(await found({ SSL_CERT_FILE: none, NODE_EXTRA_CA_CERTS: file })).toEqual({ kind: 'trusted', by: 'extra' });
  });

  it('distinguish the list of the operating system from the list of Node', { tags: 'large' }, async () => {
    expect(await found({ SSL_CERT_FILE: file })).toEqual({ kind: 'trusted', by: 'system' });
    expect(await found({ SSL_CERT_FILE: none })).toMatchObject({ kind: 'untrusted' });
  });

  it('are not chosen by the name of a public root that a proxy sends along', { tags: 'large' }, async () => {
    const publicPem = getCACertificates('bundled').find((pem) => new X509Certificate(pem).subject.includes('CN='));
    const name = /CN=([^\n]+)/.exec(new X509Certificate(publicPem ?? '').subject)?.[1] ?? '';
    const namesake = await createCa({ commonName: name });
    await writeFile(join(dir, 'namesake.pem'), namesake.caPem);
    const pair = await namesake.issueServer({ names: ['127.0.0.1'] });
    await using other = await tlsPeerOf({ key: pair.keyPem, cert: `${pair.certificatePem}\n${publicPem}` });
    const trust = await found({ SSL_CERT_FILE: join(dir, 'namesake.pem') }, other);
    expect(trust).toEqual({ kind: 'trusted', by: 'system' });
  });

  it('are named as the file where the site file names one', async () => {
    const result = established(await probe(peer, { trusted: added.caPem }));
    expect(result.trust).toEqual({ kind: 'trusted', by: 'file' });
    result.socket.destroy();
  });
});
