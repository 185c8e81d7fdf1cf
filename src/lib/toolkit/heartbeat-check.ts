import { z } from 'zod';
import { GwError } from '../error/index.ts';
import {
  closeSocket,
  createSniffer,
  openBesideOthers,
  openBroadcastsOnly,
  readKeyRing,
  type SniffView,
} from '../fleet/index.ts';
import type { Finding } from './finding.result.ts';
import type { HeartbeatCheck } from './heartbeat-check.result.ts';
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
    z.looseObject({ serial: z.string(), address: z.string(), presence: z.enum(['alive', 'late', 'gone']) }),
  ),
});

/** A robot that was heard, by whoever heard it. */
interface Voice {
  readonly serial: string;
  readonly address: string;
}

interface Heard {
  readonly hears: HeartbeatCheck['hears'];
  /** Everybody that was heard alive. */
  readonly voices: readonly Voice[];
  /** Serials that were heard by broadcast. */
  readonly byBroadcast: ReadonlySet<string>;
  readonly sniffed: SniffView;
  /** Why the gateway of this machine was not asked, when it has the port and could not be. */
  readonly notAsked: string | null;
}

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
  const findings = [
    ...robotFindings(expected, heard, options.seconds),
    strangerFinding(expected, own, heard),
    broadcastFinding(fleet.broadcast, own, heard),
    ...unicastFindings(fleet.unicast, heard),
    conflictFinding(heard),
    noiseFinding(heard),
  ];
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
): Promise<Heard> {
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

  const sniffed = sniffer.view();
  const voices: Voice[] = sniffed.speakers.filter(({ presence }) => presence === 'alive');
  let notAsked: string | null = null;
  if (hears === 'broadcasts') {
    try {
      const { robots } = await operatorAccess(toolkit, context).ask('GET', '/api/nachbarn', neighboursSchema);
      voices.push(...robots.filter(({ presence }) => presence === 'alive'));
    } catch (error) {
      if (context.signal.aborted || !(error instanceof GwError)) throw error;
      notAsked = error.message;
    }
  }
  const byBroadcast = new Set(broadcasts.view().speakers.map(({ serial }) => serial));
  return { hears, voices, byBroadcast, sniffed, notAsked };
}

function robotFindings(expected: readonly string[], { voices, notAsked }: Heard, seconds: number): Finding[] {
  if (expected.length === 0) {
    return [
      finding('robots', 'The robots of the site speak', 'not-checked', 'fleet.robots of the site file names no other'),
    ];
  }
  return expected.map((serial) => {
    const title = `${serial} speaks`;
    const addresses = [...new Set(voices.filter((voice) => voice.serial === serial).map(({ address }) => address))];
    if (addresses.length > 0) return finding(`robot-${serial}`, title, 'ok', `heard from ${addresses.join(', ')}`);
    if (notAsked !== null) return finding(`robot-${serial}`, title, 'not-checked', notAskedText(notAsked));
    return finding(
      `robot-${serial}`,
      title,
      'wrong',
      `not heard in ${seconds} s`,
      'See that its gw serve runs with the same key, and who is heard at all: gw heartbeat sniff.',
    );
  });
}

function strangerFinding(expected: readonly string[], own: string, { voices }: Heard): Finding {
  const title = 'Everybody who speaks is of the site';
  if (expected.length === 0) return finding('strangers', title, 'not-checked', 'fleet.robots names no other');
  const strangers = [...new Set(voices.map(({ serial }) => serial))].filter(
    (serial) => serial !== own && !expected.includes(serial),
  );
  if (strangers.length === 0) return finding('strangers', title, 'ok', 'nobody else has the key');
  return finding(
    'strangers',
    title,
    'wrong',
    `${strangers.join(', ')} ${strangers.length === 1 ? 'has' : 'have'} the key and ${strangers.length === 1 ? 'is' : 'are'} not in fleet.robots`,
    'Add them to fleet.robots of every site file, or give the site another key.',
  );
}

function broadcastFinding(isUsed: boolean, own: string, { byBroadcast, voices }: Heard): Finding {
  const title = 'Broadcast passes';
  if (!isUsed) return finding('broadcast', title, 'not-checked', 'fleet.broadcast is off');
  const others = [...byBroadcast].filter((serial) => serial !== own);
  if (others.length > 0) return finding('broadcast', title, 'ok', `heard by it: ${others.sort().join(', ')}`);
  if (voices.every(({ serial }) => serial === own)) {
    return finding('broadcast', title, 'not-checked', 'no other robot was heard at all');
  }
  return finding(
    'broadcast',
    title,
    'wrong',
    'other robots are heard, and none of them by broadcast',
    'The network filters it: name the other gateways in fleet.unicast, and set fleet.broadcast to false.',
  );
}

function unicastFindings(unicast: readonly string[], { voices, notAsked }: Heard): Finding[] {
  return unicast.map((address) => {
    const title = `${address} answers with beats of its own`;
    const serials = [...new Set(voices.filter((voice) => voice.address === address).map(({ serial }) => serial))];
    if (serials.length > 0)
      return finding(`unicast-${address}`, title, 'ok', `${serials.join(', ')} speaks from there`);
    if (notAsked !== null) return finding(`unicast-${address}`, title, 'not-checked', notAskedText(notAsked));
    return finding(
      `unicast-${address}`,
      title,
      'wrong',
      'nothing came from there',
      'See that a gateway of the site has this address, and that this one stands in its fleet.unicast.',
    );
  });
}

function conflictFinding({ sniffed }: Heard): Finding {
  const title = 'No serial is spoken with twice';
  const doubled = sniffed.speakers.filter(({ alsoFrom }) => alsoFrom.length > 0);
  if (doubled.length === 0) return finding('conflicts', title, 'ok', 'every serial comes from one address');
  const said = doubled.map(({ serial, address }) => `${serial} from ${address}`).join(', ');
  const remedy = 'Two robots are set up with one serial, or one changed its address just now: look at both.';
  return finding('conflicts', title, 'wrong', said, remedy);
}

function noiseFinding({ sniffed: { noise } }: Heard): Finding {
  const title = 'Nobody speaks wrongly';
  if (noise.length === 0) return finding('noise', title, 'ok', 'every datagram was a beat with the key of the site');
  const said = noise.map(({ address, otherKey, forged, otherVersion, malformed }) => {
    const what = Object.entries({ 'other key': otherKey, forged, 'other version': otherVersion, malformed });
    const counted = what.filter(([, count]) => count > 0).map(([word, count]) => `${count} ${word}`);
    return `${address ?? 'more addresses'} (${counted.join(', ')})`;
  });
  const remedy = 'A robot with another key, or of another site: compare the keys with `gw site check` on both.';
  return finding('noise', title, 'wrong', said.join(', '), remedy);
}

function notAskedText(why: string): string {
  return `what is sent to this machine alone goes to another program, and its gateway was not asked: ${why}`;
}

function finding(
  id: string,
  title: string,
  verdict: Finding['verdict'],
  detail: string,
  remedy: string | null = null,
): Finding {
  return { id, title, verdict, detail, remedy, spec: null };
}
