import { type Level, type Logger, pino, stdSerializers, stdTimeFunctions } from 'pino';
import { type Clock, type Log, systemClock } from '../lifecycle/index.ts';
import { plural } from '../text/index.ts';
import { createLineWriter, type LineWriter } from './line-writer.ts';
import { openOutputSink } from './output-sink.ts';

type LogLevel = Extract<Level, 'debug' | 'info' | 'warn' | 'error'>;

export interface LogOptions {
  readonly level: LogLevel;
  /** `pretty` for eyes, `json` for programs: one object a line. */
  readonly format: 'pretty' | 'json';
  /** Whether `pretty` writes colour codes. Default: no. */
  readonly isColoured?: boolean;
  /** File descriptor. */
  readonly fd: number;
  readonly clock?: Clock;
}

export interface LogOutput {
  readonly log: Log;
  /** What the log is written with: other text for the same descriptor goes through it too, so that no line is torn. */
  readonly writer: LineWriter;
}

/** About 1,000 lines wait for a reader that does not read. */
const MAX_WAITING_LOG_BYTES = 256 * 1024;
/** Events on stdout are few. */
const MAX_WAITING_EVENT_BYTES = 64 * 1024;

/**
 * The daemon's structured log. A line is written at once where the descriptor takes it (to a file: by the next turn of
 * the thread pool); where it does not, the daemon goes on and the line waits, within bounds.
 */
export async function openLog({
  level,
  format,
  isColoured = false,
  fd,
  clock = systemClock,
}: LogOptions): Promise<LogOutput> {
  const look = format === 'pretty' ? await prettyLines(isColoured) : (line: string) => line;
  let told = '';
  const notices = loggerTo('warn', (line) => {
    told = look(line);
  });
  const writer = createLineWriter({
    sink: openOutputSink(fd),
    clock,
    maxWaitingBytes: MAX_WAITING_LOG_BYTES,
    notice(dropped) {
      notices.warn({ dropped }, `${plural(dropped, 'log line was', 'log lines were')} dropped: the log was not read`);
      return told;
    },
  });
  const logger = loggerTo(level, (line) => writer.write(look(line)));
  const log: Log = {
    debug: (fields, message) => logger.debug(fields, message),
    info: (fields, message) => logger.info(fields, message),
    warn: (fields, message) => logger.warn(fields, message),
    error: (fields, message) => logger.error(fields, message),
  };
  return { log, writer };
}

/** The lines that the daemon prints on stdout, for a reader who may not read them. */
export function openEventOutput(
  fd: number,
  notice: (dropped: number) => string,
  clock: Clock = systemClock,
): LineWriter {
  return createLineWriter({ sink: openOutputSink(fd), clock, notice, maxWaitingBytes: MAX_WAITING_EVENT_BYTES });
}

function loggerTo(level: LogLevel, write: (line: string) => void): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { error: stdSerializers.err },
    },
    { write },
  );
}

/** Loaded only when somebody looks: it costs start-up time and memory. */
async function prettyLines(isColoured: boolean): Promise<(line: string) => string> {
  const { prettyFactory } = await import('pino-pretty');
  return prettyFactory({ colorize: isColoured, translateTime: 'SYS:HH:MM:ss.l' });
}
