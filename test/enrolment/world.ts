import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'vitest';
import { type EnrolOptions, enrol } from '../../src/lib/enrolment/enrol.ts';
import { systemClock } from '../../src/lib/lifecycle/index.ts';
import { directDialer } from '../../src/lib/net/index.ts';
import { type CertificateAuthority, createCa } from '../../src/lib/sim/cloud/certificates.ts';
import { type EnrolmentEndpoint, startEnrolment } from '../../src/lib/sim/cloud/enrolment.ts';
import type { FaultName } from '../../src/lib/sim/index.ts';
import { fresh } from '../cloud/fresh.ts';

export const serial = 'SN-0815';
export const device = { model: 'model-x', software: '2.12.3' };

const authority = await createCa();

/** A folder of its own and an enrolment endpoint in this process, with switchable faults. */
export interface World extends AsyncDisposable {
  readonly dir: string;
  readonly identityDir: string;
  readonly authority: CertificateAuthority;
  readonly endpoint: EnrolmentEndpoint;
  readonly faults: Set<FaultName>;
  /** Options of `enrol`; the code is a new one for every call without one. */
  options(more?: Partial<EnrolOptions>): EnrolOptions;
  enrol(more?: Partial<EnrolOptions>): ReturnType<typeof enrol>;
}

export async function startWorld(): Promise<World> {
  const dir = mkdtempSync(join(tmpdir(), 'gw-enrolment-'));
  const faults = new Set<FaultName>();
  const endpoint = await startEnrolment({
    ca: authority,
    clock: systemClock,
    faults: { is: (name) => faults.has(name) },
    broker: 'mqtt.example.com',
    region: 'eu-central-1',
  });
  const identityDir = join(dir, 'identity');
  const options = (more: Partial<EnrolOptions> = {}): EnrolOptions => ({
    ...{ url: endpoint.url, identityDir, trust: authority.caPem, serial, device, renew: false },
    readCode: async () => endpoint.newCode(serial),
    dialer: directDialer,
    clock: systemClock,
    signal: new AbortController().signal,
    ...more,
  });
  return {
    ...{ dir, identityDir, authority, endpoint, faults, options },
    enrol: (more) => enrol(options(more)),
    async [Symbol.asyncDispose]() {
      await endpoint[Symbol.asyncDispose]();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** A test with a world of its own. */
export const it = test.extend('world', fresh(startWorld));

/** The error that a promise is rejected with; fails when it resolves. */
export async function failureOf(work: Promise<unknown>): Promise<Error & { code?: string }> {
  return work.then(
    () => {
      throw new Error('expected a failure');
    },
    (error: Error) => error,
  );
}

/** Certificate signing requests in the bodies that the endpoint received. */
export function requestsOf(endpoint: EnrolmentEndpoint): string[] {
  return endpoint.requests().flatMap(({ body }) => {
    const { certificateRequest } = JSON.parse(body) as { certificateRequest?: string };
    return certificateRequest === undefined ? [] : [certificateRequest];
  });
}
