import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { loadKioskProfile } from '../../../src/lib/kiosk/profile.ts';
import { switchFault } from '../../../src/lib/sim/control/switch-fault.ts';
import { startSim } from '../../../src/lib/sim/index.ts';
import { type SimEvent, simEventSchema } from '../../../src/lib/sim/sim.result.ts';
import { loadSite } from '../../../src/lib/site/index.ts';
import { folderOfEach } from '../../lifecycle/folder.ts';
import { goOnline, openStream, push, run } from './host.ts';

const folder = folderOfEach();
let dir: string;
let events: SimEvent[];
beforeEach(() => {
  dir = folder.path;
  events = [];
});
const start = () => startSim({ dir, with: ['tablet'], onEvent: (event) => events.push(event) });

describe('a simulated robot with a tablet', () => {
  it('writes address and profile of the tablet, and the tablet can be set up with them', async () => {
    await using sim = await start();
    const port = sim.tablet?.port ?? 0;
    const site = await loadSite(sim.sitePath ?? '');
    const profilePath = join(dir, 'kiosk.yaml');
    expect(site.tablet).toEqual({ host: '127.0.0.1', adbPort: port, profileFile: profilePath });
    const profile = await loadKioskProfile(profilePath);
    expect(profile.tablet.model).toBe(sim.tablet?.identity.model);
    const file = await readFile(profile.app.file ?? '');
    expect(createHash('sha256').update(file).digest('hex')).toBe(profile.app.sha256);
    for (const event of events) expect(simEventSchema.parse(event)).toEqual(event);
    expect(events).toContainEqual({ event: 'listening', part: 'tablet', url: `tcp://127.0.0.1:${port}` });

    {
      using line = await goOnline(port);
      expect(await push(line, '/data/local/tmp/k.apk', file)).toBe('OKAY');
    }
    using line = await goOnline(port);
    const { name, versionCode, activity } = profile.app;
    await run(line, 'pm install /data/local/tmp/k.apk');
    expect((await run(line, `pm list packages --show-versioncode ${name}`)).stdout).toBe(
      `package:${name} versionCode:${versionCode}\n`,
    );
    await run(line, `dpm set-device-owner ${name}/${profile.deviceOwner}; am start -n ${name}/${activity}`);
    expect(sim.tablet?.state()).toMatchObject({ lockTask: true });
    for (const hidden of profile.hidePackages) {
      expect((await run(line, `pm disable-user ${hidden}`)).stdout).toContain('disabled-user');
    }
  });

  it('has switchable faults, and reports when the port of the tablet is closed', async () => {
    await using sim = await start();
    const port = sim.tablet?.port ?? 0;
    expect((await switchFault({ dir, name: 'tablet-other', state: 'on' })).note).toBeUndefined();
    using line = await goOnline(port);
    expect((await run(line, 'getprop ro.product.model')).stdout).toBe('OTHER-TAB-8\n');
    await (await openStream(line, 'usb:'))?.all();
    await sim.tablet?.settled();
    expect(sim.tablet?.state().port).toBeNull();
    expect(events).toContainEqual({ event: 'note', text: 'The port of the tablet is closed.' });
    // The port is open when the request to open it returns.
    await switchFault({ dir, name: 'tablet-opened', state: 'on' });
    expect(sim.tablet?.state().port).toBe(port);
    using again = await goOnline(port);
    expect((await run(again, 'settings get global adb_enabled')).stdout).toBe('1\n');
  });

  it('reports that a fault of the tablet has no effect without one', async () => {
    await using sim = await startSim({ dir });
    expect(sim.tablet).toBeNull();
    const { note } = await switchFault({ dir, name: 'tablet-full', state: 'on' });
    expect(note).toBe('No effect: this simulator has no tablet; start it with `gw sim --with tablet`.');
  });
});
