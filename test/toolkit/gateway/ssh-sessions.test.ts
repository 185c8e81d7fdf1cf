import { describe, expect, it } from 'vitest';
import { GwError } from '../../../src/lib/error/index.ts';
import { parseConnectionQueues } from '../../../src/lib/net/probe/index.ts';
import { sshSessionsSchema } from '../../../src/lib/toolkit/gateway/gateway.result.ts';
import { checkSshSessions } from '../../../src/lib/toolkit/gateway/ssh-sessions.ts';
import { has } from '../kit.ts';

const from = (remote: string, port = 22, local = '192.0.2.2') => ({
  local: { address: local, port },
  remote: { address: remote, port: 50_001 },
});
const OWN = '192.0.2.5 50001 192.0.2.2 22';
const look = async (connections: ReturnType<typeof from>[], own?: string) =>
  sshSessionsSchema.parse(await checkSshSessions({ own, read: async () => connections }));

describe('the SSH sessions on a gateway', () => {
  it('contradict that every laptop is gone, wherever they come from', async () => {
    for (const remote of ['192.0.2.9', '198.51.100.7', '2001:db8::9', '::ffff:c000:209']) {
      expect(await look([from('192.0.2.5'), from(remote)], OWN)).toMatchObject({
        verdict: 'wrong',
        findings: [{ detail: has(remote.startsWith('::ffff') ? '192.0.2.9' : remote) }],
      });
    }
  });

  it('are none where only this command has one, also as IPv4-mapped, on another port, or twice', async () => {
    expect(await look([])).toMatchObject({ verdict: 'ok' });
    expect(await look([from('192.0.2.5'), from('::ffff:c000:205')], OWN)).toMatchObject({ verdict: 'ok' });
    expect(await look([from('fe80::5', 2022)], 'fe80::5%eth0 1 fe80::2%eth0 2022')).toMatchObject({ verdict: 'ok' });
    // What this machine has with itself, and connections that it made or that are no SSH.
    expect(await look([from('127.0.0.1'), from('192.0.2.4', 5173), from('198.51.100.7', 40_000)])).toMatchObject({
      verdict: 'ok',
    });
  });

  it('of this command on another port than 22 hide no others', async () => {
    const own = '192.0.2.5 50001 192.0.2.2 2022';
    for (const port of [22, 2022]) {
      expect(await look([from('192.0.2.5', 2022), from('192.0.2.9', port)], own)).toMatchObject({ verdict: 'wrong' });
    }
  });

  it('are not checked where the one of this command is not known, or the table cannot be read', async () => {
    for (const own of [undefined, '', 'x', '192.0.2.5 50001']) {
      expect(await look([from('192.0.2.9')], own)).toMatchObject({ verdict: 'not-checked' });
    }
    const read = async () => {
      throw new GwError('FILE_UNREADABLE', 'The list of open sockets cannot be read.');
    };
    expect(await checkSshSessions({ own: OWN, read })).toMatchObject({ verdict: 'not-checked' });
  });

  it('are read from the tables of the kernel', async () => {
    const text = `head\n   0: 020200C0:0016 090200C0:C351 01 00000000:00000000 00:00000000 00000000 0 0 9 1 0 100\n`;
    expect(await checkSshSessions({ own: OWN, read: async () => parseConnectionQueues(text) })).toMatchObject({
      verdict: 'wrong',
      findings: [{ detail: has('192.0.2.9') }],
    });
    expect((await checkSshSessions({})).findings).toHaveLength(1);
  });
});
