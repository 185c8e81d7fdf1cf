import { GwError } from '../../error/index.ts';
import { closeSocket, createSniffer, openBesideOthers, readKeyRing, readPortTable } from '../../fleet/index.ts';
import { aborted, type Clock, onAbort } from '../../lifecycle/index.ts';
import { directDialer } from '../../net/index.ts';
import { loadSite, type Site } from '../../site/index.ts';
import { gatewayAccess } from '../operator/local-access.ts';
import { fleetOf } from './fleet.ts';
import { type GatewayFeed, gatewayFeed, QUERY_INTERVAL_MS, withFeed } from './gateway.ts';
import type { HeartbeatSniffEvent } from './heartbeat.result.ts';

export interface HeartbeatSniffOptions {
  readonly sitePath: string;
  /** false: nothing is verified, and no site file is needed. */
  readonly withKey: boolean;
  /** Duration; absent: until the signal. */
  readonly seconds?: number | undefined;
  /** Interval of the state events. */
  readonly everyMs: number;
  readonly clock: Clock;
}

/**
 * Listens on the heartbeat port and reports the senders, their timing and rejected datagrams. Sends nothing, and takes no
 * datagrams from a `gw serve` on the same machine: while that one has the port, what is not broadcast is shown as that one
 * reports it. An aborted signal is the normal end. Throws SITE_FILE_NOT_FOUND, SITE_FILE_INVALID, SECRET_UNREADABLE, PORT_IN_USE, and
 * OPERATOR_NOT_REACHABLE when a gateway that was shown is gone.
 */
export async function sniffHeartbeats(
  { sitePath, withKey, seconds, everyMs, clock }: HeartbeatSniffOptions,
  { signal }: { readonly signal: AbortSignal },
  onView: (view: HeartbeatSniffEvent) => void,
): Promise<HeartbeatSniffEvent> {
  const site = withKey ? await siteOf(sitePath) : null;
  const fleet = site === null ? null : fleetOf(site);
  const keys = fleet === null ? null : await readKeyRing(fleet);
  const sniffer = createSniffer({ keys, clock, reserved: new Set(fleet?.robots) });
  const { socket, receives } = await openBesideOthers((bytes, { address }) => sniffer.receive(bytes, address));
  const droppedBefore = readPortTable()?.dropped ?? 0;
  const began = clock.monotonicMs();
  const over = new AbortController();
  const end = () => over.abort();
  socket.on('error', (error) => over.abort(error));
  using _aborted = onAbort(signal, end);
  try {
    const feed = site !== null && receives === 'broadcasts' ? await openFeed(site, clock, over) : null;
    const eventOf = (event: HeartbeatSniffEvent['event']): HeartbeatSniffEvent => {
      const port = readPortTable();
      const own = { ...sniffer.view(), gateway: null };
      // A program that opens the port later gets the unicast datagrams from then on.
      const isShared = port !== null && port.openToAll > 1;
      return {
        event,
        at: clock.wall().toISOString(),
        forMs: Math.round(clock.monotonicMs() - began),
        receives: feed !== null ? 'gateway' : isShared ? 'broadcasts' : receives,
        verifies: withKey,
        ...(feed === null ? own : withFeed(own, feed.view())),
        // The counts of sockets closed meanwhile are gone.
        dropped: port === null ? null : Math.max(0, port.dropped - droppedBefore),
      };
    };
    using _pace = clock.every(everyMs, () => onView(eventOf('state')));
    using _limit = seconds === undefined ? undefined : clock.after(seconds * 1_000, end);
    onView(eventOf('state'));
    // The socket alone does not keep the process alive.
    await aborted(over.signal);
    if (over.signal.reason instanceof Error && over.signal.reason.name !== 'AbortError') throw over.signal.reason;
    return eventOf('ended');
  } finally {
    await closeSocket(socket);
  }
}

/**
 * What the gateway of this site file on this machine receives, from now on; null where none answers, or where it does not
 * listen. A gateway that is gone later ends the command: its last view would grow old without a word.
 */
async function openFeed(site: Site, clock: Clock, over: AbortController): Promise<GatewayFeed | null> {
  const context = { signal: over.signal, onProgress: () => {} };
  const feed = gatewayFeed(await gatewayAccess({ site, dialer: directDialer, clock }, context), clock);
  const isListening = await feed.query().catch((error: unknown) => {
    if (error instanceof GwError || over.signal.aborted) return false;
    throw error;
  });
  if (!isListening) return null;
  const follow = async () => {
    while (!over.signal.aborted) {
      await clock.sleep(QUERY_INTERVAL_MS, over.signal);
      await feed.query();
    }
  };
  // After the end its own abort is what fails here.
  follow().catch((error: unknown) => over.abort(error));
  return feed;
}

/** Loads the site file; the remedy mentions --no-key, which needs none. */
function siteOf(path: string): Promise<Site> {
  return loadSite(path).catch((error: unknown) => {
    if (!(error instanceof GwError) || error.code !== 'SITE_FILE_NOT_FOUND') throw error;
    throw new GwError(error.code, error.message, {
      remedy: 'Give the site file with --site FILE, or listen without verification: gw heartbeat sniff --no-key',
      cause: error,
    });
  });
}
