import { type ChildProcess, spawn } from 'node:child_process';
import type { Clock, Log } from '../../lifecycle/index.ts';
import { CLIENT_TOKEN_VARIABLE, type ProxySettings, TOKEN_VARIABLE } from '../model.ts';
import type { ProxyEvent } from '../proxy.result.ts';
import type { AccessToken } from './access-token.ts';
import { createLineReader, oneLine, parseProxyEvent } from './proxy-events.ts';
import type { Running } from './state.ts';

/** Between SIGTERM and SIGKILL. Project decision. */
export const KILL_AFTER_MS = 1_000;
/** Last bytes of stderr that are kept. */
const MAX_STDERR_BYTES = 4_096;
/** After the exit, until its pipes count as closed: a program that inherited them may hold them open. */
const CLOSE_WITHIN_MS = 500;
const SHELL = '/bin/sh';
/**
 * No core file; where the system pipes core dumps to a program, no memory in them; no variables of the shell itself; and
 * the kernel kills the proxy with the gateway, even a frozen one, where `setpriv` of util-linux exists.
 */
export const WRAPPER = [
  'ulimit -c 0; echo 0 2>/dev/null >/proc/self/coredump_filter; unset PWD OLDPWD SHLVL',
  // Tried first, without the tokens, since that of BusyBox does not have the option.
  `if (unset ${TOKEN_VARIABLE} ${CLIENT_TOKEN_VARIABLE}; exec setpriv --pdeathsig KILL true) 2>/dev/null`,
  'then exec setpriv --pdeathsig KILL "$@"; fi; exec "$@"',
].join('; ');
/** The inspector of Node, which SIGUSR1 opens on a TCP port, shows the tokens to every user of this machine. */
const WITHOUT_INSPECTOR = '--disable-sigusr1';
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

export interface ProxyProcessOptions {
  /** Demanded so that the start is recorded and the clock is armed before. */
  readonly running: Running;
  readonly clientToken: AccessToken;
  /** Words that start gw, the first one Node.js. */
  readonly program: readonly string[];
  readonly settings: ProxySettings;
  readonly clock: Pick<Clock, 'after'>;
  readonly log: Log;
  /** Texts in it contain no token. */
  readonly onEvent: (event: ProxyEvent) => void;
}

export interface ProxyProcess {
  readonly pid: number | undefined;
  /** Resolves when it has been reaped and its output was read. Never rejects. */
  readonly closed: Promise<ProxyClosed>;
  /** SIGTERM, and SIGKILL after `killAfterMs`; resolves when it is gone. */
  stop(killAfterMs?: number): Promise<void>;
}

export interface ProxyClosed {
  /** null: ended by a signal, or never started. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Why it could not be started; null: it was. */
  readonly startError: string | null;
  /** Its `ended` event; null: none received. */
  readonly ended: Extract<ProxyEvent, { readonly event: 'ended' }> | null;
  /** End of stderr in one line, without tokens. */
  readonly stderr: string;
}

/**
 * Starts the proxy of a running session. Its environment consists of PATH and the two tokens; its arguments contain no
 * secret. It ends when its stdin closes, so also with a gateway that is killed (a frozen proxy: see WRAPPER). In a session
 * of its own, so that Ctrl-C at the terminal of the gateway ends it only through the gateway, which records why.
 */
export function startProxy(options: ProxyProcessOptions): ProxyProcess {
  const { running, clientToken, program, clock, log } = options;
  const tokens = { [TOKEN_VARIABLE]: running.token, [CLIENT_TOKEN_VARIABLE]: clientToken };
  const scrub = (text: string) => oneLine(running.token.scrub(clientToken.scrub(text)));
  const { promise: closed, resolve } = Promise.withResolvers<ProxyClosed>();
  let ended: ProxyClosed['ended'] = null;
  let stderr: Buffer = Buffer.alloc(0);
  let startError: string | null = null;

  const [node = '', ...script] = program;
  // Not known to Node 23.0 to 23.6, which would not start with it.
  const flags = process.allowedNodeEnvironmentFlags.has(WITHOUT_INSPECTOR) ? [WITHOUT_INSPECTOR] : [];
  const words = [node, ...flags, ...script, ...argumentsOf(options.settings)];
  const child = spawnQuietly(words, environmentOf(tokens));
  if (child instanceof Error) {
    const startError = scrub(child.message);
    resolve({ code: null, signal: null, startError, ended: null, stderr: '' });
    return { pid: undefined, closed, stop: async () => {} };
  }

  const reader = createLineReader((line) => {
    const event = line === null ? null : parseProxyEvent(line);
    if (event === null) {
      // Without its content, which may be anything.
      log.warn({ session: running.session }, 'the proxy of a support session wrote a line that is not an event');
      return;
    }
    const shown = scrubbed(event, scrub);
    if (shown.event === 'ended') ended = shown;
    options.onEvent(shown);
  });
  const { stdin, stdout, stderr: errors } = child;
  stdout?.on('data', (bytes: Buffer) => reader.push(bytes));
  errors?.on('data', (bytes: Buffer) => {
    stderr = Buffer.concat([stderr, bytes.subarray(-MAX_STDERR_BYTES)]).subarray(-MAX_STDERR_BYTES);
  });
  // Errors of the pipes say nothing beyond the exit.
  const pipes = [stdin, stdout, errors];
  for (const pipe of pipes) pipe?.on('error', () => {});

  const close = () => {
    // The tail may begin within a token, which `scrub` removes too.
    const tail = scrub(stderr.toString('utf8'));
    for (const pipe of pipes) pipe?.destroy();
    resolve({ code: child.exitCode, signal: child.signalCode, startError, ended, stderr: tail });
  };
  child.once('error', ({ message }) => {
    if (child.pid !== undefined) return;
    startError = scrub(message);
    close();
  });
  child.once('exit', () => {
    const limit = clock.after(CLOSE_WITHIN_MS, close);
    child.once('close', () => {
      limit[Symbol.dispose]();
      close();
    });
  });

  const isGone = () => child.pid === undefined || child.exitCode !== null || child.signalCode !== null;

  return {
    pid: child.pid,
    closed,
    async stop(killAfterMs = KILL_AFTER_MS) {
      if (!isGone()) child.kill('SIGTERM');
      using _limit = clock.after(killAfterMs, () => {
        if (!isGone()) child.kill('SIGKILL');
      });
      await closed;
    },
  };
}

/** Without enough memory, or with too long arguments, the system's error is thrown; others come as an event. */
function spawnQuietly(words: readonly string[], env: NodeJS.ProcessEnv): ChildProcess | Error {
  try {
    const child: ChildProcess = spawn(SHELL, ['-c', WRAPPER, 'sh', ...words], {
      cwd: '/',
      env,
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: true,
    });
    return child;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** The service may return the token in its texts. */
function scrubbed(event: ProxyEvent, scrub: (text: string) => string): ProxyEvent {
  if ('detail' in event) return { ...event, detail: scrub(event.detail) };
  if (event.event !== 'connected' || event.channelId === null) return event;
  return { ...event, channelId: scrub(event.channelId) };
}

/** The one place that reads the value of a token. */
function environmentOf(tokens: Readonly<Record<string, AccessToken>>): NodeJS.ProcessEnv {
  return { PATH, ...Object.fromEntries(Object.entries(tokens).map(([name, token]) => [name, token.reveal()])) };
}

function argumentsOf({ host, port, subprotocol, services, caFile, maxS }: ProxySettings): string[] {
  return [
    ...['tunnel', 'proxy', '--tunnel-host', host, '--tunnel-port', String(port), '--subprotocol', subprotocol],
    ...services.flatMap((service) => ['--service', service]),
    ...(caFile === null ? [] : ['--ca-file', caFile]),
    ...['--timeout', String(maxS)],
  ];
}
