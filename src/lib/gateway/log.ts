import { destination, type Level, type Logger, pino, stdTimeFunctions } from 'pino';
import type { Log } from '../lifecycle/index.ts';

export type LogLevel = Extract<Level, 'debug' | 'info' | 'warn' | 'error'>;

export interface LogOptions {
  readonly level: LogLevel;
  /** `pretty` for eyes, `json` for programs: one object a line. */
  readonly format: 'pretty' | 'json';
  /** File descriptor. */
  readonly fd: number;
}

/** The daemon's structured log. Written at once, so that the last line before a crash is not lost. */
export async function createLog({ level, format, fd }: LogOptions): Promise<Log> {
  const logger = format === 'pretty' ? await prettyLogger(level, fd) : jsonLogger(level, fd);
  return {
    debug: (fields, message) => logger.debug(fields, message),
    info: (fields, message) => logger.info(fields, message),
    warn: (fields, message) => logger.warn(fields, message),
    error: (fields, message) => logger.error(fields, message),
  };
}

const common = (level: LogLevel) => ({
  level,
  base: null,
  timestamp: stdTimeFunctions.isoTime,
  formatters: { level: (label: string) => ({ level: label }) },
});

function jsonLogger(level: LogLevel, fd: number): Logger {
  return pino(common(level), destination({ dest: fd, sync: true }));
}

/** Loaded only when somebody looks: it costs start-up time and memory. */
async function prettyLogger(level: LogLevel, fd: number): Promise<Logger> {
  const { default: pretty } = await import('pino-pretty');
  return pino(common(level), pretty({ destination: fd, sync: true, translateTime: 'SYS:HH:MM:ss.l' }));
}
