import type { Client, ClientChannel } from 'ssh2';

/** The sessions of one connection: programs of the remote host. */
export interface Sessions {
  /**
   * Starts a program. Where the server refuses it while others run here, it is tried again when one of them has ended:
   * `MaxSessions` of sshd may be 1. `onChannel` is called synchronously, since the exit status may arrive with the next
   * bytes; `onError` when it is refused and no other runs. Throws what the library throws after a loss.
   */
  start(line: string, handlers: SessionHandlers): void;
  /** How many run here, or are being started. */
  readonly open: number;
}

export interface SessionHandlers {
  readonly onChannel: (channel: ClientChannel) => void;
  readonly onError: (error: Error) => void;
  /** Whether the result is of no use any more. */
  readonly isOver: () => boolean;
}

/** Project decision: tries, each a round trip, until a server has freed the session whose end it has reported. */
const MAX_TRIES_AFTER_END = 5;

export function createSessions(client: Pick<Client, 'exec'>): Sessions {
  /** Also those that the server has not confirmed yet: it counts them. */
  let open = 0;
  let waiting: (() => void)[] = [];
  let hasRun = false;

  function wake(): void {
    const again = waiting;
    waiting = [];
    for (const next of again) next();
  }

  function start(line: string, handlers: SessionHandlers, tries = 1): void {
    client.exec(line, (error, channel) => {
      if (error === undefined) {
        hasRun = true;
        channel.once('close', () => {
          open -= 1;
          wake();
        });
        handlers.onChannel(channel);
        return;
      }
      open -= 1;
      if (open > 0) {
        waiting.push(() => retry(line, handlers));
        return;
      }
      if (hasRun && tries < MAX_TRIES_AFTER_END) {
        retry(line, handlers, tries + 1);
        return;
      }
      handlers.onError(error);
      wake();
    });
    open += 1;
  }

  function retry(line: string, handlers: SessionHandlers, tries = 1): void {
    if (handlers.isOver()) {
      // No end of a session will wake those that wait.
      if (open === 0) wake();
      return;
    }
    try {
      start(line, handlers, tries);
    } catch (lost) {
      handlers.onError(lost as Error);
    }
  }

  return {
    start: (line, handlers) => start(line, handlers),
    get open() {
      return open;
    },
  };
}
