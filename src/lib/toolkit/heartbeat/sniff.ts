import { GwError } from '../../error/index.ts';
import {
  closeSocket,
  createSniffer,
  openBesideOthers,
  readKeyRing,
  readPortTable,
  type SniffView,
} from '../../fleet/index.ts';
import type { Clock } from '../../lifecycle/index.ts';
import { aborted, onAbort } from '../../lifecycle/index.ts';
import { loadSite, type Site } from '../../site/index.ts';
import { fleetOf } from './fleet.ts';
import type { HeartbeatSniffEvent } from './sniff.result.ts';

export interface HeartbeatSniffOptions {
  readonly sitePath: string;
  /** false: nothing is verified, and no site file is needed. */
  readonly withKey: boolean;
  /** For how long; without it until the signal. */
  readonly seconds?: number | undefined;
  /** How often what was heard is told. */
  readonly everyMs: number;
  readonly clock: Clock;
}

/**
 * Listens on the port of the heartbeat and tells who speaks, how regularly, and who speaks wrongly. Sends nothing, and
 * takes nothing from a `gw serve` on the same machine. An aborted signal is the ordinary end. Throws
 * SITE_FILE_NOT_FOUND, SITE_FILE_INVALID, SECRET_UNREADABLE, PORT_IN_USE.
 */
export async function sniffHeartbeats(
  { sitePath, withKey, seconds, everyMs, clock }: HeartbeatSniffOptions,
  { signal }: { readonly signal: AbortSignal },
  onView: (view: HeartbeatSniffEvent) => void,
): Promise<HeartbeatSniffEvent> {
  const fleet = withKey ? fleetOf(await siteOf(sitePath)) : null;
  const keys = fleet === null ? null : await readKeyRing(fleet);
  const sniffer = createSniffer({ keys, clock, reserved: new Set(fleet?.robots) });
  const { socket, hears } = await openBesideOthers((bytes, { address }) => sniffer.take(bytes, address));
  const droppedBefore = readPortTable()?.dropped ?? 0;
  const began = clock.monotonicMs();
  const over = new AbortController();
  const end = () => over.abort();
  const eventOf = (event: HeartbeatSniffEvent['event']): HeartbeatSniffEvent => {
    const port = readPortTable();
    return {
      event,
      at: clock.wall().toISOString(),
      forMs: Math.round(clock.monotonicMs() - began),
      // Who opens the port later takes from then on what is sent to this machine alone.
      hears: port !== null && port.openToAll > 1 ? 'broadcasts' : hears,
      verifies: withKey,
      ...viewOf(sniffer.view()),
      // Sockets that were closed meanwhile took their counts with them.
      dropped: port === null ? null : Math.max(0, port.dropped - droppedBefore),
    };
  };
  socket.on('error', (error) => over.abort(error));
  using _aborted = onAbort(signal, end);
  try {
    using _pace = clock.every(everyMs, () => onView(eventOf('state')));
    using _limit = seconds === undefined ? undefined : clock.after(seconds * 1_000, end);
    onView(eventOf('state'));
    // The socket alone does not keep a process that waits for an event of it.
    await aborted(over.signal);
    if (over.signal.reason instanceof Error && over.signal.reason.name !== 'AbortError') throw over.signal.reason;
    return eventOf('ended');
  } finally {
    await closeSocket(socket);
  }
}

/** Who only wants to listen needs no site file. */
function siteOf(path: string): Promise<Site> {
  return loadSite(path).catch((error: unknown) => {
    if (!(error instanceof GwError) || error.code !== 'SITE_FILE_NOT_FOUND') throw error;
    throw new GwError(error.code, error.message, {
      remedy: 'Name it with --site FILE, or listen without verifying anything: gw heartbeat sniff --no-key.',
      cause: error,
    });
  });
}

function viewOf({ datagrams, speakers, moreBeats, noise }: SniffView) {
  return {
    datagrams,
    speakers: speakers.map(({ last, ageMs, alsoFrom, conflictWith, ...speaker }) => {
      const { moving, stopped, batteryPercent, pose, software } = last.state;
      return {
        ...speaker,
        ageMs: Math.round(ageMs),
        alsoFrom: [...alsoFrom],
        conflictWith: [...conflictWith],
        bootCounter: last.bootCounter,
        sequence: last.sequence,
        uptimeS: last.uptimeS,
        moving,
        stopped,
        batteryPercent,
        pose,
        software: software === '' ? null : software,
      };
    }),
    moreBeats,
    noise: noise.map((row) => ({ ...row })),
  };
}
