import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ProxyEvent } from '../../../src/lib/tunnel/proxy.result.ts';

/** What the program does after its start. */
export interface FakeProxy {
  /** Written to stdout at once: events, or lines as they are. */
  readonly says?: readonly (ProxyEvent | string)[];
  readonly stderr?: string;
  /** Ends with this code after `says`; otherwise it waits for SIGTERM or the end of stdin. */
  readonly code?: number;
  /** Ends by this signal. */
  readonly signal?: NodeJS.Signals;
  /** Ignores SIGTERM. */
  readonly isStubborn?: boolean;
}

/** What the program has seen at its start. */
export interface Spawned {
  readonly pid: number;
  readonly args: readonly string[];
  /** Flags of Node.js. */
  readonly flags: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** Content of the records at that time. */
  readonly records: string;
  /** Limits and core filter of the process. */
  readonly limits: string;
  readonly coreFilter: string;
  /** Other programs of this test that ran at that time. */
  readonly others: readonly number[];
}

const program = `
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
const [behaviourFile, journal, recordsFile, ...args] = process.argv.slice(2);
const { says = [], stderr = '', code, signal, isStubborn } = JSON.parse(readFileSync(behaviourFile, 'utf8'));
const read = (path) => (existsSync(path) ? readFileSync(path, 'utf8') : '');
const expand = (text) => text.replaceAll('<TOKEN>', process.env.GW_TUNNEL_TOKEN)
  .replaceAll('<CLIENT-TOKEN>', process.env.GW_TUNNEL_CLIENT_TOKEN);
const say = (line) => process.stdout.write(expand(typeof line === 'string' ? line : JSON.stringify(line)) + '\\n');
const before = read(journal).split('\\n').filter(Boolean).map((line) => JSON.parse(line).pid);
const isAlive = (pid) => read('/proc/' + pid + '/stat') !== '' && !/\\) [ZX] /.test(read('/proc/' + pid + '/stat'));
appendFileSync(journal, JSON.stringify({
  pid: process.pid, args, flags: process.execArgv, env: process.env, cwd: process.cwd(), records: read(recordsFile),
  limits: read('/proc/self/limits'), coreFilter: read('/proc/self/coredump_filter').trim(), others: before.filter(isAlive),
}) + '\\n');
const end = (exit, code) => {
  say({ event: 'counts', open: 0, connections: 7, bytesIn: 70, bytesOut: 700 });
  say({ event: 'ended', exit, detail: 'as ordered' });
  process.exit(code);
};
process.on('SIGTERM', () => { if (!isStubborn) end('terminated', 130); });
process.stdin.on('end', () => { if (!isStubborn) end('terminated', 130); }).resume();
// Its next report.
process.on('SIGUSR2', () => say(says.at(-1)));
if (stderr) process.stderr.write(expand(stderr));
for (const one of says) say(one);
if (signal) process.kill(process.pid, signal);
if (code !== undefined) process.exit(code);
`;

/** Writes a program in place of the proxy into a folder; `program` are the words that start it. */
export function writeFakeProxy(dir: string, recordsFile: string) {
  mkdirSync(dir, { recursive: true });
  const [script, behaviour, journal] = [
    join(dir, 'proxy.mjs'),
    join(dir, 'behaviour.json'),
    join(dir, 'spawned.jsonl'),
  ];
  if (!existsSync(script)) {
    writeFileSync(script, program);
    writeFileSync(behaviour, '{}');
    appendFileSync(journal, '');
  }
  return {
    program: [process.execPath, script, behaviour, journal, recordsFile],
    /** For the programs that start from now on. */
    behave: (as: FakeProxy) => writeFileSync(behaviour, JSON.stringify(as)),
    spawned: (): Spawned[] =>
      readFileSync(journal, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line)),
  };
}

export function isAlive(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return !/\) [ZX] /.test(stat);
  } catch {
    return false;
  }
}

/** Also a process that has ended and was not reaped. */
export function isKnown(pid: number): boolean {
  return existsSync(`/proc/${pid}`);
}
