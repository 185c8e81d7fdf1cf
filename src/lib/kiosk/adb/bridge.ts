import type { Duplex } from 'node:stream';
import { GwError } from '../../error/index.ts';
import type { Clock } from '../../lifecycle/index.ts';
import { onAbort } from '../../lifecycle/index.ts';
import type { Endpoint } from '../../net/index.ts';
import type { TabletCommand } from './command.ts';
import { createShellReader, type ShellResult } from './shell-frames.ts';
import { STALL_MS, type TabletTransport, transferSnapshots, watchForStall } from './stall.ts';
import { type SyncConnection, sendFile } from './sync-send.ts';
import { tabletLost } from './tablet-lost.ts';

/** A row of `adb devices`. */
export interface BridgeDevice {
  /** The identifier used by adb: `127.0.0.1:40001` over TCP, the serial number over USB. */
  readonly id: string;
  /** `device` when usable; otherwise `unauthorized`, `offline`, `connecting` and others. */
  readonly state: string;
}

interface CallOptions {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

/** Client of an adb server. */
export interface Bridge {
  devices(options: CallOptions): Promise<readonly BridgeDevice[]>;
  /** Requests a connection and returns the server's message; `devices` shows the result. No IPv6 literals. */
  connect(endpoint: Endpoint, options: CallOptions): Promise<string>;
  disconnect(endpoint: Endpoint, options: CallOptions): Promise<void>;
  /** Feature names reported by adbd on the tablet. */
  features(id: string, options: CallOptions): Promise<readonly string[]>;
  /** Runs a command. Throws TABLET_LOST, TABLET_OFFLINE, TABLET_UNAUTHORIZED, TABLET_BAD_ANSWER. */
  shell(id: string, command: TabletCommand, options: CallOptions): Promise<ShellResult>;
  /** Opens an adbd service that returns text and ends, such as `usb:`. */
  service(id: string, service: 'usb:' | 'reboot:', options: CallOptions): Promise<string>;
  /**
   * Sends a file without a time limit. `onBytes` receives the total bytes accepted by the adb server, which is ahead of
   * the tablet. Throws TABLET_LOST when no data moves on `transport` for `stallMs` (30 s over TCP, 2 min over USB), the
   * errors of `shell`, TABLET_NO_SPACE, TABLET_REFUSED, FILE_UNREADABLE.
   */
  push(
    id: string,
    file: string,
    target: string,
    options: {
      readonly signal: AbortSignal;
      readonly transport: TabletTransport;
      readonly onBytes: (bytes: number) => void;
      readonly stallMs?: number;
    },
  ): Promise<void>;
}

/** The used part of an adbkit connection; the library ships no types for its promises. */
interface AdbConnection extends SyncConnection {
  readonly parser: SyncConnection['parser'] & { readValue(): PromiseLike<Buffer>; raw(): Duplex };
  write(data: Buffer): unknown;
}

/** Wait for a signal that arrives after the process that it ended. */
const SIGNAL_WAIT_MS = 100;
/** Upper bound of a transfer; a stalled one ends earlier. */
const MAX_PUSH_MS = 24 * 3_600_000;

/** Opens a client of an adb server that runs on this machine; never starts one. */
export async function openBridge(serverPort: number, clock: Clock): Promise<Bridge> {
  const { Client } = await import('@devicefarmer/adbkit');
  // An empty program path keeps the library from starting a server that would outlive gw.
  const client = new Client({ host: '127.0.0.1', port: serverPort, bin: '', timeout: 0 });
  client.on('error', () => {});

  /** Runs `work` on a new connection to the server and always closes it. */
  async function withConnection<T>(
    dial: () => PromiseLike<AdbConnection>,
    { signal, timeoutMs }: CallOptions,
    work: (connection: AdbConnection) => Promise<T>,
  ): Promise<T> {
    signal.throwIfAborted();
    const { promise: ended, reject } = Promise.withResolvers<never>();
    ended.catch(() => {});
    using _aborted = onAbort(signal, () => reject(signal.reason));
    using _limit = clock.after(timeoutMs, () => {
      reject(tabletLost(`No answer from the tablet within ${Math.round(timeoutMs / 1000)} s.`));
    });
    // A connection that opens after the timeout is closed as soon as it opens.
    let connection: AdbConnection | undefined;
    let isOver = false;
    const opened = Promise.resolve(dial()).then((opening) => {
      if (isOver) opening.socket.destroy();
      connection = opening;
      return opening;
    });
    opened.catch(() => {});
    try {
      return await Promise.race([opened.then(work), ended]);
    } catch (error) {
      // Ctrl-C at a terminal ends the adb server too, and its signal may arrive later than that end.
      if (!signal.aborted) await clock.sleep(SIGNAL_WAIT_MS, signal).catch(() => {});
      throw signal.aborted ? signal.reason : asGwError(error);
    } finally {
      isOver = true;
      connection?.socket.on('error', () => {});
      connection?.socket.destroy();
    }
  }

  const host = () => client.connection() as PromiseLike<AdbConnection>;
  const device = (id: string) => () => client.getDevice(id).transport() as PromiseLike<AdbConnection>;

  async function sendRequest(connection: AdbConnection, request: string): Promise<void> {
    const bytes = Buffer.from(request);
    const length = bytes.length.toString(16).padStart(4, '0');
    if (length.length > 4) throw new GwError('INTERNAL', 'ADB request too long.');
    connection.write(Buffer.concat([Buffer.from(length), bytes]));
    const reply = await connection.parser.readAscii(4);
    if (reply === 'OKAY') return;
    if (reply === 'FAIL') throw new Error((await connection.parser.readValue()).toString());
    throw new GwError('TABLET_BAD_ANSWER', 'The adb server answered with neither OKAY nor FAIL.');
  }

  return {
    devices: (options) =>
      withConnection(host, options, async (connection) => {
        await sendRequest(connection, 'host:devices');
        const rows = (await connection.parser.readValue()).toString().split('\n');
        return rows.flatMap((row) => {
          const [id, state] = row.split('\t');
          return id === undefined || state === undefined ? [] : [{ id, state: state.trim() }];
        });
      }),

    connect: ({ host: name, port }, options) =>
      withConnection(host, options, async (connection) => {
        await sendRequest(connection, `host:connect:${name}:${port}`);
        return (await connection.parser.readValue()).toString();
      }),

    disconnect: ({ host: name, port }, options) =>
      withConnection(host, options, async (connection) => {
        await sendRequest(connection, `host:disconnect:${name}:${port}`).catch(() => {});
      }),

    features: (id, options) =>
      withConnection(host, options, async (connection) => {
        await sendRequest(connection, `host-serial:${id}:features`);
        return (await connection.parser.readValue()).toString().split(',');
      }),

    shell: (id, command, options) =>
      withConnection(device(id), options, async (connection) => {
        await sendRequest(connection, `shell,v2,raw:${command}`);
        const reader = createShellReader();
        for await (const chunk of connection.parser.raw()) {
          const verdict = reader.push(chunk as Buffer);
          if (verdict.kind === 'broken') {
            throw new GwError('TABLET_BAD_ANSWER', `The tablet sent ${verdict.reason}.`);
          }
          if (verdict.kind === 'ended') break;
        }
        const result = reader.result();
        if (result === undefined) throw tabletLost('ADB connection to the tablet lost before the answer was complete.');
        return result;
      }),

    service: (id, service, options) =>
      withConnection(device(id), options, async (connection) => {
        await sendRequest(connection, service);
        let text = '';
        try {
          for await (const chunk of connection.parser.raw()) {
            text += (chunk as Buffer).toString();
            if (text.length > 4096) break;
          }
        } catch {
          // These services end by closing the connection of their answer.
        }
        return text.trim();
      }),

    async push(id, file, target, { signal, transport, onBytes, stallMs = STALL_MS[transport.kind] }) {
      await withConnection(device(id), { signal, timeoutMs: MAX_PUSH_MS }, async (connection) => {
        await sendRequest(connection, 'sync:');
        const snapshot = transferSnapshots(transport, serverPort);
        using watch = watchForStall({ snapshot, stallMs, clock });
        const onAccepted = (bytes: number) => {
          watch.moved();
          onBytes(bytes);
        };
        await Promise.race([sendFile(connection, file, target, onAccepted), watch.stalled]);
      });
    },
  };
}

/** Maps messages of the adb server and the library to error codes. */
function asGwError(error: unknown): unknown {
  if (error instanceof GwError) return error;
  const text = error instanceof Error ? error.message : String(error);
  if (/unauthorized/i.test(text)) {
    return new GwError('TABLET_UNAUTHORIZED', 'The tablet has not authorised this computer.', { cause: error });
  }
  if (/ECONNREFUSED|ERR_INVALID_ARG_VALUE|argument 'file'/.test(text)) {
    return new GwError('PART_ENDED', 'The adb server started by gw has ended.', { cause: error });
  }
  return new GwError('TABLET_LOST', `ADB connection to the tablet lost (${text.split('\n')[0] ?? ''}).`, {
    cause: error,
  });
}
