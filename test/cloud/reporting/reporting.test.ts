import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createReporting } from '../../../src/lib/cloud/reporting/reporting.ts';
import { silentLog } from '../../../src/lib/lifecycle/index.ts';
import { parseSite } from '../../../src/lib/site/index.ts';
import { createFakeClock } from '../../lifecycle/fake-clock.ts';
import { settled } from '../../story/in-flight.ts';
import { topics } from '../gate/context.ts';
import { createMemoryOutbox } from './memory-outbox.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'gw-reporting-'));
});
afterEach(() => {
  rmSync(dir, { recursive: true, force: true });
});

describe('the reports of a gateway', () => {
  it('go to the topics of its site file, and end with their signal', async () => {
    const { cloud, ...rest } = parseSite(
      `name: Lobby
chassis: { host: 127.0.0.1, serial: SN0001 }
cloud: { mqtt: { host: mqtt.example.com, alpn: x-example-mqtt-ca }, telemetryS: 3 }
`,
      'site.yaml',
    );
    if (cloud === undefined) throw new Error('the site file has no cloud');
    const clock = createFakeClock({ settled });
    const { outbox, accepted } = createMemoryOutbox();
    const reporting = createReporting({
      ...{ site: { ...rest, stateDir: join(dir, 'state'), cloud }, topics, outbox, clock, log: silentLog },
      telemetry: () => ({ batteryPercent: 50 }),
      faults: () => ({ present: [{ key: 'alert.1', text: 'x', number: 1, mark: 'HINWEIS' }], unchecked: [] }),
      shadow: () => ({ gw: '1.0.0' }),
    });
    const ending = new AbortController();
    const running = reporting.run(ending.signal);
    await clock.advance(5_000);
    const sent = [topics.faults, `${topics.shadow}/update`, topics.telemetry];
    expect(new Set(accepted.map(({ topic }) => topic))).toEqual(new Set(sent));
    const token = accepted.find((message) => message.class === 'shadow')?.id ?? '';
    expect(reporting.requestOf(token)?.state).toBe('pending');
    reporting.onAnswer(token, { kind: 'shadow', version: 1 });
    expect(reporting.view()).toMatchObject({
      telemetry: { intervalS: 3, trouble: null },
      faults: { raised: [{ key: 'alert.1' }] },
      shadow: { status: 'accepted', version: 1 },
    });
    ending.abort();
    await running;
    expect(clock.pending).toBe(0);
  });
});
