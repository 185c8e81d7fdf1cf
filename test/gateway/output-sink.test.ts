import { type ChildProcess, execFileSync, type StdioOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  constants,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const script = fileURLToPath(new URL('./output-child.ts', import.meta.url));

interface Report {
  readonly way: string;
  readonly turns: number;
  readonly status: string;
  readonly failure: string | null;
  readonly droppedLines: number;
}

let dir: string;
let report: string;
const children = new Set<ChildProcess>();
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'gw-output-'));
  report = join(dir, 'report');
});
afterEach(async () => {
  for (const child of children) {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
  }
  children.clear();
  rmSync(dir, { recursive: true, force: true });
});

/** Starts the writer with this as its stderr; by default with more lines than any kind of output can buffer. */
function start(
  stderr: StdioOptions[number],
  { count = 8_000, bytes = 0, through = (words: string[]) => words } = {},
): ChildProcess {
  const words = through([process.execPath, script, report, `${count}`, `${bytes}`]);
  const child = spawn(words[0] ?? '', words.slice(1), { stdio: ['ignore', 'pipe', stderr as 'pipe'] });
  children.add(child);
  return child;
}

const read = () => (existsSync(report) ? (JSON.parse(readFileSync(report, 'utf8')) as Report) : null);

async function until(isTrue: (report: Report) => boolean): Promise<Report> {
  for (let tries = 0; tries < 1_000; tries += 1) {
    const now = read();
    if (now !== null && isTrue(now)) return now;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`not so: ${JSON.stringify(read())}`);
}

/** The event loop runs: the report is rewritten. */
async function isAlive(): Promise<Report> {
  const { turns } = await until(() => true);
  return until((now) => now.turns > turns + 2);
}

async function end(child: ChildProcess): Promise<number | null> {
  writeFileSync(`${report}.end`, '');
  if (child.exitCode === null) await once(child, 'exit');
  return child.exitCode;
}

function makeFifo(): { path: string; fd: number } {
  const path = join(dir, 'fifo');
  execFileSync('mkfifo', [path]);
  return { path, fd: openSync(path, constants.O_RDWR | constants.O_NONBLOCK) };
}

/** Reads available data until `isEnough`. */
async function drain(fd: number, isEnough: (text: string) => boolean): Promise<string> {
  const buffer = Buffer.alloc(65_536);
  let text = '';
  for (let tries = 0; tries < 1_000 && !isEnough(text); tries += 1) {
    try {
      text += buffer.toString('utf8', 0, readSync(fd, buffer));
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
  return text;
}

const parsed = (text: string) =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);

/** Every line is present or counted at its position. */
function expectWhole(text: string, count: number, dropped: number): void {
  let next = 0;
  let counted = 0;
  for (const { n, msg, dropped: missing } of parsed(text)) {
    if (msg === 'last') expect(next).toBe(count);
    else if (missing === undefined) expect(n).toBe(next++);
    else {
      expect(msg).toBe(`${missing} log lines were dropped: the log was not read`);
      next += Number(missing);
      counted += Number(missing);
    }
  }
  expect(counted).toBe(dropped);
}

describe('the log on an unread output', () => {
  it('a pipe: continues, counts dropped lines, and reports them when the reader returns', async () => {
    const fifo = makeFifo();
    const child = start(fifo.fd);
    const unread = await isAlive();
    expect(unread).toMatchObject({ way: 'own', status: 'unread', failure: null });
    expect(unread.droppedLines).toBeGreaterThan(0);
    const text = await drain(fifo.fd, (now) => now.includes('"n":7999'));
    const { droppedLines } = await until(({ status }) => status === 'writing');
    expectWhole(text.slice(0, text.lastIndexOf('\n') + 1), 8_000, droppedLines);
    expect(await end(child)).toBe(0);
    closeSync(fifo.fd);
  });

  it('a pipe that is never read again: still ends', async () => {
    const fifo = makeFifo();
    const child = start(fifo.fd);
    await isAlive();
    expect(await end(child)).toBe(0);
    closeSync(fifo.fd);
  });

  it('a stream socket, as systemd gives one for the journal', async () => {
    const child = start('pipe');
    const unread = await isAlive();
    expect(unread).toMatchObject({ way: 'shared', status: 'unread' });
    expect(unread.droppedLines).toBeGreaterThan(0);
    let text = '';
    child.stderr?.on('data', (chunk) => (text += chunk));
    const { droppedLines } = await until(({ status }) => status === 'writing');
    expect(await end(child)).toBe(0);
    expectWhole(text, 8_000, droppedLines);
    expect(parsed(text).at(-1)).toMatchObject({ msg: 'last' });
  });

  it('a terminal behind a stalled connection', async () => {
    const child = start('ignore', {
      through: (words) => ['script', '-qec', words.join(' '), '/dev/null'],
    });
    const unread = await isAlive();
    expect(unread).toMatchObject({ way: 'own', status: 'unread' });
    child.stdout?.resume();
    await until(({ status }) => status === 'writing');
    expect(await end(child)).toBe(0);
  });

  it('a datagram socket, which cannot be made non-blocking from here', async () => {
    const perl = `use Socket; socketpair(my $near, my $far, AF_UNIX, SOCK_DGRAM, 0); open(STDERR, ">&", $far);
      $^F = 255; my $pid = fork; if ($pid == 0) { exec @ARGV } close $far; waitpid($pid, 0); exit($? >> 8);`;
    const child = start('ignore', { bytes: 10_000, through: (words) => ['perl', '-e', perl, ...words] });
    expect(await until(({ status }) => status === 'unread')).toMatchObject({ way: 'relay', failure: null });
    await isAlive();
    expect(await end(child)).toBe(0);
  });
});

describe('the log on an output that fails', () => {
  it('a pipe whose reader closed it', async () => {
    const child = start('pipe', { count: 5 });
    child.stderr?.destroy();
    await until(({ failure }) => failure === null || failure === 'EPIPE');
    writeFileSync(`${report}.end`, '');
    if (child.exitCode === null) await once(child, 'exit');
    expect(child.exitCode).toBe(0);
  });

  it('a FIFO whose reader closed it continues with the next reader', async () => {
    const fifo = makeFifo();
    const child = start(openSync(fifo.path, constants.O_WRONLY), { count: 1 });
    await until(({ status }) => status === 'writing');
    const first = await drain(fifo.fd, (text) => text.includes('\n'));
    closeSync(fifo.fd);
    const again = openSync(fifo.path, constants.O_RDONLY | constants.O_NONBLOCK);
    const ended = end(child);
    const second = await drain(again, (text) => text.includes('\n'));
    expect(await ended).toBe(0);
    expect(parsed(first + second).map(({ msg }) => msg)).toEqual(['line', 'last']);
    closeSync(again);
  });

  it('a full disk is reported, does not block, and no line that fits into memory is lost', async () => {
    const child = start(openSync('/dev/full', constants.O_WRONLY), { count: 5 });
    expect(await isAlive()).toMatchObject({ status: 'failing', failure: 'ENOSPC', droppedLines: 0 });
    expect(await end(child)).toBe(0);
  });
});

describe('the log on an output that is read', () => {
  it('a file receives every line, at its end, also after it was moved', async () => {
    const path = join(dir, 'log');
    writeFileSync(path, '{"msg":"before"}\n');
    const child = start(openSync(path, 'a'), { count: 500 });
    expect(await until(() => true)).toMatchObject({ way: 'file', status: 'writing', droppedLines: 0 });
    execFileSync('mv', [path, `${path}.1`]);
    expect(await end(child)).toBe(0);
    const lines = parsed(readFileSync(`${path}.1`, 'utf8'));
    expect(lines.map(({ n, msg }) => n ?? msg)).toEqual([
      'before',
      ...Array.from({ length: 500 }, (_, n) => n),
      'last',
    ]);
    expect(existsSync(path)).toBe(false);
  });

  it('/dev/null, which is reported as discarded', async () => {
    const child = start('ignore');
    expect(await isAlive()).toMatchObject({ way: 'null', status: 'discarded', droppedLines: 0 });
    expect(await end(child)).toBe(0);
  });

  it('a closed descriptor', async () => {
    const child = start('ignore', { through: (words) => ['sh', '-c', `exec ${words.join(' ')} 2>&-`] });
    expect(await isAlive()).toMatchObject({ way: 'null', status: 'discarded' });
    expect(await end(child)).toBe(0);
  });
});
