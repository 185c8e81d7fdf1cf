import type { Noise } from '../fleet/index.ts';
import type { Finding } from './finding.result.ts';

/** What the site file says of the fleet, and how long it was listened for. */
export interface ExpectedFleet {
  /** The serial of the robot from which it was listened. */
  readonly own: string;
  /** Serials of the other robots of the site. */
  readonly expected: readonly string[];
  readonly broadcast: boolean;
  readonly unicast: readonly string[];
  readonly seconds: number;
}

/** A robot that was heard, by whoever heard it. */
export interface Voice {
  readonly serial: string;
  readonly address: string;
}

export interface HeardFleet {
  /** Every robot that was heard alive; who only tries a path is none. */
  readonly voices: readonly Voice[];
  /** Serials that were heard by broadcast. */
  readonly byBroadcast: ReadonlySet<string>;
  /** The voices of every serial that two devices speak with. */
  readonly conflicts: readonly Voice[];
  readonly noise: readonly Noise[];
  /** What was listened to here; everything else went to the gateway. */
  readonly hears: 'everything' | 'broadcasts';
  /** Why the gateway of this machine was not asked, when it has the port and could not be. */
  readonly notAsked: string | null;
}

/** What is right and wrong with the heartbeat of a site, as far as it could be heard from here. */
export function fleetFindings(site: ExpectedFleet, heard: HeardFleet): Finding[] {
  const { own, expected, broadcast, unicast, seconds } = site;
  return [
    ...robotFindings(expected, heard, seconds),
    strangerFinding(expected, own, heard),
    broadcastFinding(broadcast, own, heard),
    ...unicastFindings(unicast, heard),
    conflictFinding(heard),
    noiseFinding(heard),
  ];
}

function robotFindings(expected: readonly string[], { voices, notAsked }: HeardFleet, seconds: number): Finding[] {
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

function strangerFinding(expected: readonly string[], own: string, { voices, notAsked }: HeardFleet): Finding {
  const title = 'Everybody who speaks is of the site';
  if (expected.length === 0) return finding('strangers', title, 'not-checked', 'fleet.robots names no other');
  const strangers = [...new Set(voices.map(({ serial }) => serial))].filter(
    (serial) => serial !== own && !expected.includes(serial),
  );
  if (strangers.length > 0) {
    const [has, is] = strangers.length === 1 ? ['has', 'is'] : ['have', 'are'];
    const detail = `${strangers.join(', ')} ${has} the key and ${is} not in fleet.robots`;
    const remedy = 'Add them to fleet.robots of every site file, or give the site another key.';
    return finding('strangers', title, 'wrong', detail, remedy);
  }
  if (notAsked !== null) return finding('strangers', title, 'not-checked', notAskedText(notAsked));
  if (voices.length === 0) return finding('strangers', title, 'not-checked', 'no robot was heard at all');
  return finding('strangers', title, 'ok', 'nobody else was heard with the key');
}

function broadcastFinding(isUsed: boolean, own: string, { byBroadcast, voices }: HeardFleet): Finding {
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

function unicastFindings(unicast: readonly string[], { voices, notAsked }: HeardFleet): Finding[] {
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

function conflictFinding({ conflicts, voices, notAsked }: HeardFleet): Finding {
  const title = 'No serial is spoken with twice';
  if (conflicts.length > 0) {
    const said = [...new Set(conflicts.map(({ serial, address }) => `${serial} from ${address}`))].join(', ');
    const remedy = 'Two robots are set up with one serial (a copied site file?), or somebody plays a recording.';
    return finding('conflicts', title, 'wrong', said, remedy);
  }
  if (notAsked !== null) return finding('conflicts', title, 'not-checked', notAskedText(notAsked));
  if (voices.length === 0) return finding('conflicts', title, 'not-checked', 'no robot was heard at all');
  return finding('conflicts', title, 'ok', 'no two devices speak with one serial');
}

function noiseFinding({ noise, voices, hears }: HeardFleet): Finding {
  const title = 'Nobody speaks wrongly';
  if (noise.length === 0) {
    if (voices.length === 0) return finding('noise', title, 'not-checked', 'nobody spoke at all');
    const detail =
      hears === 'everything'
        ? 'every datagram was a beat with the key of the site'
        : 'every broadcast was a beat with the key of the site; what is sent to this machine alone was not looked at';
    return finding('noise', title, 'ok', detail);
  }
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
