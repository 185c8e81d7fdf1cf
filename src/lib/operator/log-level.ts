import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { DeepReadonly } from '../json/index.ts';
import type { Clock, Log } from '../lifecycle/index.ts';
import { requesterOf } from './connections/address.ts';
import { malformed, sendJson, sendRefusal } from './http/answer.ts';

export const logLevels = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof logLevels)[number];

/** The level of what is written; the log in memory (`GET /api/protokolle`) does not depend on it. */
export interface LogSetting {
  current(): LogLevel;
  set(level: LogLevel): void;
}

/** `GET` and `POST /api/protokolle/stufe` */
export const logLevelSchema = z.strictObject({
  level: z.enum(logLevels).describe('In force.'),
  configured: z.enum(logLevels).describe('That of --log-level, to which it returns.'),
  leftS: z.number().nullable().describe('Until it returns, in seconds; null: it is the configured one.'),
});
type LogLevelView = DeepReadonly<z.infer<typeof logLevelSchema>>;

const MAX_S = 86_400;
const DEFAULT_S = 600;
export const logLevelBody = z.strictObject({
  level: z.enum(logLevels),
  forS: z.int().min(1).max(MAX_S).default(DEFAULT_S),
});

/** Another level for a while: it returns by itself, and with a restart, so that no gateway is left at `debug`. */
export function createLogLevel(setting: LogSetting, clock: Pick<Clock, 'after' | 'monotonicMs'>, log: Log) {
  const configured = setting.current();
  let change: { readonly untilMs: number; readonly timer: Disposable } | null = null;

  function put(level: LogLevel, fields: object, message: string): void {
    // Written at the level that shows more of the two.
    const isMore = logLevels.indexOf(level) < logLevels.indexOf(setting.current());
    if (isMore) setting.set(level);
    log.warn({ audit: true, to: level, ...fields }, message);
    setting.set(level);
  }

  function end(): void {
    change?.timer[Symbol.dispose]();
    change = null;
  }

  return {
    view: (): LogLevelView => ({
      level: setting.current(),
      configured,
      leftS: change === null ? null : Math.max(0, Math.round((change.untilMs - clock.monotonicMs()) / 1_000)),
    }),
    /** The configured level ends a change. */
    set(level: LogLevel, forS: number, by: string): void {
      end();
      if (level !== configured) {
        const timer = clock.after(forS * 1_000, () => {
          change = null;
          put(configured, {}, 'log level returned to the configured one');
        });
        change = { untilMs: clock.monotonicMs() + forS * 1_000, timer };
      }
      put(level, { by, ...(change !== null && { forS }) }, 'log level changed');
    },
    [Symbol.dispose]: end,
  };
}

export type LogLevelControl = ReturnType<typeof createLogLevel>;

export function logLevelHandlers({ logLevel }: { readonly logLevel: LogLevelControl }) {
  return {
    read: (_request: FastifyRequest, reply: FastifyReply) => sendJson(reply, logLevel.view()),
    set(request: FastifyRequest, reply: FastifyReply) {
      const body = logLevelBody.safeParse(request.body);
      if (!body.success) return sendRefusal(request, reply, malformed(body.error));
      const { level, forS } = body.data;
      logLevel.set(level, forS, requesterOf(request));
      return sendJson(reply, logLevel.view());
    },
  };
}
