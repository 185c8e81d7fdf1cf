import { describe, expect, it } from 'vitest';
import * as sim from '../../src/cli/render/sim.ts';
import type { SimTunnel, SimTunnelBrowse, SimTunnelPage } from '../../src/lib/sim/control/control.result.ts';
import { faultOf } from './printed-commands.ts';
import { linesOf } from './shown.ts';

const dir = '/tmp/robot';
const place = { host: '127.0.0.1', port: 4711, caFile: '/tmp/robot/enrolment-ca.pem' };
const side = { connected: false, channelId: null, connects: 0, bytes: 0 };

const tunnel = (values: Partial<SimTunnel> = {}): SimTunnel => ({
  ...{ tunnelId: 't-1', serial: 'SN0007', services: ['web', 'status'], region: 'eu-central-1', status: 'OPEN' },
  ...{ closedBy: null, openedAt: '2026-01-31T12:00:00.000Z', leftMs: 599_990 },
  ...{ source: side, destination: { ...side, connected: true }, ...values },
});

const page = (values: Partial<SimTunnelPage> = {}): SimTunnelPage => ({
  ...{ path: '/service', status: 200, problem: null, headers: { 'content-type': 'text/html' }, bytes: 1_234 },
  ...{ title: 'Service', lines: ['<!doctype html>'], tookMs: 12.4, ...values },
});

const browsed = (values: Partial<SimTunnelBrowse> = {}): SimTunnelBrowse => ({
  ...{ dir, tunnelId: 't-1', service: 'web', opened: true, problem: null, pages: [page()], ...values },
});

describe('gw sim tunnel', () => {
  it('open claims no delivery, and ends with the token and the next command', async () => {
    const about = { dir, tunnel: tunnel(), sourceToken: 'TOKEN', ...place };
    const lines = linesOf(sim.renderSimTunnelOpen({ ...about, connected: true }));
    expect(lines[0]).toMatch(/^Tunnel t-1 for SN0007 is open, 10 min left; .* is not checked\.$/);
    expect(lines[1]).toBe('The device was connected.');
    expect(lines).toContain('service   wss://127.0.0.1:4711');
    expect(lines.slice(-5, -1)).toEqual([
      'Source token, a secret. Pass it in the environment as GW_TUNNEL_TOKEN, not as an argument:',
      'TOKEN',
      '',
      'Then connect, and type the token when asked:',
    ]);
    const next = lines.at(-1) ?? '';
    expect(next).toMatch(
      /^gw tunnel connect --service web --service status --tunnel-host 127\.0\.0\.1 --tunnel-port 4711/,
    );
    expect(await faultOf({ line: next, part: false })).toBeNull();
    expect(next).not.toContain('TOKEN');
    const without = linesOf(sim.renderSimTunnelOpen({ ...about, connected: false }));
    expect(without[1]).toMatch(/^The device was not connected: the notification waits only in a session/);
  });

  it('rotate names the sides, and prints a token only where there is a new one', () => {
    type About = Pick<Parameters<typeof sim.renderSimTunnelRotate>[0], 'side' | 'sourceToken' | 'connected'>;
    const rotate = (about: About) => linesOf(sim.renderSimTunnelRotate({ dir, tunnel: tunnel(), ...about, ...place }));
    const [first, second] = rotate({ side: 'destination', sourceToken: null, connected: true });
    expect(first).toMatch(/^Tunnel t-1: the destination has a new token, the old one is refused; .* is not checked\.$/);
    expect(second).toBe('The device was connected.');
    const source = rotate({ side: 'source', sourceToken: 'TOKEN', connected: null });
    expect(source[0]).toBe('Tunnel t-1: the source has a new token, the old one is refused.');
    expect(source.at(-1)).toBe('TOKEN');
  });

  it('close and list', () => {
    const closed = tunnel({ status: 'CLOSED', closedBy: 'lifetime', leftMs: 0, tunnelId: 't-2' });
    expect(sim.renderSimTunnelClose({ dir, tunnel: closed })).toMatch(
      /^Tunnel t-2 for SN0007 is closed .* not checked/,
    );
    expect(sim.renderSimTunnelList({ dir, tunnels: [], handshakes: [] })).toBe('No tunnel.');
    const about = { at: '2026-01-31T12:00:00.000Z', tunnelId: null, hasClientToken: false };
    const handshakes = [
      { ...about, mode: 'source' as const, status: 101, reason: '' },
      { ...about, mode: null, status: 400, reason: 'Invalid path\u001b[2J' },
    ];
    const text = sim.renderSimTunnelList({ dir, tunnels: [tunnel(), closed], handshakes });
    const lines = linesOf(text);
    expect(lines[0]).toBe('2 tunnels, 1 open.');
    expect(lines.find((line) => line.includes('t-1'))).toMatch(/OPEN +10 min +disconnected +connected/);
    expect(lines.find((line) => line.includes('t-2'))).toContain('CLOSED, lifetime over');
    expect(lines.find((line) => line.includes('(invalid)'))).toMatch(/400 +Invalid path/);
    expect(text).not.toContain('\u001b[2J');
  });

  it('browse counts only complete answers, whatever their status', () => {
    const [first, ...rest] = linesOf(sim.renderSimTunnelBrowse(browsed()));
    expect(first).toBe('1 of 1 request answered through tunnel t-1, service web.');
    const shown = ['GET /service: 200, 1234 bytes in 12 ms', '  content-type: text/html', '  title: Service'];
    const ended = 'The tunnel was opened for this and is closed.';
    expect(rest).toEqual(['', ...shown, '  | <!doctype html>', '', ended]);
    const half = page({ problem: 'aborted', bytes: 5 });
    const none = page({ status: null, problem: 'the stream was reset', headers: {}, bytes: 0, title: null, lines: [] });
    const pages = [page({ status: 403 }), half, none];
    const lines = linesOf(sim.renderSimTunnelBrowse(browsed({ opened: false, pages })));
    expect(lines[0]).toBe('FAILED: 1 of 3 requests answered through tunnel t-1, service web.');
    expect(lines).toContain('GET /service: 200, 5 bytes in 12 ms (aborted)');
    expect(lines).toContain('GET /service: no answer (the stream was reset)');
    expect(lines.at(-1)).not.toContain('closed');
  });

  it('browse without a source or a destination is FAILED', () => {
    const problem = 'no destination connected within 30 s';
    const [first] = linesOf(sim.renderSimTunnelBrowse(browsed({ problem, pages: [] })));
    expect(first).toBe(`FAILED: no page requested through tunnel t-1, service web: ${problem}.`);
  });
});
