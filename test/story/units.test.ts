import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { renderChassisProbe } from '../../src/cli/render/chassis.ts';
import { createCatalogue } from '../../src/lib/toolkit/catalogue/catalogue.ts';
import { probeChassis } from '../../src/lib/toolkit/chassis/probe.ts';
import { context, type Story, startStory } from './story.ts';

interface State {
  readonly unitContradicted: boolean;
  readonly poseUnit: { readonly verdict: string; readonly doubt: string | null };
  readonly standing: { readonly verdict: string };
  readonly link: { readonly kind: string };
}

let story: Story;
beforeEach(async () => {
  story = await startStory();
});
afterEach(() => story?.[Symbol.asyncDispose]());

const state = () => story.operator('/api/chassis/state') as Promise<State>;
const probe = async (seconds = 8) => await probeChassis(await story.toolkit(), { seconds }, context());
const first = (text: string) => text.split('\n')[0];
const startTour = async () =>
  (await story.operator('/api/touren/lauf', { method: 'POST', body: { tour: 'demo' } })) as {
    readonly error?: { readonly code: string; readonly message: string };
    readonly run?: object;
  };

/** The daemon receives a turn by hand until degrees are proven. */
async function proveDegrees(): Promise<void> {
  await story.fault('turned-by-hand', true);
  await story.until(state, ({ poseUnit }) => poseUnit.verdict === 'degrees');
  await story.fault('turned-by-hand', false);
  await story.until(state, ({ standing }) => standing.verdict === 'stands');
}

describe('a chassis that reports radians against the measured fact', () => {
  it('fails the probe with an alert and closes the gate until gw is restarted', async () => {
    await story.startGateway();
    await proveDegrees();
    await story.fault('radians', true);
    const probed = await story.during(probe());
    expect([probed.verdict, first(renderChassisProbe(probed))]).toEqual([
      'wrong',
      'THE POSE IS IN RADIANS. Do not drive this robot with gw.',
    ]);
    await story.until(state, ({ unitContradicted }) => unitContradicted);
    await story.fault('radians', false);
    expect((await startTour()).error).toMatchObject({
      code: 'MOTION_REFUSED',
      message: expect.stringContaining('angles.tracked-pose-ori'),
    });
    await story.stopGateway();
    await story.startGateway();
    await proveDegrees();
    expect(await startTour()).toHaveProperty('run');
  });

  it.each(['radians-0-2pi', 'radians-unwrapped'] as const)(
    'is never green while the robot turns: %s',
    async (fault) => {
      await story.startGateway();
      await story.fault(fault, true);
      const probed = await story.during(probe());
      const text = renderChassisProbe(probed);
      expect(probed.verdict).toBe('wrong');
      expect(first(text)).toMatch(/^THE POSE (IS|MAY BE) IN RADIANS\. Do not drive this robot with gw/);
      expect(text).not.toContain('Nothing is wrong');
      const seen = await story.until(state, (now) => now.unitContradicted || now.poseUnit.doubt !== null);
      expect(seen.poseUnit.verdict).not.toBe('degrees');
      expect((await startTour()).error?.message).toMatch(
        /angles\.tracked-pose-ori \(BELEGT: degrees\) is (in doubt|contradicted)/,
      );
    },
  );

  it('in doubt opens the gate again when degrees are proven', async () => {
    await story.startGateway();
    await story.fault('radians-unwrapped', true);
    await story.until(state, ({ poseUnit }) => poseUnit.doubt !== null);
    await story.fault('radians-unwrapped', false);
    expect((await startTour()).error?.code).toBe('MOTION_REFUSED');
    await proveDegrees();
    expect(await startTour()).toHaveProperty('run');
  });
});

describe('a chassis that reports degrees', () => {
  it.each([
    ['-180 to 180', []],
    ['0 to 360', ['degrees-0-360']],
  ] as const)('is proven to do so when a person turns it: %s', async (_name, faults) => {
    for (const fault of ['turned-by-hand', ...faults] as const) await story.fault(fault, true);
    // The facts that orders rely on are verified on a simulator only, which stays open.
    expect(await story.during(probe())).toMatchObject({
      verdict: 'not-checked',
      poseUnit: { verdict: 'degrees', doubt: null },
    });
  });

  it('is undecided while it is at rest, which is not green', async () => {
    const probed = await story.during(probe(3));
    expect(probed).toMatchObject({ verdict: 'not-checked', poseUnit: { verdict: 'not-decided' } });
    expect(first(renderChassisProbe(probed))).toMatch(
      /^No fault found in \d+ of \d+ checks\. .*not checked: .*pose unit/,
    );
    expect(renderChassisProbe(probed)).toMatch(/^-- +Pose is in degrees: the heading did not change/m);
  });

  it('raises no doubt on a tour, and is proven on it', async () => {
    await story.startGateway();
    await story.until(state, ({ link }) => link.kind === 'connected');
    expect(await startTour()).toHaveProperty('run');
    const doubts = new Set<string | null>();
    await story.until(state, ({ poseUnit }) => {
      doubts.add(poseUnit.doubt);
      return poseUnit.verdict === 'degrees';
    });
    expect([...doubts]).toEqual([null]);
  });
});

describe('a chassis that is lost', () => {
  const serve = async () => {
    await story.startGateway();
    await story.until(state, ({ link }) => link.kind === 'connected');
  };

  it.each(['cut', 'silent'] as const)('is shown within two seconds, and recovers by itself: %s', async (fault) => {
    await serve();
    await story.fault(fault, true);
    const atMs = story.clock.monotonicMs();
    await story.until(state, ({ link }) => link.kind === 'not-connected');
    expect(story.clock.monotonicMs() - atMs).toBeLessThanOrEqual(2_000);
    const page = await story.page('/service');
    expect(page).toContain('not connected');
    expect(page).toContain(`127.0.0.1:${story.sim.chassis.port}`);
    await story.fault(fault, false);
    await story.until(state, ({ link }) => link.kind === 'connected');
    expect(await story.page('/service')).not.toContain('not connected');
  });

  it('is measured anew by the demo where it is lost already: its time is that of this switch', async () => {
    await serve();
    const switched: boolean[] = [];
    const switchFault = async ({ on }: { readonly on: boolean }) => {
      switched.push(on);
      await story.fault('cut', on);
    };
    const { 'sim fault': fault } = createCatalogue({ sitePath: story.sitePath, clock: story.clock, switchFault });
    const cut = () =>
      story.during(
        Promise.resolve(fault?.run({ fault: 'cut', on: true, until: 'not-connected', withinMs: 10_000 }, context())),
      );
    expect(await cut()).toMatchObject({ link: 'not-connected' });
    expect(await cut()).toMatchObject({ link: 'not-connected' });
    expect(switched).toEqual([true, false, true]);
  });

  it('is no measurement where it remains lost', async () => {
    await serve();
    await story.fault('cut', true);
    await story.until(state, ({ link }) => link.kind === 'not-connected');
    const switchFault = async () => {};
    const { 'sim fault': fault } = createCatalogue({ sitePath: story.sitePath, clock: story.clock, switchFault });
    const options = { fault: 'cut', on: true, until: 'not-connected', withinMs: 10_000 };
    await expect(story.during(Promise.resolve(fault?.run(options, context())))).rejects.toMatchObject({
      code: 'CHECK_FAILED',
    });
  });
});
