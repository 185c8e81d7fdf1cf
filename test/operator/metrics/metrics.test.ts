import { readFile } from 'node:fs/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { noCloud } from '../../../src/lib/gateway/cloud.ts';
import { notListening } from '../../../src/lib/gateway/neighbours.ts';
import { exposition, type Metric } from '../../../src/lib/operator/metrics/exposition.ts';
import { type MetricsSource, metricsOf } from '../../../src/lib/operator/metrics/metrics.ts';
import { noSupport } from '../../../src/lib/operator/support-handlers.ts';
import { connectedView } from '../../cloud/views.ts';
import { standInHealth, standInLink, standInMotion } from '../stand-ins.ts';

const now = new Date('2026-11-22T10:00:00.000Z');
const source = (change: Partial<MetricsSource> = {}): MetricsSource => ({
  ...{ health: standInHealth({ version: '1.2.3', upForMs: 5_000 }), snapshot: standInLink().snapshot() },
  ...{ motion: standInMotion().status(), cloud: noCloud, support: noSupport, neighbours: notListening },
  followers: [{ scope: 'full' }, { scope: 'full' }, { scope: 'read-only' }],
  process: { nodeVersion: '24.0.0', residentBytes: 100e6, cpuSeconds: 1.5, busySeconds: 0.5 },
  now,
  ...change,
});
const linesOf = (change?: Partial<MetricsSource>) => exposition(metricsOf(source(change))).split('\n');
/** The samples whose name begins so. */
const samples = (name: string, change?: Partial<MetricsSource>) =>
  linesOf(change).filter((line) => line.startsWith(name));

describe('metrics', () => {
  it('have help, a type and a name by the conventions', () => {
    for (const { name, type, help } of metricsOf(source({ cloud: connectedView }))) {
      expect(name).toMatch(/^(gw|process)_[a-z0-9_]+$/);
      expect(name.endsWith('_total'), name).toBe(type === 'counter');
      expect(name).not.toMatch(/_(ms|mb|percent|kb|hz)$/);
      expect(help).toMatch(/^[A-Z].*[.]$/s);
    }
    expect(samples('gw_build_info')).toEqual(['gw_build_info{version="1.2.3"} 1']);
    expect(samples('gw_page_followers')).toEqual([
      'gw_page_followers{socket="full"} 2',
      'gw_page_followers{socket="read-only"} 1',
    ]);
  });

  it('leave out what is not known, and do not call it 0', () => {
    for (const name of ['gw_cloud_', 'gw_outbox_', 'gw_release_', 'gw_neighbours', 'gw_support_']) {
      expect(samples(name), name).toEqual([]);
      // Not its help either.
      expect(linesOf().filter((line) => line.startsWith(`# HELP ${name}`))).toEqual([]);
    }
    const { snapshot } = source();
    const lost = { ...snapshot, link: { ...snapshot.link, kind: 'connecting' } } as unknown as typeof snapshot;
    expect(samples('gw_chassis_connected', { snapshot: lost })).toEqual(['gw_chassis_connected 0']);
  });

  it.each([
    [false, ['gw_robot_battery_ratio 0.42']],
    [true, []],
  ])('show a charge only while it is current (stale: %s)', (stale, expected) => {
    const { snapshot } = source();
    const battery = { status: 'received', value: { percent: 42, powerSupply: 'discharging' }, ageMs: 1, stale };
    const values = { ...snapshot.values, battery } as unknown as MetricsSource['snapshot']['values'];
    expect(samples('gw_robot_battery_ratio', { snapshot: { ...snapshot, values } })).toEqual(expected);
  });

  it.each([
    ['stands', ['gw_robot_moving 0']],
    ['moves', ['gw_robot_moving 1']],
    ['not-known', []],
  ])('say whether the robot moves only where it is known: %s', (verdict, expected) => {
    const { snapshot } = source();
    const standing = { ...snapshot.standing, verdict } as MetricsSource['snapshot']['standing'];
    expect(samples('gw_robot_moving', { snapshot: { ...snapshot, standing } })).toEqual(expected);
  });

  it('count the outbox, and give no age where the clock was set back', () => {
    const { outbox } = connectedView;
    const at = (oldestAt: string | null) => ({
      cloud: { ...connectedView, outbox: { ...outbox, oldestAt } } as MetricsSource['cloud'],
    });
    const age = 'gw_outbox_oldest_message_age_seconds';
    expect(samples(age, at('2026-11-22T09:59:00.000Z'))).toEqual([`${age} 60`]);
    expect(samples(age, at('2026-11-22T10:00:01.000Z'))).toEqual([]);
    expect(samples(age, at(null))).toEqual([]);
    expect(samples('gw_outbox_messages', at(null))).toHaveLength(4);
    expect(samples('gw_cloud_discarded_messages_total', at(null)).length).toBeGreaterThan(5);
  });

  it('have the offset of the clock only where a comparison counts, and its jumps always', () => {
    const { health } = source();
    const clock = (behindMs: number | null, ageMs: number | null) => ({
      health: {
        ...health,
        clock: {
          ...{ status: 'ok' as const, behindMs, uncertainMs: behindMs === null ? null : 700, ageMs, from: [] },
          ...{ jumps: 3, lastJump: null, detail: '', remedy: null },
        },
      },
    });
    expect(samples('gw_clock_offset_seconds', clock(1_500, 60_000))).toEqual(['gw_clock_offset_seconds -1.5']);
    expect(samples('gw_clock_offset_seconds', clock(0, 60_000))).toEqual(['gw_clock_offset_seconds 0']);
    expect(samples('gw_clock_comparison_age_seconds', clock(0, 60_000))).toEqual([
      'gw_clock_comparison_age_seconds 60',
    ]);
    for (const name of ['offset_seconds', 'offset_uncertainty_seconds', 'comparison_age_seconds']) {
      expect(samples(`gw_clock_${name}`, clock(null, null))).toEqual([]);
    }
    expect(samples('gw_clock_jumps_total', clock(null, null))).toEqual(['gw_clock_jumps_total 3']);
  });

  it('have few label values, none of them a serial number or an address', () => {
    const about = { presence: 'alive', address: '192.0.2.9' };
    const robots = Array.from({ length: 500 }, (_, index) => ({ ...about, serial: `SN${index}` }));
    const neighbours = { ...notListening, status: 'listening', robots } as unknown as MetricsSource['neighbours'];
    expect(samples('gw_neighbours', { neighbours })).toEqual([
      'gw_neighbours{presence="alive"} 500',
      'gw_neighbours{presence="late"} 0',
      'gw_neighbours{presence="gone"} 0',
    ]);
    expect(linesOf({ neighbours, cloud: connectedView }).length).toBeLessThan(250);
  });
});

describe('the text format', () => {
  /** By the grammar of the format, not by the writer. */
  const read = (line: string) => {
    const match = /^([a-z_]+)(?:\{l="((?:[^"\\\n]|\\["\\n])*)"\})? (\S+)$/.exec(line);
    return match && { text: match[2]?.replace(/\\(.)/g, (_, one) => (one === 'n' ? '\n' : one)), value: match[3] };
  };

  it('keeps any label, help and number on one line', { tags: 'property' }, () => {
    const text = fc.oneof(fc.string(), fc.constantFrom('"', '\\', '\n', '\\n', '"} 1\ngw_evil 1', '\\"'));
    fc.assert(
      fc.property(text, text, fc.double(), (label, help, value) => {
        const lines = exposition([
          { name: 'm', type: 'gauge', help, samples: [{ labels: { l: label }, value }] },
        ]).split('\n');
        expect(lines).toHaveLength(4);
        expect(lines[0]).toMatch(/^# HELP m /);
        const found = read(lines[2] ?? '');
        expect(found?.text).toBe(label);
        const numbers: Readonly<Record<string, number>> = { NaN: Number.NaN, '+Inf': Infinity, '-Inf': -Infinity };
        const number = numbers[found?.value ?? ''] ?? Number(found?.value);
        expect(number === value || Object.is(number, value)).toBe(true);
      }),
    );
  });
});

describe('docs/gateway.md', () => {
  it('lists every metric with its type and meaning, and no other', async () => {
    const page = await readFile(new URL('../../../docs/gateway.md', import.meta.url), 'utf8');
    const documented = [...page.matchAll(/^\| `([a-z_]+)` \| (gauge|counter) \| (?:`([a-z]+)`)? ?\| (.+) \|$/gm)];
    const labelOf = (metric: Metric) => Object.keys(metric.samples[0]?.labels ?? {})[0];
    const actual = metricsOf(source({ cloud: connectedView }));
    expect(documented.map(([, name, type, , help]) => [name, type, help])).toEqual(
      actual.map(({ name, type, help }) => [name, type, help]),
    );
    for (const [index, [, name, , label]] of documented.entries()) {
      const metric = actual[index];
      if (metric !== undefined && metric.samples.length > 0) expect([name, label]).toEqual([name, labelOf(metric)]);
    }
  });
});
