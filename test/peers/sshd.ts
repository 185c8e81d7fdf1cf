import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../free-port.ts';
import { startProcess } from '../process.ts';
import { until } from '../waiting.ts';

const path = `${process.env.PATH}:/usr/sbin:/sbin`;

/** Debian's sshd, unmodified, on a port of its own at 127.0.0.1, for the current user, with new keys. */
export interface Sshd extends AsyncDisposable {
  readonly port: number;
  readonly user: string;
  /** Folder of the server: host keys, configuration, authorized_keys. */
  readonly dir: string;
  /** A home folder for the client: `.ssh` with an authorised `id_ed25519`, and no known host. */
  readonly home: string;
  /** The log of sshd so far. */
  log(): string;
  /** It writes its log after it has answered: resolves when the log holds this. */
  logged(text: string): Promise<void>;
  /** The line of known_hosts for its key. */
  knownHostLine(port?: number): string;
  /** Adds the host to known_hosts of the client, also with another port where a forwarder is in front. */
  trust(port?: number): void;
  authorize(publicKeyFile: string, options?: string): void;
  /** Stops all of its processes, as on a machine that hangs: connections stay open, and no data is sent. */
  pause(): void;
  resume(): void;
  /** Ends every connection at once, by ending the processes that serve them, and accepts no new ones. */
  stop(): Promise<void>;
}

export interface SshdOptions {
  /** Further lines of sshd_config. */
  readonly config?: readonly string[];
  readonly hostKeyTypes?: readonly ('ed25519' | 'rsa' | 'ecdsa')[];
  /** A folder that is first on PATH of the programs started there. */
  readonly binDir?: string;
}

export function makeKey(file: string, type: 'ed25519' | 'rsa' | 'ecdsa' = 'ed25519', passphrase = ''): void {
  const bits = type === 'rsa' ? ['-b', '2048'] : [];
  execFileSync('ssh-keygen', ['-q', '-t', type, ...bits, '-N', passphrase, '-C', `test ${type}`, '-f', file], {
    env: { PATH: path },
  });
}

export async function startSshd({ config = [], hostKeyTypes = ['ed25519'], binDir }: SshdOptions = {}): Promise<Sshd> {
  const dir = mkdtempSync(join(tmpdir(), 'gw-sshd-'));
  const home = join(dir, 'home');
  const far = join(dir, 'far-home');
  mkdirSync(far);
  const authorized = join(dir, 'authorized_keys');
  mkdirSync(join(home, '.ssh'), { recursive: true, mode: 0o700 });
  for (const type of hostKeyTypes) makeKey(join(dir, `host_${type}`), type);
  makeKey(join(home, '.ssh', 'id_ed25519'));
  const port = await freePort();
  // As root sshd requires this folder; Debian creates it when the service starts.
  if (userInfo().uid === 0) mkdirSync('/run/sshd', { recursive: true, mode: 0o755 });
  const lines = [
    `Port ${port}`,
    'ListenAddress 127.0.0.1',
    ...hostKeyTypes.map((type) => `HostKey ${join(dir, `host_${type}`)}`),
    `AuthorizedKeysFile ${authorized}`,
    `PidFile ${join(dir, 'pid')}`,
    // The temporary folder is world-writable, which sshd rejects.
    'StrictModes no',
    'UsePAM no',
    'PermitRootLogin yes',
    'LogLevel VERBOSE',
    // The shell profile of this user on this machine is not part of a test.
    `SetEnv ${[`HOME=${far}`, ...(binDir === undefined ? [] : [`PATH=${binDir}:${process.env.PATH}`])].join(' ')}`,
    ...config,
  ];
  writeFileSync(join(dir, 'sshd_config'), `${lines.join('\n')}\n`);
  // A process group of its own, so that its processes can be ended together.
  const started = startProcess(sshdPath(), ['-D', '-e', '-f', join(dir, 'sshd_config')], {
    detached: true,
    env: { PATH: path },
  });
  const { child, closed, stderr: log } = started;
  await waitFor(
    () => log().includes('Server listening'),
    () => `${child.exitCode}: ${log()}`,
  );

  async function stop(): Promise<void> {
    if (started.hasEnded() || child.pid === undefined) return;
    // Processes that sshd forked for a connection are in the group too, unless they have one of their own.
    for (const pid of [...childrenOf(child.pid), child.pid]) signalQuietly(pid, 'SIGKILL');
    await closed;
  }

  function signalAll(name: NodeJS.Signals): void {
    if (started.hasEnded() || child.pid === undefined) return;
    signalTree(child.pid, name);
  }

  const user = userInfo().username;
  const sshd: Sshd = {
    port,
    user,
    dir,
    home,
    log,
    logged: (words) =>
      waitFor(
        () => log().includes(words),
        () => `no '${words}' in ${log()}`,
      ),
    knownHostLine(at = port) {
      const [type, key] = readFileSync(join(dir, `host_${hostKeyTypes[0]}.pub`), 'utf8').split(' ');
      return `[127.0.0.1]:${at} ${type} ${key}\n`;
    },
    trust: (at = port) => appendFileSync(join(home, '.ssh', 'known_hosts'), sshd.knownHostLine(at)),
    authorize(publicKeyFile, options = '') {
      appendFileSync(authorized, `${options === '' ? '' : `${options} `}${readFileSync(publicKeyFile, 'utf8')}`);
    },
    pause: () => signalAll('SIGSTOP'),
    resume: () => signalAll('SIGCONT'),
    stop,
    async [Symbol.asyncDispose]() {
      await stop();
      rmSync(dir, { recursive: true, force: true });
    },
  };
  sshd.authorize(join(home, '.ssh', 'id_ed25519.pub'));
  return sshd;
}

function sshdPath(): string {
  // sshd must be called by its absolute path.
  return execFileSync('sh', ['-c', 'command -v sshd'], { encoding: 'utf8', env: { PATH: path } }).trim();
}

/** Every process under this one; sshd serves each connection by processes of their own, in sessions of their own. */
function childrenOf(pid: number): number[] {
  const file = `/proc/${pid}/task/${pid}/children`;
  const pids = (() => {
    try {
      return readFileSync(file, 'utf8').split(' ').filter(Boolean).map(Number);
    } catch {
      return [];
    }
  })();
  return pids.flatMap((child) => [...childrenOf(child), child]);
}

/** To a process and every one under it. */
export function signalTree(pid: number, name: NodeJS.Signals): void {
  for (const one of [pid, ...childrenOf(pid)]) signalQuietly(one, name);
}

function signalQuietly(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has ended by itself.
  }
}

/** Waits for a state; what hangs fails with `about`. */
export async function waitFor(isTrue: () => boolean, about: () => string): Promise<void> {
  await until(
    () => (isTrue() ? null : about()),
    (text) => text === null,
  );
}
