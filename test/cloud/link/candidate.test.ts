import { describe, expect, it } from 'vitest';
import type { CandidateIdentity, LinkIdentity } from '../../../src/lib/cloud/link/model.ts';
import { linkTiming } from '../../../src/lib/cloud/link/timing.ts';
import { atLastSuback, authority, type Client, type FakeBroker, identity, identityOf, linked } from './world.ts';

const timing = { ...linkTiming, pollMs: 500 };
const asksForCertificates = { requestCert: true, rejectUnauthorized: false, ca: authority.caPem };
const fingerprintOf = (client: Client) => client.socket.getPeerCertificate().fingerprint256;

function displaceOthers(broker: FakeBroker, client: Client): void {
  for (const other of broker.clients) if (other !== client && other.connect !== undefined) other.socket.destroy();
}

/** A candidate that is offered until it was tried so often. */
function offered(candidate: LinkIdentity, times = 1) {
  const results: Parameters<CandidateIdentity['tried']>[1][] = [];
  const port: CandidateIdentity = {
    due: () => (results.length < times ? candidate : null),
    tried: (_which, result) => void results.push(result),
  };
  return { port, results };
}

describe('an identity beside the installed one', () => {
  it('is tried beside the connection in use, and is proved when its subscriptions are acknowledged', async () => {
    const candidate = await identityOf(authority);
    const { port, results } = offered(candidate);
    let openAtConnect = 0;
    let installed = identity;
    await using running = await linked(
      (packet, client) => {
        if (packet.cmd !== 'connect') return false;
        openAtConnect = running.broker.clients.filter(({ socket }) => !socket.destroyed).length;
        displaceOthers(running.broker, client);
        return false;
      },
      { timing, candidate: port, readIdentity: async () => installed },
    );
    await running.until(
      'the candidate in use',
      ({ connection }) => connection?.certificate.fingerprintSha256 === candidate.fingerprintSha256,
    );
    expect(results).toEqual([{ failure: null, isUnreachable: false, wasConnected: true }]);
    expect(openAtConnect).toBe(2);
    installed = candidate;
    await running.clock.advance(5_000);
    expect(running.view()).toMatchObject({ status: 'connected', connects: 2, losses: 0, renewalFailure: null });
  });

  it('that the broker refuses costs no connection, and is said to be refused', async () => {
    const candidate = await identityOf(authority);
    const { port, results } = offered(candidate, 2);
    await using running = await linked(
      (packet, client) => {
        if (packet.cmd !== 'connect' || fingerprintOf(client) !== candidate.fingerprintSha256) return false;
        client.send({ cmd: 'connack', returnCode: 5, sessionPresent: false });
        return true;
      },
      { timing, candidate: port },
      asksForCertificates,
    );
    const connection = await running.connected();
    await running.clock.until('tried', () => results.length === 2);
    expect(results[0]).toMatchObject({ failure: { step: 'mqtt' }, isUnreachable: false, wasConnected: true });
    expect(connection.ended.aborted).toBe(false);
    expect(running.view()).toMatchObject({ status: 'connected', connects: 1, losses: 0 });
  });

  it.each<[string, (client: Client) => void]>([
    ['is not available', (client) => client.send({ cmd: 'connack', returnCode: 3, sessionPresent: false })],
    ['does not answer', () => {}],
  ])('is not refused by a broker that %s', async (_what, answer) => {
    const candidate = await identityOf(authority);
    const { port, results } = offered(candidate);
    await using running = await linked(
      (packet, client) => {
        if (packet.cmd !== 'connect' || fingerprintOf(client) !== candidate.fingerprintSha256) return false;
        answer(client);
        return true;
      },
      { timing, candidate: port },
      asksForCertificates,
    );
    await running.connected();
    await running.clock.until('tried', () => results.length === 1);
    expect(results[0]).toMatchObject({ failure: { step: 'mqtt' }, isUnreachable: true, wasConnected: true });
  });

  it('is no proof without the last SUBACK, and the installed one connects again by itself', async () => {
    const candidate = await identityOf(authority);
    const { port, results } = offered(candidate);
    const closing = atLastSuback((client) => client.socket.destroy());
    await using running = await linked(
      (packet, client) => {
        if (packet.cmd === 'connect') displaceOthers(running.broker, client);
        return fingerprintOf(client) === candidate.fingerprintSha256 ? closing(packet, client) : false;
      },
      { timing, candidate: port },
      asksForCertificates,
    );
    await running.clock.until('tried', () => results.length === 1);
    expect(results[0]).toMatchObject({ failure: { step: 'subscribe' }, wasConnected: true });
    const view = await running.until(
      'connected again',
      ({ status, connects }) => status === 'connected' && connects === 2,
    );
    expect(view.connection?.certificate.fingerprintSha256).toBe(identity.fingerprintSha256);
  });

  it('is tried where the broker rejects the installed one, and not where it is not reached', async () => {
    const candidate = await identityOf(authority);
    const { port, results } = offered(candidate);
    let isReached = false;
    await using running = await linked(
      (packet, client) => {
        if (packet.cmd !== 'connect' || fingerprintOf(client) === candidate.fingerprintSha256) return false;
        client.send({ cmd: 'connack', returnCode: 5, sessionPresent: false });
        return true;
      },
      {
        timing,
        candidate: port,
        dialer: {
          way: 'direct',
          async dial(endpoint, options) {
            const { DialError, directDialer } = await import('../../../src/lib/net/index.ts');
            if (!isReached) throw new DialError('refused', { address: endpoint.host, port: endpoint.port, forMs: 1 });
            return directDialer.dial(endpoint, options);
          },
        },
      },
      asksForCertificates,
    );
    await running.until('no network', ({ failures }) => failures.direct?.step === 'tcp' && failures.fallback !== null);
    await running.clock.advance(60_000);
    expect(results).toEqual([]);
    isReached = true;
    const view = await running.until('connected', ({ status }) => status === 'connected');
    expect(view.connection?.certificate.fingerprintSha256).toBe(candidate.fingerprintSha256);
    expect(results).toEqual([{ failure: null, isUnreachable: false, wasConnected: false }]);
  });

  it('of another broker is tried where that of the installed one is gone', async () => {
    const gone = await identityOf(authority, { endpoint: '127.0.0.2' });
    const candidate = await identityOf(authority);
    const { port, results } = offered(candidate);
    await using running = await linked(() => false, { timing, candidate: port, readIdentity: async () => gone });
    const { connection } = await running.until('connected', ({ status }) => status === 'connected');
    expect(connection?.certificate.fingerprintSha256).toBe(candidate.fingerprintSha256);
    expect(results).toEqual([{ failure: null, isUnreachable: false, wasConnected: false }]);
  });
});
