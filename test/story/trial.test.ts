import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { renderEvidenceVerified } from '../../src/cli/render/evidence.ts';
import type { Clock } from '../../src/lib/lifecycle/index.ts';
import type { FaultName } from '../../src/lib/sim/index.ts';
import { runChecklist } from '../../src/lib/toolkit/checklist/run.ts';
import { adoptEvidence } from '../../src/lib/toolkit/evidence/adopt.ts';
import { showEvidence } from '../../src/lib/toolkit/evidence/list.ts';
import { recordEvidence } from '../../src/lib/toolkit/evidence/record.ts';
import { verifyEvidence } from '../../src/lib/toolkit/evidence/verify.ts';
import { clearStop } from '../../src/lib/toolkit/motion/clear.ts';
import { context, type Story, startStory } from './story.ts';

const checklists = fileURLToPath(new URL('../../checklists', import.meta.url));

type Kind = Parameters<typeof verifyEvidence>[1]['kind'];

let story: Story;
beforeEach(async () => {
  story = await startStory({ evidence: false, with: ['password'] });
  await story.startGateway();
  await story.until(
    () => story.operator('/api/chassis/state') as Promise<{ readonly identity: object | null }>,
    ({ identity }) => identity !== null,
  );
});
afterEach(() => story?.[Symbol.asyncDispose]());

interface More {
  readonly distanceM?: number;
  readonly signal?: AbortSignal;
  readonly clock?: Clock;
}

const verify = async (kind: Kind, { signal, distanceM, clock = story.clock }: More = {}) => {
  const conditions = { robotWillMove: true, spaceFree: true, emergencyStopInHand: true } as const;
  const alarms: string[] = [];
  const data = await verifyEvidence(
    { ...(await story.toolkit()), clock },
    { kind, who: 'J. Doe', conditions, towardsDeg: undefined, distanceM, host: undefined, password: undefined },
    { ...context(signal), onAlarm: (text: string) => void alarms.push(text) },
  );
  return { data, alarms, text: renderEvidenceVerified(data) };
};
const lines = (file: string) => readFileSync(file, 'utf8').trim().split('\n').filter(Boolean);
const records = () => lines(join(story.dir, 'evidence.jsonl')).map((line) => JSON.parse(line));
const trialFiles = () =>
  readdirSync(join(story.dir, 'evidence.trials'))
    .filter((file) => file.endsWith('.json'))
    .toSorted();
/** Its name is reserved before its content is written. */
const lastReport = (): { outcome?: string; reason?: string } =>
  JSON.parse(readFileSync(join(story.dir, 'evidence.trials', trialFiles().at(-1) ?? ''), 'utf8') || '{}');
const standing = () =>
  story.until(
    () => story.sim.state().speedMS,
    (speedMS) => speedMS === 0,
  );
const setSpeed = (metresPerSecond: number) =>
  story.chassis('POST', '/system/settings/user', { 'control.max_forward_velocity': metresPerSecond });
const isOpen = async () =>
  ((await story.operator('/api/touren')) as { readonly gate: { readonly open: boolean } }).gate.open;
const record = async (fact: string, found: 'holds' | 'does-not-hold') =>
  await story.during(recordEvidence(await story.toolkit(), { fact, found, how: 'test', who: 'T' }, context()));
const adopt = async () => await story.during(adoptEvidence(await story.toolkit(), {}, context()));

describe('a robot without evidence', () => {
  test('an interrupted trial verifies nothing', async () => {
    const person = new AbortController();
    const trial = verify('stop', { signal: person.signal });
    await story.until(
      () => story.sim.state().speedMS,
      (speedMS) => speedMS > 0,
    );
    person.abort();
    const { data, text } = await story.during(trial);
    expect(data.interrupted).toBe(true);
    expect(text).toMatch(/^INTERRUPTED: Trial 'stop' on SIM-0001/);
    expect(lastReport()).toMatchObject({ outcome: 'cancelled' });
    expect(records()).toEqual([]);
    await standing();
  });

  test.each(['drifting-pose', 'emergency-stop', 'localisation-lost'] satisfies FaultName[])(
    '%s: refused, and the reason is recorded',
    async (name) => {
      await story.fault(name, true);
      const { data } = await story.during(verify('stop'));
      expect([data.verdict, data.trial.recorded]).toEqual(['refused', []]);
      expect(lastReport()).toMatchObject({ outcome: 'refused', reason: data.trial.reason });
      expect(data.findings).toMatchObject([{ id: 'vendor.move.cancel', verdict: 'not-checked' }]);
    },
  );

  test("the checklist 'site' verifies by script every fact that an order relies on, and its files are watched", async () => {
    const yes = async ({ id }: { readonly id: string }) => {
      // Whether the robot was stopped is not a matter of a yes alone.
      if (id === 'people-know') {
        await story.operator('/api/stopp', { method: 'POST', body: {} });
        await clearStop(await story.toolkit(), {}, context());
      }
      return { ...{ answer: 'yes' as const, by: null, initials: 'KM', remark: null, value: null, attachments: [] } };
    };
    const ids = [
      'identity',
      'pose-unit',
      'verify-stop',
      'verify-move',
      'verify-dock',
      'verify-pose',
      'evidence',
      'tour',
    ];
    const { steps } = await story.during(
      runChecklist({
        nameOrFile: 'site',
        dir: checklists,
        sitePaths: [story.sitePath],
        motionAllowed: true,
        gwVersion: '1.0.0',
        clock: story.clock,
        ...context(),
        only: ids,
        onStep: ({ step }) => story.sim.setFault('turned-by-hand', step.id === 'identity'),
        ask: yes,
        checks: {},
      } as Parameters<typeof runChecklist>[0]),
    );
    const found = Object.fromEntries(steps.map((step) => [step.id, `${step.verdict} ${step.why ?? ''}`]));
    for (const id of ids) expect([id, found[id]]).toEqual([id, expect.stringMatching(/^ok/)]);
    const facts = new Set(records().map(({ fact, value }) => `${fact} ${value}`));
    expect([...facts].toSorted()).toEqual([
      'angles.pose-ori radians',
      'angles.target-ori radians',
      'angles.tracked-pose-ori degrees',
      'vendor.move.cancel true',
      'vendor.move.charge-target true',
      'vendor.move.request true',
      'vendor.move.state true',
      'vendor.pose.request true',
    ]);
    const shown = async () =>
      (
        await showEvidence('vendor.move.cancel', { sitePath: story.sitePath, siteNamed: true, live: false }, context())
      ).records.map(({ attachmentState }) => attachmentState);
    expect(await shown()).toContain('as-recorded');
    const changed =
      trialFiles()
        .filter((file) => file.includes('-stop-'))
        .at(-1) ?? '';
    writeFileSync(join(story.dir, 'evidence.trials', changed), '{}');
    expect(await shown()).toContain('changed');

    // A record that a person added counts by gw evidence adopt, without a restart.
    await story.until(isOpen, (open) => open);
    await record('vendor.move.request', 'does-not-hold');
    await story.until(isOpen, (open) => !open);
    await record('vendor.move.request', 'holds');
    expect(await isOpen()).toBe(false);
    await adopt();
    expect(await isOpen()).toBe(true);

    // Without a sign of life of its command the gateway cancels a trial, and nothing is recorded.
    const before = records().length;
    const reports = trialFiles().length;
    const killed = { ...story.clock, sleep: () => new Promise<never>(() => {}) };
    // So that it still drives when the sign of life is overdue.
    await setSpeed(0.1);
    void verify('move', { distanceM: 1, clock: killed }).catch(() => {});
    await story.until(
      () => story.sim.state().speedMS,
      (speedMS) => speedMS > 0,
    );
    await story.until(
      () => (trialFiles().length > reports ? lastReport() : {}),
      ({ outcome }) => outcome !== undefined,
    );
    expect(lastReport()).toMatchObject({ outcome: 'cancelled', reason: expect.stringMatching(/no keepalive/) });
    expect(records()).toHaveLength(before);
    await standing();
  });

  test('cancel-ignored: contradicted, and no order passes any more', async () => {
    await story.fault('cancel-ignored', true);
    await setSpeed(0.4);
    const { data, text, alarms } = await story.during(verify('stop'));
    expect(data.verdict).toBe('contradicted');
    expect(text).toMatch(/^CONTRADICTED: Trial 'stop', 1 fact on SIM-0001/);
    expect(alarms.join('\n')).toContain('PRESS THE EMERGENCY STOP');
    await story.fault('cancel-ignored', false);
    expect((await story.during(verify('move'))).data.verdict).toBe('refused');
    expect(records().at(-1)).toMatchObject({ fact: 'vendor.move.cancel', value: false });
  });

  test('radians: refused, and the gate gives the reason', async () => {
    await record('vendor.move.cancel', 'holds');
    await adopt();
    await story.fault('radians', true);
    const { data } = await story.during(verify('stop'));
    expect(data.verdict).toBe('refused');
    expect(data.trial.reason).toMatch(/drifts while the robot should stand|radians/);
    await story.until(
      () => story.operator('/api/chassis/state') as Promise<{ readonly unitContradicted: boolean }>,
      ({ unitContradicted }) => unitContradicted,
    );
    const proven = await story.during(verify('stop'));
    expect(proven.data.trial.reason).toMatch(/contradicted by this chassis/);
    expect(lastReport().reason).toMatch(/contradicted by this chassis/);
  });
});
