import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { type EnrolmentStep, enrolmentSteps } from '../../../src/lib/enrolment/enrol.ts';
import { loadIdentity, readPending } from '../../../src/lib/enrolment/index.ts';
import type { CertificateAuthority } from '../../../src/lib/sim/cloud/certificates.ts';
import { run } from '../namespace.ts';
import { ENROLMENT, nameOf } from '../segments.ts';
import { type CommandResult, gw, type Machine, SERIAL } from './day.ts';

const child = fileURLToPath(new URL('../../enrolment/enrol-child.ts', import.meta.url));

/**
 * Three keys, so that there is a run to interrupt after every step: a run that resumes with a key creates none, and one
 * that finds its identity in place installs none.
 */
const cuts = [
  ['folder-ready', 'key-made', 'key-draft', 'key-placed', 'connected', 'sent', 'answered', 'verified'],
  ['key-kept', 'identity-draft', 'identity-kept', 'cleaned-up'],
  ['identity-placed'],
] as const satisfies readonly EnrolmentStep[][];

/** Enrols the gateway and renews it twice, interrupted after each step, and returns the output of `gw enrol`. */
export async function enrolCut(
  gateway: Machine,
  authority: CertificateAuthority,
  codes: readonly string[],
): Promise<{ readonly first: CommandResult; readonly last: CommandResult; readonly again: CommandResult }> {
  expect(cuts.flat().toSorted()).toEqual([...enrolmentSteps].toSorted());
  const identityDir = join(gateway.dir, 'identity');
  const codeFile = join(gateway.dir, 'secrets', 'code');

  async function cutAfter(killAt: EnrolmentStep, code: string, renew: boolean): Promise<void> {
    const device = { model: null, software: null };
    const trust = authority.caPem;
    const options = { killAt, code, url: `https://${ENROLMENT}`, identityDir, trust, serial: SERIAL, device, renew };
    const ended = await run(nameOf('gateway'), ['--no-warnings', child], { input: JSON.stringify(options) });
    expect([killAt, ended.signal, ended.stderr]).toEqual([killAt, 'SIGKILL', '']);
  }

  async function cutEach(steps: readonly EnrolmentStep[], code: string, renew: boolean): Promise<void> {
    const before = await loadIdentity(identityDir);
    const keys = new Set<string>();
    for (const step of steps) {
      await cutAfter(step, code, renew);
      const key = (await readPending(identityDir))?.keyPem;
      if (key !== undefined) keys.add(key);
      // The old one or the new one, never half of either.
      const isInstalled = ['identity-placed', 'identity-kept', 'cleaned-up'].includes(step);
      const now = await loadIdentity(identityDir);
      expect([step, now?.certificate.pem === before?.certificate.pem]).toEqual([step, !isInstalled]);
    }
    expect(keys.size).toBe(1);
  }

  const [one = '', two = '', three = ''] = codes;
  writeFileSync(codeFile, `${one}\n`, { mode: 0o600 });
  await cutEach(cuts[0], one, false);
  const first = await gw(gateway, ['enrol', '--code-file', codeFile]);
  await cutEach(cuts[1], two, true);
  await cutEach(cuts[2], three, true);
  const last = await gw(gateway, ['enrol', '--renew', '--code-file', codeFile]);
  const again = await gw(gateway, ['enrol', '--code-file', codeFile]);
  return { first, last, again };
}
