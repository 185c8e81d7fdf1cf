import { expect, it } from 'vitest';
import { anyVersion, runLowered } from './lowered-tls.ts';

const certificates = `
import { createServer } from 'node:tls';
import { connect as tcp } from 'node:net';
import { createCa } from './src/lib/sim/cloud/certificates.ts';
const authority = await createCa();
const { keyPem: key, certificatePem: cert } = await authority.issueServer({ names: ['127.0.0.1', 'localhost'] });
`;

/** A server that supports TLS 1.1 only. */
const oldServer = `
const old = createServer({ key, cert, minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'ALL:@SECLEVEL=0' }, (s) => s.on('error', () => {}));
old.on('tlsClientError', () => {});
await new Promise((resolve) => old.listen(0, '127.0.0.1', resolve));
const { port } = old.address();
`;

/** One process for all, since the TLS defaults of a process are read once. */
it('TLS below 1.2 is rejected even where NODE_OPTIONS allows it', { tags: 'large' }, async () => {
  const seen = await runLowered(`${certificates}${oldServer}${anyVersion}
    import { createPeer } from './src/lib/operator/peer.ts';
    import { probeTls } from './src/lib/net/probe/index.ts';
    import { createHttpsHandler, startListener, createTlsHandler } from './src/lib/sim/cloud/listener.ts';
    const probe = async (more) => {
      const stream = tcp(port, '127.0.0.1');
      const { kind, failure } = await probeTls(stream, {
        host: 'localhost', trusted: null, timeoutMs: 60_000, signal: new AbortController().signal, ...more,
      });
      return [kind, failure?.kind, failure?.alert].join();
    };
    const forwarded = await createPeer({ what: 'building module', url: 'https://127.0.0.1:' + port, path: '/status', passes: 'anything' }).read().catch((error) => error);
    const control = createServer({ key, cert });
    await new Promise((resolve) => control.listen(0, '127.0.0.1', resolve));
    const https = await createHttpsHandler(authority, (_request, response) => response.end());
    const tls = await createTlsHandler(authority, {}, (socket) => socket.destroy());
    console.log(JSON.stringify({
      anyClient: await protocolAt(port),
      noList: await probe({}),
      file: await probe({ trusted: authority.caPem }),
      system: await probe({ trusted: 'system' }),
      smallHello: await probe({ trusted: 'system', smallHello: true }),
      forwarder: [forwarded.code, forwarded.cause?.code].join(),
      anyServer: await protocolAt(control.address().port),
      simulatedHttps: await protocolAt((await startListener(() => https)).port),
      simulatedTls: await protocolAt((await startListener(() => tls)).port),
    }));
    process.exit(0);
  `);
  const [refused, alert] = ['failed,alert,protocol version', 'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION'];
  expect(seen).toEqual({
    anyClient: 'TLSv1.1',
    noList: refused,
    file: refused,
    system: refused,
    smallHello: refused,
    forwarder: `PEER_NOT_REACHABLE,${alert}`,
    anyServer: 'TLSv1.1',
    simulatedHttps: alert,
    simulatedTls: alert,
  });
});
