import { asGwError } from '../../error/index.ts';
import { isLoopback } from '../../net/index.ts';
import { type ConnectionQueues, parseConnectionQueues, plainAddress, readTcpTables } from '../../net/probe/index.ts';
import { notChecked, ok, wrong } from '../finding.ts';
import type { SshSessions } from './gateway.result.ts';

/** @source specification, 'Cloud and other network paths' (BELEGT stated) */
const SSH_PORT = 22;

export interface SshSessionOptions {
  /** `SSH_CONNECTION` of this command: address and port of the client, then of the server. Absent: not run over SSH. */
  readonly own?: string | undefined;
  readonly read?: () => Promise<readonly Pick<ConnectionQueues, 'local' | 'remote'>[]>;
}

/**
 * Whether another machine has an SSH session on this gateway now, which contradicts that no computer of a technician is left
 * in the segment. It can contradict and not confirm: a laptop without a session is not seen. Changes nothing.
 */
export async function checkSshSessions({
  own,
  read = () => readTcpTables(parseConnectionQueues),
}: SshSessionOptions): Promise<SshSessions> {
  const start = {
    id: 'ssh-sessions',
    title: 'No other machine has an SSH session on this gateway',
    spec: 'Cloud and other network paths',
  };
  const answer = (finding: SshSessions['findings'][number]): SshSessions => ({
    verdict: finding.verdict,
    findings: [finding],
  });
  const mine = ownOf(own);
  let connections: Awaited<ReturnType<typeof read>>;
  try {
    connections = await read();
  } catch (error) {
    const { message, remedy } = asGwError(error);
    return answer(notChecked(start, message, remedy));
  }
  const ports = [SSH_PORT, mine?.port];
  const peers = new Set(
    connections
      .filter(({ local }) => ports.includes(local.port))
      .map(({ remote }) => plainAddress(remote.address))
      .filter((address) => !isLoopback(address) && address !== mine?.address),
  );
  const [first] = peers;
  const list = [...peers].join(', ');
  if (first === undefined) {
    return answer(
      ok(start, mine === null ? 'none is open now' : `none is open now but that of ${mine.address}, of this command`),
    );
  }
  const remedy = 'Log out there and take these machines out of the robot segment, then repeat this step.';
  if (mine === null) {
    const detail = `open from ${list}; whether one of them is that of this command is not known (SSH_CONNECTION is not set)`;
    return answer(notChecked(start, detail, remedy));
  }
  return answer(wrong(start, `open from ${list}`, remedy));
}

function ownOf(text: string | undefined): { readonly address: string; readonly port: number } | null {
  const [, address = '', port] = /^(\S{2,60}) \d{1,5} \S{2,60} (\d{1,5})$/.exec(text ?? '') ?? [];
  return port === undefined ? null : { address: plainAddress(address), port: Number(port) };
}
