import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sentChain, tlsFailureOf, trustOf } from '../../../src/lib/net/probe/index.ts';
import { createCa } from '../../../src/lib/sim/cloud/certificates.ts';
import { certificatesOf } from '../../../src/lib/x509/index.ts';
import { createFakeClock } from '../../lifecycle/fake-clock.ts';
import { established, plainPeer, probe, tlsPeer, tlsPeerOf } from './world.ts';

const cloud = await createCa({ commonName: 'Cloud CA' });
const proxy = await createCa({ commonName: 'House inspection CA' });

describe('a TLS probe', () => {
  it('is trusted when its chain ends in the given CA, and shows the issuers', async () => {
    await using peer = await tlsPeer(cloud);
    const result = established(await probe(peer, { trusted: cloud.caPem }));
    expect(result.trust).toEqual({ kind: 'trusted', by: 'file' });
    expect(result.protocol).toBe('TLSv1.3');
    expect(result.alpn).toBeNull();
    expect(result.chain[0]).toMatchObject({ subject: 'CN=127.0.0.1', issuer: 'CN=Cloud CA' });
    result.socket.destroy();
  });

  it('is untrusted with another issuer, and names the issuer', async () => {
    await using peer = await tlsPeer(proxy);
    for (const trusted of [cloud.caPem, 'system'] as const) {
      const result = established(await probe(peer, { trusted }));
      expect(result.trust.kind).toBe('untrusted');
      expect(result.chain.at(-1)?.issuer).toBe('CN=House inspection CA');
      result.socket.destroy();
    }
  });

  it('is untrusted also when a proxy sends its own root', async () => {
    const pair = await proxy.issueServer({ names: ['127.0.0.1'] });
    await using peer = await tlsPeerOf({ key: pair.keyPem, cert: pair.certificatePem + proxy.caPem });
    const result = established(await probe(peer, { trusted: cloud.caPem }));
    expect(result.trust).toMatchObject({ kind: 'untrusted', reason: 'SELF_SIGNED_CERT_IN_CHAIN' });
    expect(result.chain.map(({ subject }) => subject)).toEqual(['CN=127.0.0.1', 'CN=House inspection CA']);
    result.socket.destroy();
  });

  it('distinguishes expired, not yet valid and hostname mismatch', async () => {
    const kinds: [object, string][] = [
      [{ notBefore: new Date('2020-01-01'), notAfter: new Date('2020-01-02') }, 'expired'],
      [{ notBefore: new Date('2048-01-01'), notAfter: new Date('2048-01-02') }, 'not-yet-valid'],
      [{ names: ['elsewhere.example'] }, 'hostname-mismatch'],
    ];
    for (const [about, kind] of kinds) {
      await using peer = await tlsPeer(cloud, about);
      const result = established(await probe(peer, { trusted: cloud.caPem }));
      expect(result.trust.kind).toBe(kind);
      result.socket.destroy();
    }
  });

  it('is neither trusted nor untrusted without a trust anchor', async () => {
    await using peer = await tlsPeer(cloud);
    const result = established(await probe(peer, { trusted: null }));
    expect(result.trust).toEqual({ kind: 'no-trust-anchor' });
    result.socket.destroy();
  });

  it('reports the selected ALPN protocol, that none was selected, and that it was rejected', async () => {
    await using peer = await tlsPeer(cloud, { ALPNProtocols: ['x-test-mqtt-ca'] });
    await using deaf = await tlsPeer(cloud);
    const chosen = established(await probe(peer, { trusted: cloud.caPem, alpn: 'x-test-mqtt-ca' }));
    expect(chosen.alpn).toBe('x-test-mqtt-ca');
    chosen.socket.destroy();
    const none = established(await probe(deaf, { trusted: cloud.caPem, alpn: 'x-test-mqtt-ca' }));
    expect(none.alpn).toBeNull();
    none.socket.destroy();
    const expected = { kind: 'failed', failure: { kind: 'alpn-refused' } };
    expect(await probe(peer, { trusted: cloud.caPem, alpn: 'x-other' })).toMatchObject(expected);
  });

  it('distinguishes silence, a closed connection, and a peer without TLS', async () => {
    const clock = createFakeClock();
    await using silent = await plainPeer((socket) => socket.once('data', () => clock.advance(300)));
    await using cutting = await plainPeer((socket) => socket.once('data', () => socket.resetAndDestroy()));
    await using closing = await plainPeer((socket) => socket.once('data', () => socket.end()));
    await using web = await plainPeer((socket) =>
      socket.once('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')),
    );
    const kindOf = async (peer: Parameters<typeof probe>[0]) => {
      const result = await probe(peer, { timeoutMs: 300, clock });
      return result.kind === 'failed' ? result.failure.kind : result.kind;
    };
    expect(await kindOf(silent)).toBe('no-answer');
    expect(await kindOf(cutting)).toBe('cut');
    expect(await kindOf(closing)).toBe('cut');
    expect(await kindOf(web)).toBe('not-tls');
  });

  it('sends a ClientHello that fits into one packet where that is requested', async () => {
    const lengths: number[] = [];
    await using peer = await plainPeer((socket) =>
      socket.once('data', (bytes) => {
        lengths.push(bytes.length);
        socket.on('data', (more) => lengths.push(more.length)).end();
      }),
    );
    await probe(peer, { smallHello: true });
    expect(lengths).toHaveLength(1);
    expect(lengths[0]).toBeLessThan(1_000);
    await using cloudPeer = await tlsPeer(cloud);
    const result = established(await probe(cloudPeer, { smallHello: true, trusted: cloud.caPem }));
    expect(result.trust).toEqual({ kind: 'trusted', by: 'file' });
    result.socket.destroy();
  });

  it('is rejected by the peer with TLS 1.2 when a client certificate is missing', async () => {
    const demands = { requestCert: true, rejectUnauthorized: true, ca: cloud.caPem, maxVersion: 'TLSv1.2' } as const;
    await using peer = await tlsPeer(cloud, demands);
    const result = await probe(peer, { trusted: cloud.caPem });
    expect(result).toMatchObject({ kind: 'failed', failure: { kind: 'alert', alert: 'handshake failure' } });
  });

  it('ends at once when it is interrupted', async () => {
    const abort = new AbortController();
    await using silent = await plainPeer((socket) => socket.once('data', () => abort.abort(new Error('enough'))));
    await expect(probe(silent, { signal: abort.signal })).rejects.toThrow('enough');
  });

  it('fails without a throw for an invalid key', async () => {
    await using peer = await tlsPeer(cloud);
    const result = await probe(peer, { credentials: { keyPem: 'no key', certificatePem: 'no certificate' } });
    expect(result.kind).toBe('failed');
  });
});

describe('the errors of node for a failed handshake', () => {
  it('are classified by the state of the peer', () => {
    const alert = (number: number) =>
      tlsFailureOf(new Error(`0A000460:SSL routines::words:SSL alert number ${number}\n`));
    expect(alert(120)).toEqual({ kind: 'alpn-refused' });
    expect(alert(116)).toEqual({ kind: 'certificate-refused', alert: 'certificate required' });
    expect(alert(48)).toEqual({ kind: 'certificate-refused', alert: 'unknown CA' });
    expect(alert(40)).toEqual({ kind: 'alert', alert: 'handshake failure' });
    expect(alert(255)).toEqual({ kind: 'alert', alert: 'alert 255' });
    expect(tlsFailureOf(Object.assign(new Error('x'), { code: 'ECONNRESET' }))).toEqual({ kind: 'cut' });
  });

  it('are classified without a throw, whatever was thrown', { tags: 'property' }, () => {
    fc.assert(
      fc.property(fc.oneof(fc.anything(), fc.record({ code: fc.string() })), (error) => {
        expect(typeof tlsFailureOf(error).kind).toBe('string');
        expect(typeof trustOf(error, 'file').kind).toBe('string');
      }),
    );
  });
});

describe('certificates', () => {
  it('form a finite chain, also when one signs itself', () => {
    const [root] = certificatesOf(cloud.caPem) ?? [];
    expect(sentChain(root).map(({ subject }) => subject)).toEqual(['CN=Cloud CA']);
    expect(sentChain(undefined)).toEqual([]);
  });
});
