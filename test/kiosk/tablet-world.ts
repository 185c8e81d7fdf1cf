import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readlink, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Clock, systemClock } from '../../src/lib/lifecycle/index.ts';
import { directDialer } from '../../src/lib/net/index.ts';
import { makePackageFile, startTablet, type TabletOptions } from '../../src/lib/sim/tablet/index.ts';
import { loadSite } from '../../src/lib/site/index.ts';

export type TabletWorld = Awaited<ReturnType<typeof openTabletWorld>>;

/** A site with a simulated tablet, its package and profile, in a temporary folder. */
export async function openTabletWorld(
  options: TabletOptions & { readonly packageBytes?: number; readonly clockSpeed?: number } = {},
) {
  const dir = await mkdtemp(join(tmpdir(), 'gw-kiosk-'));
  const tablet = await startTablet({ rebootMs: 600, ...options });
  const bytes = makePackageFile({ name: 'com.example.kiosk', versionCode: 12, bytes: options.packageBytes ?? 700_000 });
  await writeFile(join(dir, 'kiosk.apk'), bytes);
  const sitePath = join(dir, 'site.yaml');
  const site = {
    name: 'Lobby',
    chassis: { host: '127.0.0.1', serial: 'SN0001' },
    tablet: { host: '127.0.0.1', adbPort: tablet.port },
    network: { robotSegment: '192.0.2.0/28' },
  };
  await writeFile(sitePath, JSON.stringify(site));
  const fullProfile = {
    schema: 'gw/kiosk/1',
    name: 'Lobby tablet',
    tablet: { model: 'GW-TAB-10' },
    app: {
      name: 'com.example.kiosk',
      versionCode: 12,
      file: 'kiosk.apk',
      sha256: createHash('sha256').update(bytes).digest('hex'),
      activity: '.Main',
    },
    startPage: "http://192.0.2.2:5173/?robot='7'&$(reboot)",
    deviceOwner: '.Admin',
    lockTask: true,
    stayAwake: true,
    screen: { brightness: 200, offAfterS: 600, rotationDeg: 90, densityDpi: 280 },
    sound: { mediaPercent: 50, touchSounds: false },
    hidePackages: ['com.android.vending', 'com.android.email', 'com.example.not.there'],
    network: { ssid: 'gw-sim' },
  };
  const profile = (change: Readonly<Record<string, unknown>> = {}) =>
    writeFile(join(dir, 'kiosk.yaml'), JSON.stringify({ ...fullProfile, ...change }));
  await profile();
  const toolkit = {
    site: await loadSite(sitePath),
    dialer: directDialer,
    clock: acceleratedClock(options.clockSpeed ?? 1),
  };
  const progress: string[] = [];
  return {
    dir,
    tablet,
    sitePath,
    toolkit,
    context: { signal: new AbortController().signal, onProgress: (text: string) => progress.push(text), progress },
    profile,
    /** Processes that still run in the folder of gw's keys. */
    async processes() {
      const keys = join(dir, 'state', 'adb');
      const found: string[] = [];
      for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
        const folder = await readlink(`/proc/${pid}/cwd`).catch(() => '');
        if (folder === keys) found.push(pid);
      }
      return found;
    },
    async [Symbol.asyncDispose]() {
      await tablet[Symbol.asyncDispose]();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

/** Real time accelerated by a factor, for waits that end only by timeout. */
function acceleratedClock(speed: number): Clock {
  return {
    ...systemClock,
    monotonicMs: () => systemClock.monotonicMs() * speed,
    sleep: (ms, signal) => systemClock.sleep(ms / speed, signal),
    every: (ms, fn) => systemClock.every(ms / speed, fn),
    after: (ms, fn) => systemClock.after(ms / speed, fn),
  };
}
