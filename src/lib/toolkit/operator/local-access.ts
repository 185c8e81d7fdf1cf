import { access, constants } from 'node:fs/promises';
import { GwError } from '../../error/index.ts';
import { type Clock, withDeadline } from '../../lifecycle/index.ts';
import type { Agent } from '../../net/http/index.ts';
import { DialError, type Dialer, directDialer, parseListeningUnixSockets, type Ssh } from '../../net/index.ts';
import { localSocketPath } from '../../site/index.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import {
  DIAL_MS,
  type OperatorAccess,
  type OperatorPlace,
  operatorAccess,
  operatorAgent,
  requestsOver,
} from './access.ts';

/** What every client of the running gateway offers, signed in or not. */
export type GatewayAccess = Omit<OperatorAccess, 'signIn'>;

interface LocalPlace {
  readonly site: Pick<Toolkit['site'], 'stateDir'> & Pick<OperatorPlace['site'], 'chassis'>;
  readonly ssh?: Ssh | undefined;
  readonly clock: Clock;
}

/** The socket for local commands, of this machine or of the remote host of --via. */
interface LocalSocket {
  readonly path: string;
  readonly dialer: Dialer;
  readonly agent: () => Promise<Agent>;
}

/**
 * Client of the socket for local commands of the gateway, here or over --via: counts as signed in without a password,
 * because only the user of `gw serve` and root may open it. null where there is none for this user, or for the SSH login.
 * Throws SSH_LOST, INTERRUPTED.
 */
export async function localOperatorAccess(
  { site, ssh, clock }: LocalPlace,
  { signal }: Pick<CheckContext, 'signal'>,
  { timeoutMs }: { readonly timeoutMs?: number } = {},
): Promise<GatewayAccess | null> {
  const own = localSocketPath(site);
  const socket = ssh === undefined ? await socketHere(own) : await socketThere(ssh, own, signal);
  if (socket === null) return null;
  const { path, ...way } = socket;
  const { ask, askText, askEvent, answerTo, robot } = requestsOver(
    {
      ...way,
      clock,
      origin: 'http://localhost',
      tried: { address: `unix:${path}` },
      ...(timeoutMs !== undefined && { timeoutMs }),
      robot: site.chassis?.serial,
      isSame: false,
    },
    null,
    signal,
  );
  return { ask, askText, askEvent, answerTo, robot };
}

/**
 * Client of the running gateway: by its socket for local commands where this user may open it, otherwise by its port, and
 * with a host only by that.
 */
export async function gatewayAccess(
  toolkit: OperatorPlace & LocalPlace,
  context: CheckContext,
  host?: string,
): Promise<GatewayAccess> {
  const local = host === undefined ? await localOperatorAccess(toolkit, context) : null;
  return local ?? operatorAccess(toolkit, context, host);
}

async function socketHere(path: string): Promise<LocalSocket | null> {
  const isOpenable = await access(path, constants.R_OK | constants.W_OK).then(
    () => true,
    () => false,
  );
  return isOpenable ? { path, dialer: directDialer, agent: () => localAgent(path) } : null;
}

const localAgents = new Map<string, Promise<Agent>>();

function localAgent(path: string): Promise<Agent> {
  const kept =
    localAgents.get(path) ??
    import('../../net/http/index.ts').then(({ Agent }) => new Agent({ connect: { socketPath: path } }));
  localAgents.set(path, kept);
  return kept;
}

const socketsThere = new WeakMap<Ssh, Promise<LocalSocket | null>>();

const refusals = new WeakMap<Ssh, GwError>();

/** Why the remote host of --via could not be asked for its socket; undefined: it was asked. */
export function localSocketRefusal({ ssh }: Pick<LocalPlace, 'ssh'>): GwError | undefined {
  return ssh === undefined ? undefined : refusals.get(ssh);
}

/** Looked up once for each SSH connection: a command may ask once a second. */
function socketThere(ssh: Ssh, own: string, signal: AbortSignal): Promise<LocalSocket | null> {
  const known = socketsThere.get(ssh);
  if (known !== undefined) return known;
  const found = findThere(ssh, own, signal);
  socketsThere.set(ssh, found);
  found.catch(() => socketsThere.delete(ssh));
  return found;
}

const LOOK_UP_MS = 10_000;
const ANY_SOCKET = `/${localSocketPath({ stateDir: '' })}`;

/** Accounts of services have a lower id. @source Debian Policy 9.2.2; adduser(8) */
const FIRST_PERSON_UID = 1_000;

/**
 * The kernel of the remote host lists the sockets in use, because the site file of this machine need not have the paths of
 * that one. Any user of that host can open one of this name: of several only the one that the site file names is used, and
 * another one only when it belongs to this login or to no other person.
 */
async function findThere(ssh: Ssh, own: string, signal: AbortSignal): Promise<LocalSocket | null> {
  const { readRemoteText } = await import('../remote-run.ts');
  try {
    // Ended early where the key forces another program, which may never end.
    const limit = withDeadline(signal, LOOK_UP_MS);
    const table = await readRemoteText(ssh, ['cat', '/proc/net/unix'], limit).catch((error: unknown) => {
      if (!(error instanceof GwError) || error.code !== 'SSH_CHANNEL_REFUSED') throw error;
      refusals.set(ssh, error);
      return 'refused';
    });
    signal.throwIfAborted();
    // A server that runs no programs (`MaxSessions 0`) may forward to the socket nevertheless.
    const listening = table === 'refused' ? [own] : parseListeningUnixSockets(table ?? '');
    const paths = listening.filter((path) => path.endsWith(ANY_SOCKET));
    const path = paths.includes(own) ? own : paths[0];
    if (path === undefined || (path !== own && paths.length > 1)) return null;
    if (path !== own) {
      const owners = await readRemoteText(ssh, ['stat', '-c', '%u', path, '/proc/self'], limit);
      const [, owner, login] = /^(\d+)\n(\d+)\n$/.exec(owners ?? '') ?? [];
      if (owner === undefined || (owner !== login && Number(owner) >= FIRST_PERSON_UID)) return null;
    }
    const dialer = ssh.socketDialer(path);
    // Whether this login may open it, only the attempt shows.
    const stream = await dialer.dial({ host: 'localhost', port: 0 }, { timeoutMs: DIAL_MS, signal });
    stream.destroy();
    return { path, dialer, agent: () => operatorAgent(dialer) };
  } catch (error) {
    if (error instanceof DialError || (error instanceof GwError && error.code === 'SSH_CHANNEL_REFUSED')) return null;
    throw error;
  }
}
