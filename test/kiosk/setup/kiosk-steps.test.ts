import { describe, expect, it } from 'vitest';
import { kioskProfileSchema, kioskSteps, planSteps, type Tablet } from '../../../src/lib/kiosk/index.ts';
import { systemClock } from '../../../src/lib/lifecycle/index.ts';

const profile = {
  ...kioskProfileSchema.parse({
    schema: 'gw/kiosk/1',
    name: 'Lobby',
    app: { name: 'com.example.kiosk', versionCode: 1, activity: '.Main' },
    startPage: 'http://192.0.2.2:5173/',
  }),
  path: '/kiosk.yaml',
};

/** Outcome of the address step for a tablet with this output. */
async function segmentOf(robotSegment: string, printed: string) {
  const steps = kioskSteps(profile, robotSegment).filter(({ id }) => id === 'segment');
  const tablet = { read: async () => printed } as Partial<Tablet> as Tablet;
  const { signal } = new AbortController();
  const [outcome] = await planSteps(steps, { tablet, profile, clock: systemClock, signal, onProgress: () => {} });
  return outcome;
}

const wlan = (address: string) =>
  `30: wlan0    inet ${address}/28 brd 192.0.2.15 scope global wlan0\\ valid_lft forever\n`;

describe('the address of the tablet', () => {
  it('is in the robot segment, or not', async () => {
    const found = '192.0.2.5 (wlan0)';
    expect(await segmentOf('192.0.2.0/28', wlan('192.0.2.5'))).toMatchObject({ state: 'ok', found });
    expect(await segmentOf('192.0.2.0/28', wlan('192.0.2.16'))).toMatchObject({ state: 'differs' });
    expect(await segmentOf('192.0.2.0/28', 'nothing')).toMatchObject({ state: 'not-checked' });
  });

  it('is not checked against an IPv6 segment, since only IPv4 addresses are read', async () => {
    for (const segment of ['2001:db8::/64', '::/0', '::ffff:192.0.2.0/124']) {
      const outcome = await segmentOf(segment, wlan('192.0.2.5'));
      expect(outcome).toMatchObject({ state: 'not-checked', found: expect.stringContaining(segment) });
    }
  });
});

describe('the packages of the tablet', () => {
  const NAME = 'com.example.kiosk';
  const HIDDEN = 'com.example.other';
  const own = { ...profile, hidePackages: [HIDDEN] };

  /** State and finding of a step, with what the tablet prints for all its packages and for the disabled ones. */
  async function outcomeOf(id: string, all: string, disabled = '') {
    const steps = kioskSteps(own, undefined).filter((step) => step.id === id);
    const read = async (command: unknown) => (String(command).includes(' -d ') ? disabled : all);
    const tablet = { read } as Partial<Tablet> as Tablet;
    const { signal } = new AbortController();
    const [outcome] = await planSteps(steps, {
      tablet,
      profile: own,
      clock: systemClock,
      signal,
      onProgress: () => {},
    });
    return [outcome?.state, outcome?.found];
  }
  const other = 'package:android versionCode:34\n';

  it('are not called missing where a line cannot be parsed', async () => {
    expect(await outcomeOf('package', other)).toEqual(['differs', 'not installed']);
    expect(await outcomeOf('package', `${other}package:${NAME} versionCode:1\nWARNING: x\n`)).toEqual([
      'ok',
      'version code 1',
    ]);
    for (const line of [`package:${NAME} versionCode:1 uid:1000`, `package:/data/app/base.apk=${NAME}`, 'Error: x']) {
      expect(await outcomeOf('package', `${other}${line}\n`)).toEqual(['not-checked', expect.stringContaining(line)]);
    }
    expect((await outcomeOf('package', ''))[0]).toBe('not-checked');
  });

  it('are not called hidden where a line cannot be parsed', async () => {
    const there = `${other}package:${HIDDEN} versionCode:1\n`;
    expect(await outcomeOf('hidden-packages', other)).toEqual(['ok', 'all']);
    expect(await outcomeOf('hidden-packages', there, `package:${HIDDEN}\n`)).toEqual(['ok', 'all']);
    expect(await outcomeOf('hidden-packages', there)).toEqual(['differs', `visible: ${HIDDEN}`]);
    expect(await outcomeOf('hidden-packages', `${there}x\n`)).toEqual(['differs', `visible: ${HIDDEN}`]);
    expect(await outcomeOf('hidden-packages', `${other}package:${HIDDEN} uid:1\n`)).toEqual([
      'not-checked',
      expect.anything(),
    ]);
    expect(await outcomeOf('hidden-packages', there, 'Error: x\n')).toEqual([
      'not-checked',
      expect.stringContaining('Error'),
    ]);
    expect(await outcomeOf('hidden-packages', '', '')).toEqual(['not-checked', expect.anything()]);
  });
});
