import type { Device } from '../device.ts';
import type { ShellIo } from '../shell/program.ts';
import { runInput, runScript } from '../shell/shell.ts';
import type { Channel } from './channel.ts';
import { serveSync } from './sync.ts';

/** Serves one stream and resolves when the stream is to be closed. */
export type Service = (channel: Channel) => Promise<unknown>;

/** Packets of `shell,v2`: kind, length, bytes. Source: Android's shell protocol. */
const packetKind = { stdin: 0, stdout: 1, stderr: 2, exit: 3, closeStdin: 4 } as const;
const PACKET_HEAD = 5;

/** The service of a name; undefined when this tablet has none. */
export function findService(name: string, device: Device): Service | undefined {
  const [, kind = '', rest = ''] = /^([^:]*):(.*)$/s.exec(name) ?? [];
  const [first, ...options] = kind.split(',');
  if (first === 'shell' && options.includes('v2')) {
    const isTerminal = options.includes('pty') || (!options.includes('raw') && rest === '');
    return (channel) => runPacketed(channel, rest, isTerminal, device);
  }
  switch (first) {
    case 'shell':
    case 'exec':
      return (channel) => runRaw(channel, rest, device);
    case 'sync':
      return (channel) => serveSync(channel, device.storage);
    case 'reboot':
      // No other boot target exists, such as `reboot:bootloader`. The host waits for the end of the stream.
      return rest === '' ? () => device.reboot() : undefined;
    case 'tcpip':
      return /^[1-9]\d{0,4}$/.test(rest) && Number(rest) <= 65535
        ? listenOnly(device, rest, `restarting in TCP mode port: ${rest}\n`)
        : undefined;
    case 'usb':
      return listenOnly(device, '0', 'restarting in USB mode\n');
    default:
      return undefined;
  }
}

const listenOnly =
  (device: Device, port: string, answer: string): Service =>
  (channel) => {
    // Requested first, so that it takes effect even if the answer is not delivered.
    device.listenOnly(port);
    return channel.write(answer);
  };

/** Without packets: output and errors combined, no exit code. */
function runRaw(channel: Channel, command: string, device: Device): Promise<unknown> {
  async function* stdin() {
    for (let bytes = await channel.some(); bytes; bytes = await channel.some()) yield bytes;
  }
  const io = { stdin: stdin(), out: channel.write, err: channel.write };
  return command === '' ? runInput(io, device, true) : runScript(command, device, io);
}

async function runPacketed(channel: Channel, command: string, isTerminal: boolean, device: Device): Promise<void> {
  const packet = (kind: number, bytes: string | Uint8Array) => {
    const body = Buffer.from(bytes);
    const head = Buffer.alloc(PACKET_HEAD, kind);
    head.writeUInt32LE(body.length, 1);
    return channel.write(Buffer.concat([head, body]));
  };
  const io: ShellIo = {
    stdin: unpacked(channel),
    out: (bytes) => packet(packetKind.stdout, bytes),
    // A terminal combines output and errors.
    err: (bytes) => packet(isTerminal ? packetKind.stdout : packetKind.stderr, bytes),
  };
  const code = command === '' ? await runInput(io, device, isTerminal) : await runScript(command, device, io);
  await packet(packetKind.exit, Uint8Array.of(code));
}

/** The input of the program in the packets of the host. */
async function* unpacked(channel: Channel): AsyncGenerator<Buffer> {
  for (;;) {
    const head = await channel.exactly(PACKET_HEAD);
    if (!head || head[0] === packetKind.closeStdin) return;
    for (let missing = head.readUInt32LE(1); missing > 0; ) {
      const piece = await channel.some(missing);
      if (!piece) return;
      missing -= piece.length;
      if (head[0] === packetKind.stdin) yield piece;
    }
  }
}
