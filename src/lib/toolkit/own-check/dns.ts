import { Resolver } from 'node:dns/promises';
import { isIP, isIPv6 } from 'node:net';
import { onAbort } from '../../lifecycle/index.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import { NOT_CHECKED, type NotChecked, THIS_MACHINE } from './place.ts';

export const recordTypes = ['A', 'AAAA', 'CNAME', 'MX', 'NS', 'PTR', 'SRV', 'TXT'] as const;
type RecordType = (typeof recordTypes)[number];

export interface DnsOptions {
  readonly name: string;
  readonly type: RecordType;
  /** Address of a name server, with a port where it is not 53; undefined: those of this machine. */
  readonly server?: string | undefined;
  readonly timeoutS: number;
}

/** Result of the check `dns`. */
export interface DnsCheck {
  readonly from: string;
  readonly name: string;
  readonly type: RecordType;
  readonly servers: readonly string[];
  /** A name server answered, also that there is no such name. */
  readonly answered: boolean;
  /** not-checked where no server said so: silence, SERVFAIL, a refusal. */
  readonly resolvable: boolean | NotChecked;
  readonly answers: readonly string[] | NotChecked;
  readonly failure: string | null;
  readonly tookMs: number;
  readonly detail: string;
}

const MAX_ANSWERS = 100;
/** Codes with which a server says that there is no such name, or no record of this type. */
const NO_SUCH = new Set(['ENOTFOUND', 'ENODATA']);
const UNANSWERED = new Set(['ETIMEOUT', 'ECONNREFUSED', 'ECANCELLED']);

/** An address with an optional port: `192.0.2.1`, `192.0.2.1:5353`, `[2001:db8::1]:53`. Undefined when it is none. */
export function parseNameServer(text: string): { readonly address: string; readonly port: number } | undefined {
  if (isIP(text) !== 0) return text.includes('%') ? undefined : { address: text, port: 53 };
  const [, six, four, digits] = /^(?:\[([0-9a-fA-F:.]{2,45})\]|([\d.]{7,15})):(\d{1,5})$/.exec(text) ?? [];
  const address = six ?? four ?? '';
  const port = Number(digits);
  if (isIP(address) === 0 || (six !== undefined && !isIPv6(address)) || port < 1 || port > 65_535) return undefined;
  return { address, port };
}

/** Asks the name servers for one name, not the hosts file of this machine. */
export async function checkDns(
  { clock }: Pick<Toolkit, 'clock'>,
  options: DnsOptions,
  { signal }: CheckContext,
): Promise<DnsCheck> {
  const { name, type, server, timeoutS } = options;
  signal.throwIfAborted();
  const timeoutMs = timeoutS * 1_000;
  const resolver = new Resolver({ timeout: timeoutMs, tries: 1 });
  const named = server === undefined ? undefined : parseNameServer(server);
  if (named) {
    const { address, port } = named;
    resolver.setServers([address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`]);
  }
  const servers = named && server !== undefined ? [server] : resolver.getServers();
  const asked = named ? `by ${servers.join(', ')}` : `by the name servers of this machine (${servers.join(', ')})`;
  const base = { from: THIS_MACHINE, name, type, servers };
  const beganMs = clock.monotonicMs();
  const since = () => Math.round(clock.monotonicMs() - beganMs);
  // Of several silent servers each takes the timeout.
  using _limit = clock.after(timeoutMs, () => resolver.cancel());
  using _aborted = onAbort(signal, () => resolver.cancel());
  try {
    const answers = (await ask(resolver, name, type)).slice(0, MAX_ANSWERS);
    const detail = `${name} ${type}: ${answers.join(', ')}, ${asked}, ${THIS_MACHINE}`;
    return { ...base, answered: true, resolvable: true, answers, failure: null, tookMs: since(), detail };
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown';
    const tookMs = since();
    const isNone = NO_SUCH.has(code);
    const answered = !UNANSWERED.has(code);
    const what = isNone ? (code === 'ENODATA' ? 'no such record' : 'no such name') : answered ? code : 'no answer';
    const detail = `${name} ${type}: ${what}, ${asked}, ${THIS_MACHINE}`;
    const found = { resolvable: isNone ? false : NOT_CHECKED, answers: isNone ? [] : NOT_CHECKED } as const;
    return { ...base, answered, ...found, failure: what, tookMs, detail };
  }
}

/** The records as texts, sorted: name servers answer in any order. */
async function ask(resolver: Resolver, name: string, type: RecordType): Promise<string[]> {
  switch (type) {
    case 'A':
      return (await resolver.resolve4(name)).sort();
    case 'AAAA':
      return (await resolver.resolve6(name)).sort();
    case 'CNAME':
      return (await resolver.resolveCname(name)).sort();
    case 'NS':
      return (await resolver.resolveNs(name)).sort();
    case 'PTR':
      return (await resolver.resolvePtr(name)).sort();
    case 'MX':
      return (await resolver.resolveMx(name)).map(({ priority, exchange }) => `${priority} ${exchange}`).sort();
    case 'SRV':
      return (await resolver.resolveSrv(name))
        .map((one) => `${one.priority} ${one.weight} ${one.port} ${one.name}`)
        .sort();
    case 'TXT':
      return (await resolver.resolveTxt(name)).map((parts) => parts.join('')).sort();
  }
}
