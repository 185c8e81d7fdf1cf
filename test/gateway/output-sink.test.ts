import { type ChildProcess, execFileSync, type StdioOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, existsSync, openSync, readFileSync, readSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openLog } from '../../src/lib/gateway/log.ts';
import { openOutputSink } from '../../src/lib/gateway/output-sink.ts';
import { createFakeClock, passTime } from '../lifecycle/fake-clock.ts';
import { folderOfEach } from '../lifecycle/folder.ts';
import { diskSettled } from '../lifecycle/paced-clock.ts';
import { until as untilSeen } from '../waiting.ts';

const script = fileURLToPath(new URL('./output-child.ts', import.meta.url));

interface Report {
  readonly way: string;
  readonly turns: number;
  readonly status: string;
  readonly failure: string | null;
  readonly droppedLines: number;
}

const dir = folderOfEach();
let report: string;
const children = new Set<ChildProcess>();
const opened = new Set<number>();
beforeEach(() => {
  report = dir.at('report');
});
afterEach(async () => {
  for (const child of children) {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
  }
  children.clear();
  for (const fd of opened) closeSync(fd);
  opened.clear();
});

const keep = (fd: number) => {
  opened.add(fd);
  return fd;
};

/** More lines than any kind of output can buffer. */
const MANY = 5_000;

/** The log of this process on a descriptor, with a clock that the test advances. */
async function logTo(fd: number, count = MANY) {
  // A file is written by the thread pool.
  const clock = createFakeClock({ settled: diskSettled });
  const { log, writer } = await openLog({ level: 'info', format: 'json', fd, clock });
  for (let n = 0; n < count; n += 1) log.info({ n, pad: 'x'.repeat(100) }, 'line');
  const end = async () => {
    log.info({}, 'last');
    await passTime(clock, 50, writer.end(300));
  };
  return { clock, log, writer, end, way: openOutputSink(fd).way };
}

/** Starts the writer in a process with this as its stderr. */
function start(stderr: StdioOptions[number], { bytes = 0, through = (words: string[]) => words } = {}): ChildProcess {
  const words = through([process.execPath, script, report, `${MANY}`, `${bytes}`]);
  const child = spawn(words[0] ?? '', words.slice(1), { stdio: ['ignore', 'pipe', stderr as 'pipe'] });
  children.add(child);
  return child;
}

const read = () => (existsSync(report) ? (JSON.parse(readFileSync(report, 'utf8')) as Report) : null);
const until = async (isTrue: (report: Report) => boolean) =>
  (await untilSeen(read, (now) => now !== null && isTrue(now))) as Report;

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
  const path = dir.at('fifo');
  execFileSync('mkfifo', [path]);
  return { path, fd: keep(openSync(path, constants.O_RDWR | constants.O_NONBLOCK)) };
}

/** Reads available data until `isEnough`; `between` runs before each read. */
async function drain(fd: number, isEnough: (text: string) => boolean, between = async () => {}): Promise<string> {
  const buffer = Buffer.alloc(65_536);
  let text = '';
  const more = async () => {
    await between();
    try {
      for (;;) text += buffer.toString('utf8', 0, readSync(fd, buffer));
    } catch {
      // Nothing more at the moment.
    }
    return text;
  };
  return await untilSeen(more, isEnough);
}

const parsed = (text: string) => {
  const lines = text.trim().split('\n');
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
};

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
    const { clock, writer, way, end } = await logTo(fifo.fd);
    await clock.advance(1_000);
    expect([way, writer.state()]).toMatchObject(['own', { status: 'unread', failure: null }]);
    expect(writer.state().droppedLines).toBeGreaterThan(0);
    const text = await drain(
      fifo.fd,
      (now) => now.includes(`"n":${MANY - 1}`),
      () => clock.advance(100),
    );
    const { status, droppedLines } = writer.state();
    expect(status).toBe('writing');
    expectWhole(text.slice(0, text.lastIndexOf('\n') + 1), MANY, droppedLines);
    await end();
  });

  it('a pipe that is never read again: still ends', async () => {
    const { end } = await logTo(makeFifo().fd);
    await end();
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
    expectWhole(text, MANY, droppedLines);
    expect(parsed(text).at(-1)).toMatchObject({ msg: 'last' });
  });

  it('a terminal behind a stalled connection', { tags: 'large' }, async () => {
    const child = start('ignore', { through: (words) => ['script', '-qec', words.join(' '), '/dev/null'] });
    expect(await until(({ status }) => status === 'unread')).toMatchObject({ way: 'own' });
    await isAlive();
    child.stdout?.resume();
    await until(({ status }) => status === 'writing');
    expect(await end(child)).toBe(0);
  });

  it('a datagram socket, which cannot be made non-blocking from here', { tags: 'large' }, async () => {
    const perl = `use Socket; socketpair(my $near, my $far, AF_UNIX, SOCK_DGRAM, 0); open(STDERR, ">&", $far);
      $^F = 255; my $pid = fork; if ($pid == 0) { exec @ARGV } close $far; waitpid($pid, 0); exit($? >> 8);`;
    const child = start('ignore', { bytes: 10_000, through: (words) => ['perl', '-e', perl, ...words] });
    expect(await until(({ status }) => status === 'unread')).toMatchObject({ way: 'relay', failure: null });
    await isAlive();
    expect(await end(child)).toBe(0);
  });
});

describe('the log on an output that fails', () => {
  it('a FIFO whose reader closed it continues with the next reader', async () => {
    const fifo = makeFifo();
    const { clock, writer, end } = await logTo(keep(openSync(fifo.path, constants.O_WRONLY)), 1);
    const first = await drain(fifo.fd, (text) => text.includes('\n'));
    closeSync(fifo.fd);
    opened.delete(fifo.fd);
    writer.write('{"msg":"unheard"}\n');
    expect(writer.state().failure).toBe('EPIPE');
    const again = keep(openSync(fifo.path, constants.O_RDONLY | constants.O_NONBLOCK));
    await end();
    const second = await drain(
      again,
      (text) => text.includes('last'),
      () => clock.advance(1_000),
    );
    expect(parsed(first + second).map(({ msg }) => msg)).toEqual(['line', 'unheard', 'last']);
  });

  it('a full disk is reported, does not block, and no line that fits into memory is lost', async () => {
    const { clock, writer, end } = await logTo(keep(openSync('/dev/full', constants.O_WRONLY)), 5);
    await clock.advance(2_000);
    expect(writer.state()).toMatchObject({ status: 'failing', failure: 'ENOSPC', droppedLines: 0 });
    await end();
  });
});

describe('the log on an output that is read', () => {
  it('a file receives every line, at its end, also after it was moved', async () => {
    const path = dir.at('log');
    writeFileSync(path, '{"msg":"before"}\n');
    const { writer, way, end } = await logTo(keep(openSync(path, 'a')), 500);
    expect([way, writer.state()]).toMatchObject(['file', { status: 'writing', droppedLines: 0 }]);
    execFileSync('mv', [path, `${path}.1`]);
    await end();
    const lines = parsed(readFileSync(`${path}.1`, 'utf8'));
    const numbers = Array.from({ length: 500 }, (_, n) => n);
    expect(lines.map(({ n, msg }) => n ?? msg)).toEqual(['before', ...numbers, 'last']);
    expect(existsSync(path)).toBe(false);
  });

  it('/dev/null, which is reported as discarded', async () => {
    const { writer, way, end } = await logTo(keep(openSync('/dev/null', constants.O_WRONLY)));
    expect([way, writer.state()]).toMatchObject(['null', { status: 'discarded', droppedLines: 0 }]);
    await end();
  });

  it('a closed descriptor', { tags: 'large' }, async () => {
    const child = start('ignore', { through: (words) => ['sh', '-c', `exec ${words.join(' ')} 2>&-`] });
    expect(await isAlive()).toMatchObject({ way: 'null', status: 'discarded' });
    expect(await end(child)).toBe(0);
  });
});
