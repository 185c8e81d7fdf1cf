import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { LinkState } from '../../../src/lib/chassis/index.ts';
import { type FaultSources, faultsOf } from '../../../src/lib/gateway/cloud-state/index.ts';
import type { ServiceHealth } from '../../../src/lib/lifecycle/index.ts';
import { tried } from '../../operator/stand-ins.ts';
import { chassisAfter, health, inOrder, motion } from './sources.ts';

const page = readFileSync(new URL('../../../docs/cloud.md', import.meta.url), 'utf8');
const sources = (change: Partial<FaultSources> = {}, ...messages: readonly object[]): FaultSources => ({
  ...{ snapshot: chassisAfter(...inOrder, ...messages).snapshot(), motion: motion(), health: health(), ...change },
});
const keysOf = (...args: Parameters<typeof sources>) => faultsOf(sources(...args)).present.map(({ key }) => key);
const service = (change: Partial<ServiceHealth>): ServiceHealth => ({
  ...{ name: 'fleet', status: 'running', restarts: 0, lastError: null, remedy: null, detail: '' },
  ...change,
});
const linked = (link: LinkState) => ({ snapshot: chassisAfter(...inOrder).snapshot({ link }) });

describe('the faults of a robot', () => {
  it('are none, and all are checked, where everything is in order', () => {
    expect(faultsOf(sources())).toEqual({ present: [], unchecked: [] });
  });

  it('are a service that is restarted, with its error; one that starts or ends is not checked', () => {
    const services = [service({ status: 'restarting', lastError: 'Port in use.' }), service({ name: 'motion' })];
    expect(faultsOf(sources({ health: health({ services }) })).present).toEqual([
      { key: 'service.fleet', text: 'Service fleet does not run: Port in use.', number: null, mark: 'BELEGT' },
    ]);
    for (const status of ['waiting', 'starting', 'stopping', 'stopped'] as const) {
      expect(faultsOf(sources({ health: health({ services: [service({ status })] }) }))).toEqual({
        ...{ present: [], unchecked: ['service.fleet'] },
      });
    }
  });

  it('are a chassis that is not connected, with the address tried, is another one, or starts', () => {
    const failed = { kind: 'not-connected', failure: 'refused', detail: 'Nothing listens.', tried } as const;
    expect(faultsOf(sources(linked(failed))).present).toEqual([
      {
        ...{ key: 'chassis.link.not-connected', number: null, mark: 'BELEGT' },
        text: 'Chassis not connected: Nothing listens. Tried: 127.0.0.1:8090.',
      },
    ]);
    const [wrong] = faultsOf(sources(linked({ ...failed, failure: 'wrong-device', foundSerial: 'SN9' }))).present;
    expect(wrong).toMatchObject({ key: 'chassis.link.wrong-device', text: expect.stringContaining('SN9') });
    expect(keysOf(linked({ kind: 'booting', progress: 0.5, step: 'maps', tried }))).toEqual(['chassis.link.booting']);
    expect(faultsOf(sources(linked({ kind: 'connecting', tried })))).toEqual({
      ...{ present: [], unchecked: ['chassis.link.'] },
    });
  });

  it('are conditions that are judged wrong, with the mark of their topic', () => {
    const pressed = { ...inOrder[3], emergency_stop_pressed: true };
    const fault = { key: 'condition.emergency-stop.pressed', text: 'The emergency stop is pressed.' };
    expect(faultsOf(sources({}, pressed)).present).toEqual([{ ...fault, number: null, mark: 'HINWEIS' }]);
    const [empty] = faultsOf(sources({}, { ...inOrder[2], percentage: 0.05 })).present;
    expect(empty).toMatchObject({ key: 'condition.battery.critical', number: 5 });
    expect(keysOf({}, { ...inOrder[4], reliable: false })).toEqual(['condition.positioning.lost']);
  });

  it('are not cleared by an unknown state', () => {
    expect(faultsOf(sources({}, { ...inOrder[3], control_mode: 'AUTO' }))).toEqual({
      ...{ present: [], unchecked: ['condition.control-mode.'] },
    });
  });

  it('of a chassis without a connection are not checked', () => {
    const { live, snapshot } = chassisAfter(...inOrder, { topic: '/alerts', alerts: [{ code: 7, level: 'error' }] });
    live.disconnect();
    const conditions = ['emergency-stop', 'control-mode', 'positioning', 'battery', 'power'];
    expect(faultsOf(sources({ snapshot: snapshot({ values: live.values() }) }))).toEqual({
      present: [],
      unchecked: [...conditions.map((id) => `condition.${id}.`), 'alert.', 'move.'],
    });
    expect(faultsOf(sources({ snapshot: chassisAfter().snapshot() })).unchecked).toHaveLength(7);
  });

  it('are alerts with their numbers, but for those of level none', () => {
    const alerts = [
      { code: 1024, level: 'error', msg: 'm' },
      { code: 8501, level: 'warning', msg: 'x'.repeat(5_000) },
      { code: 3 },
      { code: 4, level: 'none', msg: 'n' },
    ];
    const { present, unchecked } = faultsOf(sources({}, { topic: '/alerts', alerts }));
    expect(present.map(({ key, number, mark }) => [key, number, mark])).toEqual([
      ['alert.1024', 1_024, 'HINWEIS'],
      ['alert.8501', 8_501, 'HINWEIS'],
      ['alert.3', 3, 'HINWEIS'],
    ]);
    expect(present[0]?.text).toBe('Alert 1024 (error): m');
    expect(present[1]?.text.length).toBeLessThanOrEqual(300);
    expect(unchecked).toEqual([]);
  });

  it('are a failed move; only 103 has a measured meaning', () => {
    const failed = (reason: number) => ({ ...inOrder[1], move_state: 'failed', fail_reason: reason });
    const of = (reason: number) => faultsOf(sources({}, failed(reason))).present[0];
    expect(of(103)).toMatchObject({ key: 'move.failed.103', number: 103, mark: 'BELEGT' });
    expect(of(77)).toMatchObject({ key: 'move.failed.77', number: 77, mark: 'OFFEN' });
    expect(keysOf({}, { ...failed(103), move_state: 'moving' })).toEqual([]);
  });

  it('are a pose in radians, and one that may be', () => {
    const { snapshot } = chassisAfter(...inOrder);
    expect(keysOf({ snapshot: snapshot({ unitContradicted: true }) })).toEqual(['chassis.pose-unit']);
    const poseUnit = { ...snapshot().poseUnit, doubt: 'like radians' };
    expect(keysOf({ snapshot: snapshot({ poseUnit }) })).toEqual(['chassis.pose-unit-doubt']);
  });

  it('are trouble of a disk, of the evidence and of saving a stop; a latched stop is none', () => {
    const { disk, evidence } = health();
    const diskOf = (status: 'low' | 'unusable' | 'not-checked') => ({
      health: health({ disk: { ...disk, state: { ...disk.state, status } } }),
    });
    expect(keysOf(diskOf('low'))).toEqual(['disk.state.low']);
    expect(keysOf(diskOf('unusable'))).toEqual(['disk.state.unusable']);
    expect(faultsOf(sources(diskOf('not-checked'))).unchecked).toEqual(['disk.state.']);
    expect(keysOf({ health: health({ evidence: { ...evidence, status: 'revoked' } }) })).toEqual(['evidence.revoked']);
    const { stop } = motion();
    const latched = { ...stop, latched: true };
    const stopped = (change: object) => ({ motion: { keepingTrouble: null, stop: { ...latched, ...change } } });
    expect(keysOf(stopped({ saved: true }))).toEqual([]);
    expect(keysOf(stopped({ saved: 'pending' }))).toEqual([]);
    expect(keysOf(stopped({ saved: false }))).toEqual(['stop.not-saved']);
    const keepingTrouble = { reason: 'EROFS', remedy: '' };
    expect(keysOf({ motion: { stop, keepingTrouble } })).toEqual(['stop.cannot-be-saved']);
  });

  it('are the documented ones', () => {
    const section = /^### Faults\n([\s\S]*?)^### /m.exec(page)?.[1] ?? '';
    const starts = 'service. chassis.link. chassis.pose-unit condition. alert. move.failed. disk. evidence. stop.';
    for (const start of starts.split(' ')) expect(section).toContain(`\`${start}`);
  });
});
