import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { writeTabletFiles } from '../../src/lib/sim/site-files.ts';
import type { KioskLock, KioskPlan, KioskStatus } from '../../src/lib/toolkit/kiosk/kiosk.result.ts';
import { gw, type Machine, startSide } from './commissioning/day.ts';
import { hasNamespaces, hasProgram, ip } from './peer.ts';
import { CHASSIS, GATEWAY, layNetworks, macOf, nameOf, ROBOT, type Side, TABLET } from './segments.ts';

/** Debian's adb on the gateway, and tablets with plain DHCP: their addresses change between the commands. */

const OWN = 'TABSIM0001';
const OTHER = 'TABSIM0099';
const LAPTOP = '192.0.2.5';
const LATER = '192.0.2.9';

const program = new URL('commissioning/tablet-side.ts', import.meta.url);
const startIn = (side: Side, address: string, serial: string) => startSide(side, program, [address, '28', serial]);

/** Another lease: the machine gives its address up and has another one. */
function move(side: Side, from: string, to: string): void {
  ip('-n', nameOf(side), 'addr', 'del', `${from}/28`, 'dev', 'eth0');
  ip('-n', nameOf(side), 'addr', 'add', `${to}/28`, 'dev', 'eth0');
}

describe.skipIf(!hasNamespaces() || !hasProgram('adb'))('a tablet without a fixed address (network namespaces)', () => {
  let dir = '';
  let networks: Disposable;
  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), 'gw-tablet-found-'));
    networks = layNetworks();
  });
  afterAll(() => {
    networks?.[Symbol.dispose]();
    rmSync(dir, { recursive: true, force: true });
  });

  /** The gateway with a site file that names the tablet so. */
  async function gateway(name: string, tablet: object): Promise<Machine> {
    const own = join(dir, name);
    const home = join(own, 'home');
    mkdirSync(home, { recursive: true });
    await writeTabletFiles({ dir: own, model: 'GW-TAB-10', operatorPort: 5173 });
    const site = join(own, 'site.yaml');
    const network = { robotSegment: ROBOT, gateway: GATEWAY };
    writeFileSync(site, stringify({ name, chassis: { host: CHASSIS, serial: 'SIM-0001' }, tablet, network }));
    return { side: 'gateway', dir: own, home, site };
  }

  it('is found by its serial number at its new address, while another tablet has the remembered one', async () => {
    const machine = await gateway('by-serial', { serial: OWN });
    {
      await using _tablet = await startIn('tablet', TABLET, OWN);
      const first = await gw<KioskPlan>(machine, ['kiosk', 'plan']);
      expect(first.data).toMatchObject({ address: { host: TABLET }, tablet: { serial: OWN } });
    }
    move('tablet', TABLET, LATER);
    move('laptop', LAPTOP, TABLET);
    try {
      await using _tablet = await startIn('tablet', LATER, OWN);
      await using _other = await startIn('laptop', TABLET, OTHER);
      const second = await gw<KioskPlan>(machine, ['kiosk', 'plan']);
      expect(second.data).toMatchObject({ address: { host: LATER }, tablet: { serial: OWN } });

      const locked = await gw<KioskLock>(machine, ['kiosk', 'lock']);
      expect(locked).toMatchObject({ data: { address: { host: LATER }, verdict: 'closed', answeredBy: 'same' } });
      // Closed it reports no serial number: its MAC address of the last connection finds it.
      const status = await gw<KioskStatus>(machine, ['kiosk', 'status']);
      expect(status.data).toMatchObject({
        address: { host: LATER },
        port: 'closed',
        answeredBy: 'same',
        redLine: null,
      });
      expect(status.data.findings.find(({ id }) => id === 'port')).toMatchObject({ verdict: 'ok' });
    } finally {
      move('laptop', TABLET, LAPTOP);
      move('tablet', LATER, TABLET);
    }
  });

  it('is not the other tablet that has its address, and not one that its MAC address alone points to', async () => {
    const byAddress = await gateway('other', { serial: OWN });
    const byMac = await gateway('other-mac', { serial: OWN, mac: macOf('tablet') });
    const macAlone = await gateway('mac-alone', { mac: macOf('tablet') });
    await using _other = await startIn('tablet', TABLET, OTHER);
    for (const machine of [byAddress, byMac]) {
      for (const words of [['plan'], ['setup'], ['lock'], ['status']]) {
        const { code, ok, error } = await gw(machine, ['kiosk', ...words]);
        expect({ code, ok, error }).toMatchObject({
          code: 4,
          ok: false,
          error: { code: 'TABLET_WRONG_DEVICE', message: expect.stringContaining(`${TABLET} is '${OTHER}'`) },
        });
      }
    }
    const plan = await gw<KioskPlan>(macAlone, ['kiosk', 'plan']);
    expect(plan.data).toMatchObject({ address: { host: TABLET }, tablet: { serial: OTHER } });
  });

  it('that is nowhere is not found, with what was tried', async () => {
    const machine = await gateway('nowhere', { serial: OWN, mac: macOf('tablet') });
    ip('-n', nameOf('tablet'), 'link', 'set', 'eth0', 'down');
    try {
      const { code, error } = await gw(machine, ['kiosk', 'status']);
      expect({ code, error }).toMatchObject({
        code: 3,
        error: { code: 'TABLET_NOT_FOUND', tried: { address: ROBOT } },
      });
    } finally {
      ip('-n', nameOf('tablet'), 'link', 'set', 'eth0', 'up');
    }
  });
});
