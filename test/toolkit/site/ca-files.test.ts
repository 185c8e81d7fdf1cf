import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { planOf } from '../../../src/lib/cloud/link/plans.ts';
import { createStorageTrust } from '../../../src/lib/cloud/storage/trust.ts';
import { GwError } from '../../../src/lib/error/index.ts';
import { silentLog, systemClock } from '../../../src/lib/lifecycle/index.ts';
import { directDialer } from '../../../src/lib/net/index.ts';
import { loadSite, type Site } from '../../../src/lib/site/index.ts';
import { verifyRecordAt } from '../../../src/lib/toolkit/checklist/record-file.ts';
import { enrolDevice } from '../../../src/lib/toolkit/enrol/enrol.ts';
import { pathPlans } from '../../../src/lib/toolkit/network/check/plans.ts';
import { checkHttp } from '../../../src/lib/toolkit/own-check/http.ts';
import { checkSite } from '../../../src/lib/toolkit/site/check.ts';
import { openToolkit } from '../../../src/lib/toolkit/toolkit.ts';
import { connectTunnel } from '../../../src/lib/toolkit/tunnel/connect.ts';
import { runProxy } from '../../../src/lib/tunnel/proxy/run.ts';
import { ACCESS, CLIENT, SUBPROTOCOL } from '../../tunnel/proxy/world.ts';
import { caFileCases } from '../../x509/ca-files.ts';
import { context, ownFolder } from '../kit.ts';

let dir: string;
const caFile = () => join(dir, 'ca.pem');
const sitePath = () => join(dir, 'site.yaml');
const openSite = (): Promise<Site> => loadSite(sitePath());

beforeEach(() => {
  dir = ownFolder();
  writeFileSync(
    sitePath(),
    `name: x
chassis: { host: 127.0.0.1, port: 1, serial: SN1 }
enrolment: { url: https://127.0.0.1:1, caFile: ca.pem }
cloud:
  mqtt: { host: 127.0.0.1, alpn: x, caFile: ca.pem }
  caFile: ca.pem
  tunnel: { host: 127.0.0.1, port: 1 }
`,
  );
});

/** The error that a step throws; null for none. */
async function thrown(work: () => Promise<unknown>): Promise<GwError | null> {
  try {
    await work();
    return null;
  } catch (error) {
    if (error instanceof GwError) return error;
    throw error;
  }
}
/** The refusal of a command that goes on with the file once it is accepted, and then fails with one of these codes. */
async function refusal(work: () => Promise<unknown>, ...goesOn: string[]): Promise<string | null> {
  const error = await thrown(work);
  return error === null || goesOn.includes(error.code) ? null : error.message;
}

/** Each returns the refusal of the file; null where it is accepted. */
const readers: Readonly<Record<string, () => Promise<string | null>>> = {
  async 'site check'() {
    const found = (await checkSite(sitePath())).findings.find(({ id }) => id === 'ca-files');
    return found?.verdict === 'ok' ? null : (found?.detail ?? '');
  },
  enrol: async () => {
    const toolkit = await openToolkit(sitePath());
    const renew = { renew: false, readCode: async () => 'CODE' };
    return refusal(() => enrolDevice(toolkit, renew, context()), 'CHASSIS_NOT_CONNECTED');
  },
  'network check': async () => refusal(async () => pathPlans(await openSite(), { kind: 'none' })),
  async 'cloud link of serve'() {
    const { cloud } = await openSite();
    const identity = { endpoint: '127.0.0.1', caPem: '' } as Parameters<typeof planOf>[2];
    if (cloud === undefined) throw new Error('no cloud');
    const plan = await planOf('fallback', cloud, identity, new Date(0));
    return 'outcome' in plan ? plan.outcome.detail : null;
  },
  async 'object storage of serve'() {
    // It reads a refused file again after a while; the first reading decides here.
    const sleep = () => Promise.reject(new Error('read once'));
    const trust = createStorageTrust({ caFile: caFile(), clock: { ...systemClock, sleep }, log: silentLog });
    await trust.read(new AbortController().signal).catch(() => {});
    return refusal(async () => trust.pem());
  },
  'tunnel connect': async () =>
    refusal(
      async () =>
        connectTunnel(
          { site: await openSite(), clock: systemClock },
          { services: ['web'], listen: [], readToken: async () => 'no token' } as never,
          context(),
          () => {},
        ),
      'USAGE',
    ),
  async 'tunnel session of serve'() {
    const stopped = AbortSignal.abort(new Error('after the file was read'));
    const place = {
      host: '127.0.0.1',
      port: 1,
      subprotocol: SUBPROTOCOL,
      caFile: caFile(),
      services: ['web'],
      maxS: 60,
    };
    const tokens = { access: ACCESS, client: CLIENT };
    const { exit, detail } = await runProxy(place, {
      tokens,
      log: silentLog,
      clock: systemClock,
      random: () => 0.5,
      signal: stopped,
      onEvent() {},
    });
    return exit === 'configuration' ? detail : null;
  },
  'record verify': async () =>
    refusal(() => verifyRecordAt(join(dir, 'none.json'), { caPath: caFile() }), 'FILE_UNREADABLE'),
  'http of a checklist': async () =>
    refusal(() =>
      checkHttp(
        { dialer: directDialer, clock: systemClock },
        { url: 'https://127.0.0.1:1/', method: 'GET', headers: {}, verifyTls: true, caFile: caFile(), timeoutS: 1 },
        context(),
      ),
    ),
};

describe.each(Object.keys(readers))('%s', (name) => {
  it.each(caFileCases)('$name', async ({ bytes, count, says }) => {
    writeFileSync(caFile(), bytes);
    const refused = await readers[name]?.();
    if (count === null) expect(refused).toMatch(says ?? /./);
    else expect(refused).toBeNull();
  });
});
