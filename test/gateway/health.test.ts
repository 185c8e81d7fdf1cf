import { describe, expect, it } from 'vitest';
import { gatewayHealth, type HealthParts } from '../../src/lib/gateway/gateway.ts';
import { partsWith, service } from './health-parts.ts';

describe('the health of the gateway', () => {
  const { disk, evidence } = partsWith();
  const folder = disk.media;

  it('is ok where every part is ok, and also while a stop is being written to the disk', () => {
    expect(gatewayHealth(partsWith()).status).toBe('ok');
    expect(gatewayHealth(partsWith({ stop: { saved: 'pending' } })).status).toBe('ok');
  });

  it.each<[what: string, over: Partial<HealthParts>]>([
    ['a stop that is not saved', { stop: { saved: false } }],
    ['a state folder with too little free space', { disk: { ...disk, state: { ...folder, status: 'low' } } }],
    ['a media folder that cannot be used', { disk: { ...disk, media: { ...folder, status: 'unusable' } } }],
    ['a folder that was not checked', { disk: { ...disk, media: { ...folder, status: 'not-checked' } } }],
    ['revoked evidence', { evidence: { ...evidence, status: 'revoked' } }],
    ['evidence that cannot be read', { evidence: { ...evidence, status: 'unreadable' } }],
    ['a cloud that is not connected for too long', { cloudIsDown: true }],
    ['an operator server without a usable password file', { operatorTrouble: 'no one can sign in' }],
    ['sessions that cannot be recorded', { support: { status: 'waiting', records: 'failing', detail: 'ENOSPC' } }],
    ['two devices with one serial number', { fleet: { status: 'conflict', detail: 'SN2 from a and b' } }],
    ['one service that is not running', { services: [service, { ...service, name: 'fleet', status: 'restarting' }] }],
  ])('is degraded by %s', (_what, over) => void expect(gatewayHealth(partsWith(over)).status).toBe('degraded'));

  it.each([
    ['stop latch', 'keepingTrouble'],
    ['pose alarm', 'poseAlarmTrouble'],
  ])('reports the state folder by the last write of the %s, not by the disk check', (what, key) => {
    const trouble = { reason: `The ${what} cannot be saved: EROFS.`, remedy: 'Mount it anew.' };
    const health = gatewayHealth(partsWith({ [key]: trouble }));
    expect(health.status).toBe('degraded');
    const { reason: detail, remedy } = trouble;
    expect(health.disk.state).toMatchObject({ status: 'unusable', detail, remedy });
    expect(health.disk.media).toEqual(disk.media);
  });

  it('is not degraded by a running session, nor by records that nothing has needed yet', () => {
    const support = { status: 'running', records: 'ok', detail: 'A session runs.' } as const;
    expect(gatewayHealth(partsWith({ support }))).toMatchObject({ status: 'ok', support });
    const none = { status: 'not-configured', records: 'not-checked', detail: 'The site file has no cloud.' } as const;
    expect(gatewayHealth(partsWith({ support: none })).status).toBe('ok');
  });

  it('is not degraded by an unread log', () => {
    const log = { status: 'unread', droppedLines: 9, detail: 'The reader of the log does not read.' } as const;
    expect(gatewayHealth(partsWith({ log }))).toMatchObject({ status: 'ok', log });
  });
});
