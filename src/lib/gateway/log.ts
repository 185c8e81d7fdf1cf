import { fstatSync } from 'node:fs';
import { type Logger, pino, stdSerializers, stdTimeFunctions } from 'pino';
import { type Clock, type Log, systemClock } from '../lifecycle/index.ts';
import type { LogLevel, LogSetting } from '../operator/index.ts';
import { plural } from '../text/index.ts';
import { createLineWriter, type LineWriter } from './line-writer.ts';
import { openOutputSink } from './output-sink.ts';

export interface LogOptions {
  readonly level: LogLevel;
  /** `pretty` for people, `json` for programs: one object per line. */
  readonly format: 'pretty' | 'json';
  /** Whether `pretty` writes colour codes. Default: no. */
  readonly isColoured?: boolean;
  /** File descriptor. */
  readonly fd: number;
  /** Whether the journal of systemd reads it: each line then begins with its priority (sd-daemon(3)). Default: no. */
  readonly isJournal?: boolean;
  readonly clock?: Clock;
}

export interface LogOutput {
  readonly log: Log;
  /** Writer of the descriptor; other text for it must use this writer too, so that lines are not mixed. */
  readonly writer: LineWriter;
  /** Which events are written from now on. */
  readonly setting: LogSetting;
}

/** Of sd-daemon(3), by the level of the log. */
export const priorities = { error: '<3>', warn: '<4>', info: '<6>', debug: '<7>' } as const;

/** About 1,000 lines. */
const MAX_WAITING_LOG_BYTES = 256 * 1024;

/**
 * The structured log of the daemon. A line is written at once if the descriptor accepts it (to a file: through the
 * thread pool); otherwise it waits within limits, and the daemon continues.
 */
export async function openLog({
  level,
  format,
  isColoured = false,
  fd,
  isJournal = false,
  clock = systemClock,
}: LogOptions): Promise<LogOutput> {
  const textOf = format === 'pretty' ? await prettyLines(isColoured) : (line: string) => line;
  const formatLine = (line: string, lineLevel: LogLevel) =>
    isJournal ? `${priorities[lineLevel]}${textOf(line)}` : textOf(line);
  let noticeLine = '';
  const notices = loggerTo('warn', (line) => {
    noticeLine = formatLine(line, 'warn');
  });
  const writer = createLineWriter({
    sink: openOutputSink(fd),
    clock,
    maxWaitingBytes: MAX_WAITING_LOG_BYTES,
    notice(dropped) {
      notices.warn({ dropped }, `${plural(dropped, 'log line was', 'log lines were')} dropped: the log was not read`);
      return noticeLine;
    },
  });
  const logger = loggerTo(level, (line, lineLevel) => writer.write(formatLine(line, lineLevel)));
  const log: Log = {
    debug: (fields, message) => logger.debug(fields, message),
    info: (fields, message) => logger.info(fields, message),
    warn: (fields, message) => logger.warn(fields, message),
    error: (fields, message) => logger.error(fields, message),
  };
  let now = level;
  const setting: LogSetting = {
    current: () => now,
    set(next) {
      now = next;
      logger.level = next;
    },
  };
  return { log, writer, setting };
}

function loggerTo(level: LogLevel, write: (line: string, level: LogLevel) => void): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { error: stdSerializers.err },
    },
    {
      write: (line: string) =>
        write(line, (/^\{"level":"(debug|info|warn|error)"/.exec(line)?.[1] ?? 'info') as LogLevel),
    },
  );
}

/** Whether a descriptor is the one that JOURNAL_STREAM names: systemd sets it for the journal, and children inherit it. */
export function isJournal(fd: number, named: string | undefined): boolean {
  const { dev, ino } = fstatSync(fd);
  return named === `${dev}:${ino}`;
}

/** Loaded only for the pretty format, since it costs start-up time and memory. */
async function prettyLines(isColoured: boolean): Promise<(line: string) => string> {
  const { prettyFactory } = await import('pino-pretty');
  return prettyFactory({ colorize: isColoured, translateTime: 'SYS:HH:MM:ss.l' });
}
