import { expect, it } from 'vitest';
import { conditionRow } from '../../../src/cli/render/chassis.ts';
import { createLiveValues } from '../../../src/lib/chassis/index.ts';
import { parseTopicMessage } from '../../../src/lib/chassis/topics/message.ts';
import { noCloud } from '../../../src/lib/gateway/cloud.ts';
import { telemetryOf } from '../../../src/lib/gateway/cloud-state/telemetry.ts';
import { notListening } from '../../../src/lib/gateway/neighbours.ts';
import { systemClock } from '../../../src/lib/lifecycle/index.ts';
import type { MotionStatus } from '../../../src/lib/motion/index.ts';
import { noSupport } from '../../../src/lib/operator/index.ts';
import { createPageStates } from '../../../src/lib/operator/view/page-state.ts';
import { doubtText, valueText } from '../../../src/lib/pages/surface/values.tsx';
import { textsOf } from '../../../src/lib/pages/texts/catalogue.ts';
import { still } from '../../../src/lib/pages/ui.ts';
import { siteSchema } from '../../../src/lib/site/index.ts';
import { robotConditions } from '../../../src/lib/toolkit/chassis/condition.ts';
import { snapshotWith, standInHealth, tried } from '../../operator/stand-ins.ts';
import { runsOf } from '../../operator/view/runs.ts';
import { has } from '../kit.ts';

const motion: MotionStatus = {
  gate: { open: true, reasons: [] },
  stop: { latched: false, reason: null, by: null, since: null, saved: true, unsavedBecause: null, repeated: null },
  standstill: { verdict: 'stands', reason: 'it moved less than 0.02 m/s', isOwed: false },
  keepingTrouble: null,
  tour: null,
  drive: null,
  trial: null,
  unownedMove: null,
};
const health = standInHealth({ version: '1', upForMs: 1 });

function shown(...charges: number[]) {
  const live = createLiveValues(systemClock);
  live.connect();
  for (const percentage of charges) {
    const message = parseTopicMessage(
      JSON.stringify({ topic: '/battery_state', percentage, power_supply_status: 'charging' }),
    );
    if (message.kind === 'data') live.update(message);
  }
  const connected = snapshotWith({ kind: 'connected', tried });
  const { battery } = live.values();
  const snapshot = { ...connected, values: { ...connected.values, battery } };
  const condition = robotConditions(snapshot.values).find(({ id }) => id === 'battery');
  if (condition === undefined) throw new Error('no condition of the battery');
  const site = siteSchema.parse({ name: 'x', chassis: { host: '127.0.0.1', serial: 'S' } }) as never;
  const state = createPageStates(site, 'b', systemClock, runsOf(systemClock)).compose({
    ...{ snapshot, motion, health, support: noSupport, neighbours: notListening },
    cloud: { view: noCloud, now: new Date(0) },
    viewers: { onSite: [], remote: [] },
  });
  const viewer = { language: 'de', readOnly: false, signedIn: false } as const;
  const props = { state, viewer, ui: still, ...textsOf('de', 'UTC') };
  return {
    verdict: condition.verdict,
    probe: `${condition.detail} ${conditionRow(condition).join(' ')}`,
    page: valueText('battery', props),
    why: doubtText('battery', props),
    headline: state.headline.level,
    sent: telemetryOf({ snapshot, motion, health }).battery as { value: unknown; reason: unknown },
  };
}

it('a charge of 1 is nowhere shown as 100 % before another one decides the scale', () => {
  expect(shown(1)).toMatchObject({
    verdict: 'not-checked',
    probe: has(/^100 % or 1 %: not decided.* 100 % or 1 %/),
    page: '100 % oder 1,0 % (lädt)',
    why: 'nicht entschieden, ob der Roboter bis 1 oder bis 100 zählt',
    headline: 'attention',
    sent: { value: null, reason: 'scale-in-doubt' },
  });
  expect(shown(0.5, 1)).toMatchObject({
    verdict: 'ok',
    probe: has(/^100 % /),
    page: '100 % (lädt)',
    why: '',
    headline: 'good',
    sent: { value: 100, reason: null },
  });
});
