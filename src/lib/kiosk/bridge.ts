import type { Duplex } from 'node:stream';
import { GwError } from '../error/index.ts';
import type { Clock } from '../lifecycle/index.ts';
import { onAbort } from '../lifecycle/index.ts';
import type { Endpoint } from '../net/index.ts';
import type { TabletCommand } from './command.ts';
import { lost } from './lost.ts';
import { movementTo, STALL_MS, type TabletWay, watchForStall } from './movement.ts';
import { createShellReader, type ShellResult } from './shell-frames.ts';
import { type SyncLine, sendFile } from './sync-send.ts';

/** A row of `adb devices`. */
export interface BridgeDevice {
  /** As adb calls it: `127.0.0.1:40001` over TCP, the serial number at a cable. */
  readonly id: string;
  /** `device` when it works; `unauthorized`, `offline`, `connecting` and others when not. */
  readonly state: string;
}

interface CallOptions {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

/** The way to one tablet through an adb server. */
export interface Bridge {
  devices(options: CallOptions): Promise<readonly BridgeDevice[]>;
  /** Asks the server to connect; what it said. The list of devices tells whether it worked. No IPv6 literals. */
  connect(endpoint: Endpoint, options: CallOptions): Promise<string>;
  disconnect(endpoint: Endpoint, options: CallOptions): Promise<void>;
  /** What the debug bridge of the tablet can do, by name. */
  features(id: string, options: CallOptions): Promise<readonly string[]>;
  /** Runs a command. Throws TABLET_LOST, TABLET_OFFLINE, TABLET_UNAUTHORIZED, TABLET_BAD_ANSWER. */
  shell(id: string, command: TabletCommand, options: CallOptions): Promise<ShellResult>;
  /** Opens a service of the bridge that answers with text and ends, such as `usb:`. */
  service(id: string, service: 'usb:' | 'reboot:', options: CallOptions): Promise<string>;
  /**
   * Sends a file, however long that takes. `onBytes` is told how many bytes the adb server has taken in all, which is
   * ahead of the tablet. Throws TABLET_LOST when nothing moves on `way` for `stallMs` (30 s in the network, 2 min at a
   * cable), and as `shell` does, TABLET_NO_SPACE, TABLET_REFUSED.
   */
  push(
    id: string,
    file: string,
    target: string,
    options: {
      readonly signal: AbortSignal;
      readonly way: TabletWay;
      readonly onBytes: (bytes: number) => void;
      readonly stallMs?: number;
    },
  ): Promise<void>;
}

/** As much of a connection of the library as is used; it ships no types for its promises. */
interface Line extends SyncLine {
  readonly parser: SyncLine['parser'] & { readValue(): PromiseLike<Buffer>; raw(): Duplex };
  write(data: Buffer): unknown;
}

/** So much later than the end of a program its cause may be told. */
const SIGNAL_MS = 100;
/** A slow WLAN is slow: only standing still is wrong. This one is for what nobody thought of. */
const WHOLE_PUSH_MS = 24 * 3_600_000;

/** Speaks to an adb server that runs on this machine, and never starts one. */
export async function openBridge(serverPort: number, clock: Clock): Promise<Bridge> {
  const { Client } = await import('@devicefarmer/adbkit');
  // Without a program the library cannot start a server of its own, which would outlive us.
  const client = new Client({ host: '127.0.0.1', port: serverPort, bin: '', timeout: 0 });
  client.on('error', () => {});

  /** Runs `work` on a new line to the server, and closes the line whatever happens. */
  async function onLine<T>(
    dial: () => PromiseLike<Line>,
    { signal, timeoutMs }: CallOptions,
    work: (line: Line) => Promise<T>,
  ): Promise<T> {
    signal.throwIfAborted();
    const { promise: cut, reject } = Promise.withResolvers<never>();
    cut.catch(() => {});
    using _aborted = onAbort(signal, () => reject(signal.reason));
    using _limit = clock.after(timeoutMs, () => {
      reject(lost(`The tablet did not answer within ${Math.round(timeoutMs / 1000)} s.`));
    });
    // A line that opens too late is closed when it opens.
    let line: Line | undefined;
    let over = false;
    const opened = Promise.resolve(dial()).then((fresh) => {
      if (over) fresh.socket.destroy();
      line = fresh;
      return fresh;
    });
    opened.catch(() => {});
    try {
      return await Promise.race([opened.then(work), cut]);
    } catch (error) {
      // Ctrl-C at a terminal ends the adb server too, and may be heard of later than its end.
      if (!signal.aborted) await clock.sleep(SIGNAL_MS, signal).catch(() => {});
      throw signal.aborted ? signal.reason : translated(error);
    } finally {
      over = true;
      line?.socket.on('error', () => {});
      line?.socket.destroy();
    }
  }

  const host = () => client.connection() as PromiseLike<Line>;
  const transport = (id: string) => () => client.getDevice(id).transport() as PromiseLike<Line>;

  async function ask(line: Line, request: string): Promise<void> {
    const bytes = Buffer.from(request);
    const length = bytes.length.toString(16).padStart(4, '0');
    if (length.length > 4) throw new GwError('INTERNAL', 'A request to the debug bridge is too long.');
    line.write(Buffer.concat([Buffer.from(length), bytes]));
    const reply = await line.parser.readAscii(4);
    if (reply === 'OKAY') return;
    if (reply === 'FAIL') throw new Error((await line.parser.readValue()).toString());
    throw new GwError('TABLET_BAD_ANSWER', 'The adb server answered with something that is none of its words.');
  }

  return {
    devices: (options) =>
      onLine(host, options, async (line) => {
        await ask(line, 'host:devices');
        const rows = (await line.parser.readValue()).toString().split('\n');
        return rows.flatMap((row) => {
          const [id, state] = row.split('\t');
          return id === undefined || state === undefined ? [] : [{ id, state: state.trim() }];
        });
      }),

    connect: ({ host: name, port }, options) =>
      onLine(host, options, async (line) => {
        await ask(line, `host:connect:${name}:${port}`);
        return (await line.parser.readValue()).toString();
      }),

    disconnect: ({ host: name, port }, options) =>
      onLine(host, options, async (line) => {
        await ask(line, `host:disconnect:${name}:${port}`).catch(() => {});
      }),

    features: (id, options) =>
      onLine(host, options, async (line) => {
        await ask(line, `host-serial:${id}:features`);
        return (await line.parser.readValue()).toString().split(',');
      }),

    shell: (id, command, options) =>
      onLine(transport(id), options, async (line) => {
        await ask(line, `shell,v2,raw:${command}`);
        const reader = createShellReader();
        for await (const chunk of line.parser.raw()) {
          const verdict = reader.push(chunk as Buffer);
          if (verdict.kind === 'broken') {
            throw new GwError('TABLET_BAD_ANSWER', `The tablet sent ${verdict.reason}.`);
          }
          if (verdict.kind === 'ended') break;
        }
        const result = reader.result();
        if (result === undefined) throw lost('The line to the tablet was cut in the middle of an answer.');
        return result;
      }),

    service: (id, service, options) =>
      onLine(transport(id), options, async (line) => {
        await ask(line, service);
        let text = '';
        try {
          for await (const chunk of line.parser.raw()) {
            text += (chunk as Buffer).toString();
            if (text.length > 4096) break;
          }
        } catch {
          // These services end by cutting the line they answer on.
        }
        return text.trim();
      }),

    async push(id, file, target, { signal, way, onBytes, stallMs = STALL_MS[way.kind] }) {
      await onLine(transport(id), { signal, timeoutMs: WHOLE_PUSH_MS }, async (line) => {
        await ask(line, 'sync:');
        const movement = movementTo(way, serverPort);
        using watch = watchForStall({ movement, stallMs, clock });
        const taken = (bytes: number) => {
          watch.moved();
          onBytes(bytes);
        };
        await Promise.race([sendFile(line, file, target, taken), watch.stalled]);
      });
    },
  };
}

/** What the adb server and the library say, sorted by what it means to the technician. */
function translated(error: unknown): unknown {
  if (error instanceof GwError) return error;
  const text = error instanceof Error ? error.message : String(error);
  if (/unauthorized/i.test(text)) {
    return new GwError('TABLET_UNAUTHORIZED', 'The tablet has not allowed this computer.', { cause: error });
  }
  if (/ECONNREFUSED|ERR_INVALID_ARG_VALUE|argument 'file'/.test(text)) {
    return new GwError('PART_ENDED', 'The adb server that gw started is gone.', { cause: error });
  }
  return new GwError('TABLET_LOST', `The line to the tablet was cut (${text.split('\n')[0] ?? ''}).`, {
    cause: error,
  });
}
