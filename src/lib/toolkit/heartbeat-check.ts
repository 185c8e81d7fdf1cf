import { z } from 'zod';
import { GwError } from '../error/index.ts';
import { closeSocket, createSniffer, openBesideOthers, openBroadcastsOnly, readKeyRing } from '../fleet/index.ts';
import type { Finding } from './finding.result.ts';
import type { HeartbeatCheck } from './heartbeat-check.result.ts';
import { fleetFindings, type HeardFleet, type Voice } from './heartbeat-findings.ts';
import { fleetOf } from './heartbeat-fleet.ts';
import { operatorAccess } from './operator-access.ts';
import type { CheckContext, Toolkit } from './toolkit.ts';

export interface HeartbeatCheckOptions {
  /** How long to listen. */
  readonly seconds: number;
}

/** What is asked of the gateway of this machine, where it has the port. */
const neighboursSchema = z.looseObject({
  robots: z.array(
    z.looseObject({
      serial: z.string(),
      address: z.string(),
      presence: z.enum(['alive', 'late', 'gone']),
      conflictWith: z.string().nullable(),
    }),
  ),
  ownSerialFrom: z.string().nullable(),
});

/**
 * Listens for some seconds and holds what it hears against the site file: every robot of it speaks, broadcast passes,
 * every address of the unicast list answers with beats of its own, nobody speaks wrongly. Sends nothing. Throws
 * SITE_FILE_INVALID without `fleet` in the site file, SECRET_UNREADABLE, PORT_IN_USE, INTERRUPTED.
 */
export async function checkHeartbeat(
  toolkit: Toolkit,
  options: HeartbeatCheckOptions,
  context: CheckContext,
): Promise<HeartbeatCheck> {
  const { site, clock } = toolkit;
  const fleet = fleetOf(site);
  const beganMs = clock.monotonicMs();
  const heard = await listen(toolkit, fleet, options.seconds, context);
  const own = site.chassis.serial;
  const expected = fleet.robots.filter((serial) => serial !== own);
  const findings = fleetFindings({ ...fleet, own, expected, seconds: options.seconds }, heard);
  const count = (verdict: Finding['verdict']) => findings.filter((finding) => finding.verdict === verdict).length;
  const counts = { ok: count('ok'), wrong: count('wrong'), notChecked: count('not-checked') };
  return {
    verdict: counts.wrong === 0 ? 'ok' : 'wrong',
    heard: [...new Set(heard.voices.map(({ serial }) => serial))].filter((serial) => serial !== own).sort(),
    expected,
    hears: heard.hears,
    findings,
    counts,
    tookMs: Math.round(clock.monotonicMs() - beganMs),
  };
}

async function listen(
  toolkit: Toolkit,
  fleet: NonNullable<Toolkit['site']['fleet']>,
  seconds: number,
  context: CheckContext,
): Promise<HeardFleet> {
  const { clock } = toolkit;
  const keys = await readKeyRing(fleet);
  const sniffer = createSniffer({ keys, clock });
  const broadcasts = createSniffer({ keys, clock });
  context.onProgress(`listening for ${seconds} s`);
  await using sockets = new AsyncDisposableStack();
  const { socket, hears } = await openBesideOthers((bytes, { address }) => sniffer.take(bytes, address));
  sockets.defer(() => closeSocket(socket));
  const only = await openBroadcastsOnly((bytes, { address }) => broadcasts.take(bytes, address));
  sockets.defer(() => closeSocket(only));
  // That something went wrong with one of them shows as silence.
  for (const each of [socket, only]) each.on('error', () => {});
  await clock.sleep(seconds * 1_000, context.signal);

  const { speakers, noise } = sniffer.view();
  const sniffed = speakers.filter(({ test }) => !test);
  const voices: Voice[] = sniffed.filter(({ presence }) => presence === 'alive');
  const conflicts: Voice[] = sniffed.filter(({ conflictWith }) => conflictWith.length > 0);
  let notAsked: string | null = null;
  if (hears === 'broadcasts') {
    try {
      const view = await operatorAccess(toolkit, context).ask('GET', '/api/nachbarn', neighboursSchema);
      voices.push(...view.robots.filter(({ presence }) => presence === 'alive'));
      for (const { serial, address, conflictWith } of view.robots) {
        if (conflictWith !== null) conflicts.push({ serial, address }, { serial, address: conflictWith });
      }
      if (view.ownSerialFrom !== null) {
        conflicts.push({ serial: toolkit.site.chassis.serial, address: view.ownSerialFrom });
      }
    } catch (error) {
      if (context.signal.aborted || !(error instanceof GwError)) throw error;
      notAsked = error.message;
    }
  }
  const broadcasting = broadcasts.view().speakers.filter(({ test }) => !test);
  const byBroadcast = new Set(broadcasting.map(({ serial }) => serial));
  return { hears, voices, byBroadcast, conflicts, noise, notAsked };
}
