import { type NetworkInterfaceInfo, networkInterfaces } from 'node:os';
import { type Clock, repeat } from '../lifecycle/index.ts';
import { type Dialer, dialFailureText, reachEndpoint } from '../net/index.ts';
import type { DeviceHealth } from '../operator/index.ts';
import { type AgreedDevice, agreedDevices, type Site } from '../site/index.ts';

/** Project decisions: how often the devices are looked at, and after which time a look no longer counts. */
const EVERY_MS = 15 * 60_000;
const MAX_AGE_MS = 40 * 60_000;
/** As often a change of the network of this machine is looked for. */
const TICK_MS = 30_000;
const DIAL_MS = 4_000;
const NETWORK_MS = 1_000;
/** A device may serve few connections, and a site has up to 66 devices. */
const AT_ONCE = 4;

export interface DeviceWatch extends Disposable {
  /** Judged at the moment of the call, by the monotonic clock. */
  view(): DeviceHealth[];
}

interface Look {
  readonly atMs: number;
  /** The addresses of this machine then. */
  readonly network: string;
  readonly failure: string | null;
}

/**
 * Opens a TCP connection to each device of the site file now and then, sends nothing, and closes it. That an address accepts
 * a connection does not say that the door behind it opens. Nothing that moves the robot depends on it.
 */
export function watchDevices({
  site,
  dialer,
  clock,
  interfaces = networkInterfaces,
}: {
  readonly site: Pick<Site, 'network' | 'operator'>;
  readonly dialer: Dialer;
  readonly clock: Clock;
  readonly interfaces?: () => NodeJS.Dict<NetworkInterfaceInfo[]>;
}): DeviceWatch {
  const devices = agreedDevices(site);
  if (devices.length === 0) return { view: () => [], [Symbol.dispose]: () => {} };
  const ending = new AbortController();
  const looks = new Map<string, Look>();
  let lookedAtMs = Number.NEGATIVE_INFINITY;
  let lookedIn = '';

  let network = networkOf(interfaces());
  let networkAtMs = clock.monotonicMs();
  /** Of this second: pages ask for the view with every pose. */
  function networkNow(): string {
    const nowMs = clock.monotonicMs();
    if (nowMs - networkAtMs >= NETWORK_MS) {
      network = networkOf(interfaces());
      networkAtMs = nowMs;
    }
    return network;
  }

  async function lookAtAll(): Promise<void> {
    const here = networkNow();
    if (here === lookedIn && clock.monotonicMs() - lookedAtMs < EVERY_MS) return;
    lookedAtMs = clock.monotonicMs();
    lookedIn = here;
    const left = [...devices];
    const work = async () => {
      for (let one = left.shift(); one !== undefined && !ending.signal.aborted; one = left.shift()) {
        await look(one, here);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
  }

  async function look({ id, host, port }: AgreedDevice, here: string): Promise<void> {
    try {
      const { signal } = ending;
      const found = await reachEndpoint(dialer, { host, port }, { timeoutMs: DIAL_MS, signal, clock });
      const failure = found.reached ? null : dialFailureText[found.failure];
      looks.set(id, { atMs: clock.monotonicMs(), network: here, failure });
    } catch {
      // Nothing was seen.
      looks.delete(id);
    }
  }

  function view(): DeviceHealth[] {
    const here = networkNow();
    return devices.map(({ id, name, kind, host, port, isHere }): DeviceHealth => {
      const place = { name, kind, host, port, isHere };
      const seen = looks.get(id);
      const open = (detail: string): DeviceHealth => ({ ...place, status: 'not-checked', ageMs: null, detail });
      if (seen === undefined) return open('not looked at yet');
      const ageMs = Math.round(clock.monotonicMs() - seen.atMs);
      if (seen.network !== here) return open('the network of this machine changed since the last look');
      if (ageMs > MAX_AGE_MS) return open('the last look is too old');
      return seen.failure === null
        ? { ...place, status: 'accepts', ageMs, detail: 'accepted a TCP connection; nothing was sent' }
        : { ...place, status: 'not-reached', ageMs, detail: `no TCP connection: ${seen.failure}` };
    });
  }

  const ticking = repeat(clock, { everyMs: TICK_MS, hungMs: EVERY_MS, work: lookAtAll, onHung: () => {} });
  ticking.tick();
  return {
    view,
    [Symbol.dispose]() {
      ending.abort();
      ticking[Symbol.dispose]();
    },
  };
}

/** The addresses that lead to other machines: with others, other devices may answer. */
function networkOf(all: NodeJS.Dict<NetworkInterfaceInfo[]>): string {
  return Object.entries(all)
    .flatMap(([name, infos = []]) => infos.filter(({ internal }) => !internal).map(({ cidr }) => `${name} ${cidr}`))
    .sort()
    .join(', ');
}
