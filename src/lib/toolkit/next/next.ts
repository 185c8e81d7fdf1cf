import type { Clock } from '../../lifecycle/index.ts';
import { directDialer } from '../../net/index.ts';
import { readSite } from '../doctor/files.ts';
import type { CheckContext } from '../toolkit.ts';
import { conclude } from '../verdict.ts';
import { dayOf } from './day.ts';
import type { DayStep, Next } from './next.result.ts';

/**
 * The next command of a commissioning on this machine, from the site file, the state folder and the running gateway as they
 * are now: nothing is remembered. A step after an open one is looked at as well. Changes nothing. The order is a project
 * decision, docs/commissioning.md.
 */
export async function readNext(
  sitePath: string,
  { clock }: { readonly clock: Clock },
  context: CheckContext,
): Promise<Next> {
  const { site, error } = await readSite(sitePath);
  const steps: DayStep[] =
    site === null
      ? [siteStep(sitePath, error)]
      : [validSite(sitePath), ...(await dayOf({ site, clock, dialer: directDialer }, context))];
  return {
    verdict: conclude(steps),
    at: clock.wall().toISOString(),
    site: sitePath,
    serial: site?.chassis.serial ?? null,
    // What cannot be looked at, as a locked tablet, must not hide what is open.
    next:
      steps.find(({ verdict }) => verdict === 'wrong') ??
      steps.find(({ verdict, command }) => verdict === 'not-checked' && command !== null) ??
      null,
    steps,
    unseen: steps.some(({ id, verdict }) => id === 'site' && verdict === 'ok')
      ? []
      : ["whether the letter to the customer's IT was sent: `gw network request --lang de --out anfrage.pdf`"],
  };
}

const start = { id: 'site-file', title: 'Site file' };

const validSite = (path: string): DayStep => ({
  ...start,
  verdict: 'ok',
  detail: `${path} is valid`,
  command: null,
  atHand: [],
});

function siteStep(path: string, { code, message }: { readonly code: string; readonly message: string }): DayStep {
  if (code === 'SITE_FILE_NOT_FOUND') {
    const detail = `there is none at ${path}`;
    const atHand = ['address and serial number of the chassis, from its label or its DHCP reservation'];
    return { ...start, verdict: 'wrong', detail, command: `gw site init ${path}`, atHand };
  }
  const detail = message.replace(/\s*\n\s*/g, '; ');
  return { ...start, verdict: 'wrong', detail, command: `gw site check ${path}`, atHand: [] };
}
