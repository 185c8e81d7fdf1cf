import { describe, expect, it } from 'vitest';
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

describe('TLS below 1.2', () => {
  it('is rejected by every TLS client, even where NODE_OPTIONS allows it', async () => {
    const outcome = await runLowered(`${certificates}${oldServer}${anyVersion}
      import { probeTls } from './src/lib/net/probe/index.ts';
      const probe = async (more) => {
        const stream = tcp(port, '127.0.0.1');
        const { kind, failure } = await probeTls(stream, {
          host: 'localhost', trusted: null, timeoutMs: 20_000, signal: new AbortController().signal, ...more,
        });
        return [kind, failure?.kind, failure?.alert];
      };
      const seen = {
        plain: await protocolAt(port),
        noList: await probe({}),
        file: await probe({ trusted: authority.caPem }),
        system: await probe({ trusted: 'system' }),
        smallHello: await probe({ trusted: 'system', smallHello: true }),
      };
      console.log(JSON.stringify(seen));
      process.exit(0);
    `);
    const refused = ['failed', 'alert', 'protocol version'];
    expect(outcome).toEqual({ plain: 'TLSv1.1', noList: refused, file: refused, system: refused, smallHello: refused });
  });

  it('is rejected by the forwarder to voice service and building module', async () => {
    const outcome = await runLowered(`${certificates}${oldServer}${anyVersion}
      import { createPeer } from './src/lib/operator/peer.ts';
      const seen = { plain: await protocolAt(port) };
      try {
        await createPeer('building module', 'https://127.0.0.1:' + port, '/status').read();
      } catch (error) {
        seen.code = error.code;
        seen.cause = error.cause?.code;
      }
      console.log(JSON.stringify(seen));
      process.exit(0);
    `);
    expect(outcome).toEqual({
      plain: 'TLSv1.1',
      code: 'PEER_NOT_REACHABLE',
      cause: 'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION',
    });
  });

  it('is rejected by the simulated cloud', async () => {
    const outcome = await runLowered(`${certificates}${anyVersion}
      import { createHttpsHandler, startListener, createTlsHandler } from './src/lib/sim/cloud/listener.ts';
      const control = createServer({ key, cert });
      await new Promise((resolve) => control.listen(0, '127.0.0.1', resolve));
      const https = await createHttpsHandler(authority, (_request, response) => response.end());
      const tls = await createTlsHandler(authority, {}, (socket) => socket.destroy());
      const httpsPort = (await startListener(() => https)).port;
      const tlsPort = (await startListener(() => tls)).port;
      const seen = {
        control: await protocolAt(control.address().port),
        https: await protocolAt(httpsPort),
        tls: await protocolAt(tlsPort),
      };
      console.log(JSON.stringify(seen));
      process.exit(0);
    `);
    const refused = 'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION';
    expect(outcome).toEqual({ control: 'TLSv1.1', https: refused, tls: refused });
  });
});
