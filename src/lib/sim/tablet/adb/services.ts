import { StringDecoder } from 'node:string_decoder';
import { firstOf } from '../../../lifecycle/index.ts';
import type { Device } from '../device.ts';
import { createPipe, type Input, noInput, type Output } from '../shell/process.ts';
import { newShellState, runScript, type ShellIo } from '../shell/shell.ts';
import type { Channel } from './channel.ts';
import { serveSync } from './sync.ts';

/** Serves one stream and resolves when the stream is to be closed. */
export type Service = (channel: Channel) => Promise<void>;

/** Packets of `shell,v2`: kind, length, bytes. Source: Android's shell protocol. */
const packetKind = { stdin: 0, stdout: 1, stderr: 2, exit: 3, closeStdin: 4 } as const;
const PACKET_HEAD = 5;
const MAX_LINE_LENGTH = 64 * 1024;
const ENTER = 13;
const CTRL_C = 3;
const CTRL_D = 4;
const BACKSPACE = 127;

/** The service of a name; undefined when this tablet has none. */
export function findService(name: string, device: Device): Service | undefined {
  const colon = name.indexOf(':');
  const kind = colon === -1 ? name : name.slice(0, colon);
  const rest = colon === -1 ? '' : name.slice(colon + 1);
  const [first, ...options] = kind.split(',');
  if (first === 'shell') return openShell(options, rest, device);
  switch (kind) {
    case 'exec':
      return (channel) => runRaw(channel, rest, device);
    case 'sync':
      return (channel) => serveSync(channel, { storage: device.storage, hasLongStat: device.hasFeature('stat_v2') });
    case 'reboot':
      // No other boot target exists, such as `reboot:bootloader`.
      if (rest !== '') return undefined;
      return async () => {
        device.reboot();
        // The stream stays open until the tablet shuts down: the host waits for its end.
        await device.goingDown();
      };
    case 'tcpip': {
      const port = /^\d{1,5}$/.test(rest) ? Number(rest) : 0;
      if (port < 1 || port > 65535) return answering(`invalid port\n`);
      return async (channel) => {
        // Requested first, so that it takes effect even if the answer is not delivered.
        device.listenOnly(port);
        await channel.write(Buffer.from(`restarting in TCP mode port: ${port}\n`));
      };
    }
    case 'usb':
      return async (channel) => {
        device.listenOnly(0);
        await channel.write(Buffer.from('restarting in USB mode\n'));
      };
    case 'root':
      return answering('adbd cannot run as root in production builds\n');
    case 'unroot':
      return answering('adbd not running as root\n');
    case 'remount':
      return answering('remount failed: Operation not permitted\n');
    case 'disable-verity':
    case 'enable-verity':
      return answering('Device must be bootloader unlocked\n');
    default:
      return undefined;
  }
}

const answering =
  (text: string): Service =>
  async (channel) => {
    await channel.write(Buffer.from(text));
  };

function openShell(options: readonly string[], command: string, device: Device): Service | undefined {
  const isPacketed = options.includes('v2');
  if (isPacketed && !device.hasFeature('shell_v2')) return undefined;
  const isTerminal = options.includes('pty') || (!options.includes('raw') && command === '');
  if (isPacketed) return (channel) => runPacketed(channel, command, isTerminal, device);
  return (channel) => (command === '' ? runPlainTerminal(channel, device) : runRaw(channel, command, device));
}

/** Without packets: output and errors combined, no exit code. */
async function runRaw(channel: Channel, command: string, device: Device): Promise<void> {
  const out: Output = (bytes) => channel.write(bytes);
  await runScript(command, device, { stdin: channel, out, err: out, signal: channel.closed });
}

async function runPlainTerminal(channel: Channel, device: Device): Promise<void> {
  const out: Output = (bytes) => channel.write(bytes);
  await runTerminal(channel, device, out, channel.closed);
}

const packet = (kind: number, bytes: Uint8Array) => {
  const head = Buffer.alloc(PACKET_HEAD);
  head[0] = kind;
  head.writeUInt32LE(bytes.length, 1);
  return Buffer.concat([head, bytes]);
};

async function runPacketed(channel: Channel, command: string, isTerminal: boolean, device: Device): Promise<void> {
  const stdin = createPipe();
  const ended = new AbortController();
  const signal = firstOf(channel.closed, ended.signal);
  void unpackInput(channel, stdin);
  const out: Output = (bytes) => channel.write(packet(packetKind.stdout, bytes));
  const err: Output = (bytes) => channel.write(packet(packetKind.stderr, bytes));
  const io: ShellIo = { stdin, out, err, signal };
  let code: number;
  if (isTerminal && command === '') code = await runTerminal(stdin, device, out, signal);
  // A terminal combines output and errors.
  else if (isTerminal) code = await runScript(command, device, { ...io, err: out });
  else code = command === '' ? await runLines(io, device) : await runScript(command, device, io);
  ended.abort();
  stdin.abandon();
  await channel.write(packet(packetKind.exit, Buffer.from([code & 255])));
}

/** Unpacks packets of the host into the input of the program, with bounded memory. */
async function unpackInput(channel: Channel, stdin: ReturnType<typeof createPipe>): Promise<void> {
  const head = Buffer.alloc(PACKET_HEAD);
  let headBytes = 0;
  let missing = 0;
  for (let bytes = await channel.read(); bytes !== undefined; bytes = await channel.read()) {
    let at = 0;
    while (at < bytes.length) {
      if (headBytes < PACKET_HEAD) {
        const copied = bytes.copy(head, headBytes, at, at + PACKET_HEAD - headBytes);
        headBytes += copied;
        at += copied;
        if (headBytes < PACKET_HEAD) break;
        missing = head.readUInt32LE(1);
      }
      const piece = bytes.subarray(at, at + missing);
      at += piece.length;
      missing -= piece.length;
      if (head[0] === packetKind.stdin && piece.length > 0) await stdin.write(piece);
      if (missing > 0) break;
      if (head[0] === packetKind.closeStdin) stdin.end();
      headBytes = 0;
    }
  }
  stdin.end();
}

/** A shell that runs its input line by line. */
async function runLines(io: ShellIo, device: Device): Promise<number> {
  const state = newShellState();
  const decoder = new StringDecoder('utf8');
  let rest = '';
  for (let bytes = await io.stdin.read(); bytes !== undefined && !state.isOver; bytes = await io.stdin.read()) {
    rest += decoder.write(bytes);
    for (let end = rest.indexOf('\n'); end !== -1 && !state.isOver; end = rest.indexOf('\n')) {
      const line = rest.slice(0, end);
      rest = rest.slice(end + 1);
      // The shell consumes the input; its programs have none.
      await runScript(line, device, { ...io, stdin: noInput }, state);
    }
    if (rest.length > MAX_LINE_LENGTH) {
      await io.err(Buffer.from('/system/bin/sh: line too long\n'));
      return 1;
    }
    if (state.isOver) break;
  }
  if (rest.trim() !== '' && !state.isOver) {
    await runScript(rest, device, { ...io, stdin: noInput }, state);
  }
  return state.lastCode;
}

/** An interactive shell: prompt, echo, lines that end with carriage return and line feed. */
async function runTerminal(input: Input, device: Device, out: Output, signal: AbortSignal): Promise<number> {
  const state = newShellState();
  const show: Output = (bytes) =>
    out(Buffer.from(Buffer.from(bytes).toString('latin1').replace(/\r?\n/g, '\r\n'), 'latin1'));
  const prompt = () => out(Buffer.from(`${device.property('ro.product.device')}:${state.folder} $ `));
  await prompt();
  const decoder = new StringDecoder('utf8');
  let line = '';
  for (let bytes = await input.read(); bytes !== undefined; bytes = await input.read()) {
    for (const char of decoder.write(bytes)) {
      const code = char.charCodeAt(0);
      if (code === CTRL_D && line === '') return state.lastCode;
      if (code === CTRL_C) {
        line = '';
        await show(Buffer.from('^C\n'));
        await prompt();
      } else if (code === BACKSPACE) {
        if (line !== '') await out(Buffer.from('\b \b'));
        line = line.slice(0, -1);
      } else if (char === '\n' || code === ENTER) {
        await show(Buffer.from('\n'));
        await runScript(line, device, { stdin: noInput, out: show, err: show, signal }, state);
        if (state.isOver || signal.aborted) return state.lastCode;
        line = '';
        await prompt();
      } else if (line.length < MAX_LINE_LENGTH) {
        line += char;
        await out(Buffer.from(char));
      }
    }
  }
  return state.lastCode;
}
